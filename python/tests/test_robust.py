"""Whatever is given: an answer, or an exception that says what is wrong. Never a panic."""

import copy
import pickle
import threading

import numpy as np
import pytest

import dalembert
from dalembert import errors

OSCILLATOR = dalembert.System("param k = 1; coord x; kinetic x'^2/2; potential k*x^2/2; start x = 1")
NAN, INF = float("nan"), float("inf")


def misaligned(values: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """The same numbers at an odd place."""
    room = bytearray(values.nbytes + 1)
    room[1:] = values.tobytes()
    return np.frombuffer(room, dtype=float, offset=1)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda f: f(0, [NAN, 0], [0, 0]), "not a finite number"),
        (lambda f: f(0, [INF, 0], [0, 0]), "not a finite number"),
        (lambda f: f(0, np.array([1j, 0]), [0, 0]), "must be real"),
        (lambda f: f(0, None, [0, 0]), "must have shape"),
        (lambda f: f(0, np.ones((2, 2, 2)), np.ones((2, 2, 2))), "must have shape"),
        (lambda f: f(None, [2, 0], [0, 0]), "time of one state"),
        (lambda f: f(np.zeros(3), [2, 0], [0, 0]), "time of one state"),
        (lambda f: f(0, [2, 0], [0, 0], out=np.zeros(2, "f4")), "array of doubles"),
        (lambda f: f(0, [2, 0], [0, 0], out=[0, 0]), "array of doubles"),
        (lambda f: f(0, [2, 0], [0, 0], out=np.zeros(4)[::2]), "C order"),
        (lambda f: (lambda q: f(0, q, [0, 0], out=q))(np.array([2.0, 0])), "shares memory"),
        (lambda f: f(0, [2, 0], [0, 0], out=np.broadcast_to(0.0, 2)), "`out`"),
        (lambda f: f(0, np.ma.array([2.0, 0], mask=[True, False]), [0, 0]), "masked in part"),
        (lambda f: f(0, np.array(["2020-01-01"] * 2, "M8[D]"), [0, 0]), "must be real numbers"),
        (lambda f: f(0, ["2", "0"], [0, 0]), "must be real numbers"),
        (lambda f: f(0, [[2, 0], [0]], [0, 0]), "must be real numbers"),
        (lambda f: f(0, [2, 0], [0, 0], out=misaligned(np.zeros(2))), "not aligned"),
    ],
)
def test_functions(pendulum: dalembert.System, call, words) -> None:  # type: ignore[no-untyped-def]
    f = pendulum.function()
    with pytest.raises(dalembert.Error, match=words):
        call(f)
    # Odd kinds of numbers are numbers all the same.
    odd = [np.array([2, 0], kind) for kind in (">f8", object, "i1", "f2", "g")]
    odd += [(2, 0), misaligned(np.array([2.0, 0])), np.array([0.0, 2])[::-1], np.ma.array([2.0, 0])]
    for q in odd:
        assert np.allclose(f(0, q, [0, 0]), [0, -9.81])
    assert f(0, np.asfortranarray(np.ones((2, 5))), np.ones((5, 2)).T).shape == (2, 5)


