"""What every test may use."""

import pytest

import dalembert

PENDULUM = """
param m = 1, g = 9.81, l = 2
coord x, y
kinetic m/2*(x'^2 + y'^2)
potential m*g*y
constraint rod: x^2 + y^2 = l^2
start x = 2
"""


@pytest.fixture
def pendulum() -> dalembert.System:
    return dalembert.System(PENDULUM)
