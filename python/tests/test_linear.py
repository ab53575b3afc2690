"""Linear equations with inputs and outputs, as arrays that other libraries take."""

import numpy as np
import pytest
from scipy import signal

import dalembert
from dalembert import errors

M, m, l, g = 0.5, 0.2, 0.3, 9.8
CART = f"""
param M = {M}, m = {m}, l = {l}, g = {g}
coord x, th
input push = 0
particle cart: mass M, at [x, 0]
particle bob:  mass m, at [x + l*sin(th), l*cos(th)]
gravity [0, -g]
force x: push
output position = x, tilt = th
"""


@pytest.fixture
def cart() -> dalembert.System:
    return dalembert.System(CART)


def test_state_space(cart: dalembert.System) -> None:
    found = cart.linearize()
    assert found.names == ["x", "th", "x'", "th'"]
    assert (found.inputs, found.outputs) == (["push"], ["position", "tilt"])
    a, b, c, d = found.state_space
    right = np.zeros((4, 4))
    right[0, 2] = right[1, 3] = 1
    right[2, 1], right[3, 1] = -m * g / M, (M + m) * g / (M * l)
    assert np.allclose(a, right) and np.array_equal(a, found.matrices.state)
    assert np.allclose(b, [[0], [0], [1 / M], [-1 / (M * l)]])
    assert np.allclose(c, np.eye(2, 4)) and np.array_equal(d, np.zeros((2, 1)))
    assert found.control.controllable is True and found.control.observable is True
    poles = np.sort(found.control.poles.real)
    assert np.allclose(poles, np.sort(np.linalg.eigvals(a).real), atol=1e-6)
    # What SciPy makes of it: the transfer function of the tilt has the zeros and gain told.
    plant = signal.StateSpace(*found.state_space)
    tilt = signal.StateSpace(plant.A, plant.B, plant.C[1:], plant.D[1:])
    channel = next(ch for ch in found.control.channels if ch.output == "tilt")
    s = 1.5 + 0.7j
    value = (tilt.C @ np.linalg.solve(s * np.eye(4) - tilt.A, tilt.B))[0, 0]
    told = channel.gain * np.prod(s - channel.zeros) / np.prod(s - found.control.poles)
    assert value == pytest.approx(told, rel=1e-9)


def test_a_controller_designed_on_it_holds_the_motion(cart: dalembert.System) -> None:
    a, b, _, _ = cart.linearize().state_space
    gain = signal.place_poles(a, b, [-2, -3, -4, -5]).gain_matrix[0]
    law = " + ".join(f"({k!r})*{name}" for k, name in zip(gain.tolist(), ["x", "th", "x'", "th'"]))
    closed = dalembert.System(CART.replace("force x: push", f"force x: push - ({law})"))
    assert np.allclose(np.sort(closed.linearize().eigenvalues.real), [-5, -4, -3, -2], atol=1e-5)
    held = closed.simulate(8, start={"th": 0.1})
    assert np.abs(held.y[:, -1]).max() < 1e-3


def test_any_state_along_a_run_and_over_a_period(cart: dalembert.System) -> None:
    here = cart.linearize({"th": 0.4, "th'": 1}, here=True)
    assert here.kind == "state" and here.A.shape == (4, 4)
    # Differences of the rates say the same.
    f, y = cart.function(), np.array([0, 0.4, 0, 1.0])
    slopes = [(f(0, y + 1e-6 * e) - f(0, y - 1e-6 * e)) / 2e-6 for e in np.eye(4)]
    assert np.allclose(here.A, np.transpose(slopes), atol=1e-6)
    along = cart.set(th=0.1).linearize(along=[0, 0.1, 0.2])
    assert [point.t for point in along.points] == [0, 0.1, 0.2]
    assert all(point.B.shape == (4, 1) for point in along.points)
    # Mathieu's equation, stable and not: |μ| = 1, and a pair μ, 1/μ.
    swing = dalembert.System(
        "param a = 2, q = 0.1; coord x; kinetic x'^2/2; potential (a - 2*q*cos(2*t))*x^2/2"
    )
    calm = swing.linearize(period=np.pi)
    assert np.allclose(np.abs(calm.multipliers), 1) and calm.monodromy.shape == (2, 2)
    wild = swing.set(a=1, q=0.5).linearize(period=np.pi)
    assert wild.stability == "unstable" and np.prod(wild.multipliers) == pytest.approx(1)


def test_all_equilibria_of_a_box(cart: dalembert.System) -> None:
    hill = dalembert.System("coord x; kinetic x'^2/2; potential x^4/4 - x^2/2; force x: -x'/2")
    found = hill.linearize(within={"x": (-2, 2)})
    places = sorted(one.state["x"] for one in found.equilibria)
    assert places == pytest.approx([-1, 0, 1], abs=1e-9)
    assert {one.stability for one in found.equilibria} == {"asymptotically stable", "unstable"}
    for wrong, words in [
        (dict(within={"y": (0, 1)}), "no coordinate or state"),
        (dict(within={"x": (1, 0)}), "the lower one"),
        (dict(within={"x": (0, float("inf"))}), "finite"),
        (dict(period=-1.0), "a positive number"),
        (dict(here=True, period=1.0), "one at a time"),
        (dict(within={"x": (0, 1)}, guesses=0), "at least 1"),
    ]:
        with pytest.raises(errors.ArgumentError, match=words):
            hill.linearize(**wrong)


def test_inputs_and_symbols(cart: dalembert.System) -> None:
    formulas = cart.linearize(symbolic=True).symbols
    values = dict(M=M, m=m, l=l, g=g)
    number = lambda text: eval(text.replace("^", "**"), {}, values)
    for letter in "ABCD":
        by_formula = [[number(entry) for entry in row] for row in formulas[letter]]
        assert np.allclose(by_formula, cart.linearize().matrices[letter])
    # What an input is when the equations are made shifts the state: a spring that is pulled.
    spring = dalembert.System("input F; coord x; kinetic x'^2/2; potential 2*x^2; force x: F")
    assert spring.linearize(inputs={"F": 3}).state["x"] == pytest.approx(0.75)
    alone = dalembert.System("coord x; kinetic x'^2/2; potential x^2/2").linearize()
    a, b, c, d = alone.state_space
    assert [x.shape for x in (a, b, c, d)] == [(2, 2), (2, 0), (0, 2), (0, 0)]