@pytest.mark.parametrize(
    "asked, words",
    [
        (dict(t_end=NAN), "finite"),
        (dict(t_end=INF), "finite"),
        (dict(t_end=(0, 1, 2)), "two ends"),
        (dict(tol=0), "tolerance must be positive"),
        (dict(tol=NAN), "tolerance must be positive"),
        (dict(t_eval=[0, NAN]), "not in the motion"),
        (dict(t_eval=[0, 2]), "not in the motion"),
        (dict(t_eval=0.5), "one axis"),
        (dict(every=0), "positive finite"),
        (dict(every=1e-12), "the most"),
        (dict(step=-1), "positive finite"),
        (dict(max_step=0), "longest step must be positive"),
        (dict(max_step=-1), "longest step must be positive"),
        (dict(max_step=NAN), "longest step must be positive"),
        (dict(max_steps=0), "at least 1"),
        (dict(max_steps=-1), "at least 1"),
        (dict(max_steps=3), "more steps than allowed"),
        (dict(method=""), "no integrator"),
        (dict(start={"x": NAN}), "finite"),
        (dict(start={"z": 1}), "is called `z`"),
        (dict(start=[1, 0]), "a dictionary, not list"),
        (dict(parameters={"k": INF}), "finite"),
        (dict(events="low x"), "expected"),
        (dict(events=[lambda t, y: y[0]]), "`dalembert.solve_ivp` takes functions"),
        (dict(progress=3), "`progress` is a function"),
        (dict(start={"x": None}), "x must be a number, and is None"),
        (dict(t_eval=np.array([0, 0.5j])), "`t_eval` must be real numbers"),
    ],
)
def test_runs(asked: dict, words: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(dalembert.Error, match=words):
        OSCILLATOR.simulate(**{"t_end": 1, **asked})


def test_runs_that_are_odd_and_fine() -> None:
    assert len(OSCILLATOR.simulate(0)) == 1
    assert OSCILLATOR.simulate(-1).t[-1] == -1
    assert OSCILLATOR.simulate(np.array([0.0, 1.0])).t[-1] == 1
    assert OSCILLATOR.simulate(np.array(1.0)).t[-1] == 1
    assert OSCILLATOR.simulate(1, t_eval=(k / 4 for k in range(3))).t.tolist() == [0, 0.25, 0.5]
    assert OSCILLATOR.simulate(1, t_eval=[]).t.shape == (0,)
    assert OSCILLATOR.simulate(1, t_eval=[0, 0.5, 0.5]).t.tolist() == [0, 0.5]
    assert OSCILLATOR.simulate(1, t_eval=np.linspace(0, 1, 20_000), verify=False).y.shape == (2, 20_000)
    assert OSCILLATOR.simulate(1).sol([]).shape == (2, 0)
    assert OSCILLATOR.simulate(1, events="low: x = 0.9 falling").t_events[0].size == 1
    for time in (NAN, 2, [0, 5]):
        with pytest.raises(errors.ArgumentError, match="outside of the motion"):
            OSCILLATOR.simulate(1).sol(time)


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda: dalembert.System(""), errors.ModelError, "no coordinates"),
        (lambda: dalembert.System("coord x"), errors.ModelError, "no energy"),
        (lambda: dalembert.System(None), TypeError, "a model is a text"),
        (lambda: dalembert.System("coord \udc80"), ValueError, "surrogates"),
        (lambda: dalembert.System.from_file("."), OSError, "cannot read"),
        (lambda: OSCILLATOR.evaluate({"x": NAN}), errors.ArgumentError, "x must be a finite"),
        (lambda: OSCILLATOR.evaluate([INF, 0]), errors.ArgumentError, "x must be a finite"),
        (lambda: OSCILLATOR.evaluate([]), errors.ArgumentError, "a state has shape"),
        (lambda: OSCILLATOR.linearize([NAN, 0]), errors.ArgumentError, "x must be a finite"),
        (lambda: OSCILLATOR.evaluate(np.array([1j, 0])), errors.ArgumentError, "must be real numbers"),
        (lambda: OSCILLATOR.evaluate({"x": [1]}), errors.ArgumentError, "x must be a number"),
        (lambda: OSCILLATOR.sweep({"k": np.array([1j])}), errors.ArgumentError, "must be real numbers"),
        (lambda: OSCILLATOR.set(k=NAN), errors.ArgumentError, "finite"),
        (lambda: OSCILLATOR.set(k="sin("), errors.ModelError, "never closed"),
        (lambda: OSCILLATOR.function("acceleration", {"k": NAN}), errors.ArgumentError, "finite"),
        (lambda: OSCILLATOR.sweep({"k": [NAN]}), errors.ArgumentError, "finite"),
        (lambda: OSCILLATOR.sweep({"k": []}), errors.ArgumentError, "no cases"),
        (lambda: OSCILLATOR.sweep({"k": [[1]]}), errors.ArgumentError, "one axis"),
        (lambda: OSCILLATOR.sweep({"k": [1]}, t_end=NAN), errors.ArgumentError, "finite"),
        (lambda: OSCILLATOR.sweep("k = ", t_end=1), errors.ArgumentError, "expected an expression"),
        (lambda: OSCILLATOR.sweep("k = 1..2", samples=-1), errors.ArgumentError, "at least 1"),
        (lambda: OSCILLATOR.sweep("k = 1..2", samples=6 * 10**10), errors.ArgumentError, "into memory"),
        (lambda: OSCILLATOR.sweep("k = 1..2", samples=10**15), errors.ArgumentError, "number of cases"),
        (lambda: OSCILLATOR.sweep({"k": [1]}, out="x", part=0), errors.ArgumentError, "at least 1"),
        (lambda: OSCILLATOR.sweep({"k": [1]}, threads=0), errors.ArgumentError, "at least 1"),
        (lambda: dalembert.work("none", 0), errors.ArgumentError, "has no study"),
        (lambda: dalembert.Builder().param("k", INF), ValueError, "no number inf"),
    ],
)
def test_systems_and_studies(call, kind, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(kind, match=words):
        call()


def test_a_series_of_names_is_no_list() -> None:
    """The order of its names is any."""
    pandas = pytest.importorskip("pandas")
    swapped = pandas.Series({"x'": 2.0, "x": 3.0})
    assert OSCILLATOR.evaluate(swapped).state == {**OSCILLATOR.evaluate([3, 2]).state}
    found = dalembert.solve_ivp(OSCILLATOR, (0, 1), swapped)
    assert found.y[:, 0].tolist() == [3, 2]
    assert OSCILLATOR.simulate(1, start=swapped).y[:, 0].tolist() == [3, 2]
    assert OSCILLATOR.evaluate(pandas.Series([3.0, 2.0])).state["x"] == 3
    study = OSCILLATOR.sweep({"k": pandas.Series([1.0, 4.0])}, t_end=1)
    assert list(study) == study.names and "x" in study and "y" not in study


def test_threads_share_a_system(pendulum: dalembert.System) -> None:
    right = pendulum.simulate(2).y
    found: list[object] = [None] * 6

    def work(at: int) -> None:
        own = pendulum.simulate(2).y
        found[at] = (own, pendulum.evaluate().accelerations, pendulum.analyze().rank)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert all(np.array_equal(own[0], right) and own[2] == 1 for own in found)


def test_what_raises_while_a_run_goes_on_comes_out() -> None:
    def tell(done: float, of: float) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        OSCILLATOR.simulate(1e7, max_steps=10**9, progress=tell)
    with pytest.raises(LookupError, match="enough"):
        OSCILLATOR.sweep({"k": np.linspace(1, 2, 100_000)}, t_end=100, progress=tell)


def test_results_are_pickled_and_copied(pendulum: dalembert.System) -> None:
    r = pendulum.simulate(2, t_eval=[0, 1, 2], parameters={"l": 3}, start={"x": 3})
    for again in (pickle.loads(pickle.dumps(r)), copy.deepcopy(r), copy.copy(r)):
        assert np.array_equal(again.y, r.y) and again.names == r.names
        assert np.array_equal(again["multiplier(rod)"], r["multiplier(rod)"])
        assert again.report == r.report and again.nfev == r.nfev and str(again) == str(r)
        assert np.array_equal(again.sol(1.234), r.sol(1.234)), "run again, with the same numbers"
        assert np.array_equal(again.forces["rod"], r.forces["rod"])
        again.certificate.check()
    assert pickle.loads(pickle.dumps(r.certificate)) == r.certificate
    assert np.array_equal(pickle.loads(pickle.dumps(r.sol))(0.5), r.sol(0.5))
    assert pickle.loads(pickle.dumps(r(0.5)))["x"] == r(0.5)["x"]
    loose = OSCILLATOR.simulate(100, method="radau", step=0.5, verify=False)
    with pytest.raises(errors.CertificateError):
        pickle.loads(pickle.dumps(loose.certificate)).check()


def test_all_else_is_pickled_and_copied(pendulum: dalembert.System) -> None:
    f = pendulum.function("acceleration", {"l": 3.0})
    for again in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
        assert np.array_equal(again(0, [3, 0], [0, 1]), f(0, [3, 0], [0, 1]))
        assert again.name == "acceleration" and "acceleration" in repr(again)
    answer = copy.deepcopy(pendulum.evaluate())
    assert answer.results == pendulum.evaluate().results and isinstance(answer, dalembert.Answer)
    study = OSCILLATOR.sweep({"k": [1, 2]}, t_end=1)
    assert np.array_equal(pickle.loads(pickle.dumps(study)).values, study.values)
    symbol = dalembert.Builder().coord("x").dot ** 2
    assert pickle.loads(pickle.dumps(symbol)).text == symbol.text
    assert copy.copy(pendulum).text == pendulum.text


@pytest.mark.parametrize(
    "call",
    [
        lambda: dalembert.System("coord x\nkinetic m*x'^2/2"),
        lambda: dalembert.System.from_gallery("none"),
        lambda: dalembert.System("param m; coord x; kinetic m*x'^2/2").simulate(1),
        lambda: OSCILLATOR.simulate(1)["z"],
        lambda: OSCILLATOR.simulate(1, tol=0),
        lambda: OSCILLATOR.function("none"),
    ],
)
def test_exceptions_come_from_other_processes(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(dalembert.Error) as caught:
        call()
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and str(again) == str(caught.value)
    assert again.__dict__ == caught.value.__dict__


def test_all_that_is_symbolic_is_typeset(pendulum: dalembert.System) -> None:
    b = dalembert.Builder()
    x, k = b.coord("theta_1"), b.param("k", 2.5)
    b.kinetic(x.dot**2 / 2)
    b.potential(k * dalembert.cos(x) / 1e-3)
    assert x.dot._repr_latex_() == r"$\displaystyle \dot{\theta}_{1}$"
    assert r"\cos" in (k * dalembert.cos(x) ** 2 * b.t)._repr_latex_()
    assert r"\begin{align*}" in b._repr_latex_() and "coord theta_1" in repr(b)
    assert r"\begin{align*}" in pendulum._repr_latex_()
    assert r"\left[\begin{matrix}" in pendulum.to_sympy()._repr_latex_()
