"""Code that was written for `scipy.integrate.solve_ivp` goes on."""

import pickle

import numpy as np
import pytest
from scipy import integrate

import dalembert
from dalembert import errors

OSCILLATOR = dalembert.System("param k = 1; coord x; kinetic x'^2/2; potential k*x^2/2")


def low(t: float, y: np.ndarray) -> float:  # type: ignore[type-arg]
    return y[0] + 0.5


def fast(t: float, y: np.ndarray) -> float:  # type: ignore[type-arg]
    return y[1] - 0.25


@pytest.mark.parametrize("method", [None, "RK45", "DOP853", "Radau", "LSODA", "taylor"])
def test_the_same_call_has_the_same_result(method: str | None) -> None:
    f = OSCILLATOR.function()
    asked = dict(t_eval=np.linspace(0, 5, 11), rtol=1e-9, atol=1e-11, dense_output=True, events=[low, fast])
    theirs = integrate.solve_ivp(f, (0, 5), [1.0, 0.0], method="DOP853", **asked)
    ours = dalembert.solve_ivp(OSCILLATOR, (0, 5), [1.0, 0.0], method=method, **asked)
    assert ours.t.tolist() == theirs.t.tolist() and ours.y.shape == theirs.y.shape
    assert np.allclose(ours.y, theirs.y, atol=1e-7) and np.allclose(ours.sol(1.3), theirs.sol(1.3), atol=1e-7)
    assert (ours.status, ours.success) == (theirs.status, theirs.success) == (0, True)
    for a, b in zip(ours.t_events, theirs.t_events, strict=True):
        assert a.shape == b.shape and np.allclose(a, b, atol=1e-7)
    for a, b in zip(ours.y_events, theirs.y_events, strict=True):
        assert a.shape == b.shape and np.allclose(a, b, atol=1e-6)
    by_function = dalembert.solve_ivp(f, (0, 5), [1.0, 0.0], rtol=1e-9)
    assert np.allclose(by_function.y[:, -1], ours.y[:, -1], atol=1e-7)


@pytest.mark.parametrize("span", [(0, 5), (0, -5)])
def test_directions_and_ends(span: tuple[float, float]) -> None:
    def falling(t: float, y: np.ndarray) -> float:  # type: ignore[type-arg]
        return y[0]

    def second(t: float, y: np.ndarray) -> float:  # type: ignore[type-arg]
        return y[0]

    falling.direction = -1  # type: ignore[attr-defined]
    second.terminal = 2  # type: ignore[attr-defined]
    asked = dict(events=[falling, second], rtol=1e-10, atol=1e-12)
    theirs = integrate.solve_ivp(OSCILLATOR.function(), span, [1.0, 0.0], **asked)
    ours = dalembert.solve_ivp(OSCILLATOR, span, [1.0, 0.0], **asked)
    assert ours.status == theirs.status == 1 and ours.message == "an event is its end"
    assert ours.t[-1] == pytest.approx(theirs.t[-1], abs=1e-6)
    for a, b in zip(ours.t_events, theirs.t_events, strict=True):
        assert a.shape == b.shape and np.allclose(a, b, atol=1e-6)
    again = pickle.loads(pickle.dumps(ours))
    assert again.status == 1 and np.array_equal(again.t_events[0], ours.t_events[0])
    assert ours.certificate.holds


def test_constraints_and_words(pendulum: dalembert.System) -> None:
    hits = dalembert.solve_ivp(pendulum, [0, 2], [2, 0, 0, 0], events="low: x = 0 falling", max_step=0.1)
    assert hits.t_events[0][0] == pytest.approx(0.837159, abs=1e-5) and hits.report["method"]
    assert np.abs(hits["x"] ** 2 + hits["y"] ** 2 - 4).max() < 1e-8
    stop = dalembert.solve_ivp(pendulum, [0, 2], events=["low: x = 0 falling -> stop"])
    assert stop.status == 1
    longer = dalembert.solve_ivp(pendulum, [0, 1], [3, 0, 0, 0], parameters={"l": 3})
    assert longer.y[0, 0] == 3


def test_an_event_before_the_motion_cannot_go_on() -> None:
    fall = dalembert.System("coord r; kinetic r'^2/2; potential -1/r; start r = 1")
    near = lambda t, y: y[0] - 0.1
    near.terminal = True
    found = dalembert.solve_ivp(fall, (0, 2), events=near)
    # From rest at 1: (√(r(1 − r)) + arccos √r)/√2.
    exact = (np.sqrt(0.09) + np.arccos(np.sqrt(0.1))) / np.sqrt(2)
    assert found.status == 1 and found.t[-1] == pytest.approx(exact, abs=1e-8)
    near.terminal = False
    with pytest.raises(dalembert.errors.RunError):
        dalembert.solve_ivp(fall, (0, 2), events=near)


def test_names_of_a_result() -> None:
    found = OSCILLATOR.simulate(1)
    assert "x" in found and "energy" in found and "nothing" not in found and 3 not in found
    assert list(found) == found.names


@pytest.mark.parametrize(
    "asked, words",
    [
        (dict(args=(1,)), "`args` have no names"),
        (dict(t_span=(0, 1, 2)), "two ends"),
        (dict(y0=[1, 0, 0]), "`y0` has shape"),
        (dict(y0=[1, np.nan]), "finite"),
        (dict(tol=1), "no option `tol`"),
        (dict(method="Euler"), "no integrator"),
        (dict(events=3), "not iterable|an event is"),
        (dict(events=[3]), "an event is a function"),
        (dict(fun=np.sin), "takes any function"),
        (dict(fun=OSCILLATOR.function("mass")), "takes any function"),
        (dict(max_step=-1.0), "longest step must be positive"),
        (dict(t_eval=[0.5, 0.2]), "follow each other"),
        (dict(t_eval=[0.5, 0.5]), "follow each other"),
        (dict(t_eval=[0.5, 2]), "outside of the span"),
        (dict(t_span=(1, 0), t_eval=[0.2, 0.5]), "follow each other"),
        (dict(rtol=-1e-6), "`rtol` is a positive number"),
        (dict(y0=[1, 1j]), "`y0` must be real numbers"),
    ],
)
def test_what_is_not_taken_is_said(asked: dict, words: str) -> None:  # type: ignore[type-arg]
    call = {"fun": OSCILLATOR, "t_span": (0, 1), "y0": [1, 0], **asked}
    with pytest.raises((dalembert.Error, TypeError), match=words):
        dalembert.solve_ivp(**call)
    # These have nothing to say here.
    needless = dict(vectorized=True, jac=None, first_step=0.1, min_step=0, lband=None, uband=None)
    assert dalembert.solve_ivp(OSCILLATOR, (0, 1), [1, 0], max_step=np.inf, atol=0, **needless).success
