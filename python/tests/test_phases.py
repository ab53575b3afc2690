"""One state where contacts and friction have phases."""

import numpy as np
import pytest

import dalembert
from dalembert import errors

WHEEL = """
param m = 2, r = 0.5, J = 0.3, k = 7, mu = 0.4, g = 9.81
gravity [0, -g]
body w: mass m, inertia J, free
contact floor: ground normal [0, 1], w radius r, friction mu
spring k at w.r[1]
start w.r = [0.1, r]
"""


def test_a_state_has_the_numbers_of_its_phase() -> None:
    wheel = dalembert.System(WHEEL)
    here = wheel.evaluate()
    assert here.phase == {"floor": "sticks"}
    assert np.isclose(here.results[0]["accelerations"]["w.r[1]"], -0.7 / 3.2)
    slides = wheel.evaluate({"w.r[2]": 0.5, "w.r[1]'": 1.0})
    assert slides.phase == {"floor": "slips"}
    assert wheel.analyze().degrees_of_freedom == 1
    assert wheel.linearize().phase == {"floor": "sticks"}


def test_functions_follow_the_phase() -> None:
    f = dalembert.System(WHEEL).function("acceleration")
    assert np.isclose(f(0, [0.1, 0.5, 0], [0, 0, 0])[0], -0.7 / 3.2)
    assert np.isclose(f(0, [0.1, 0.9, 0], [0, 0, 0])[1], -9.81)
    many = f(0, np.array([[0.1, 0.1], [0.5, 0.9], [0, 0]]), np.zeros((3, 2)))
    assert np.allclose(many[:, 1], [-0.35, -9.81, 0])
    with pytest.raises(errors.NoMotionError, match="struck"):
        f(0, [0.1, 0.5, 0], [0, -1, 0])
    with pytest.raises(ValueError, match="rows in each phase"):
        dalembert.System(WHEEL).function("jacobian")
