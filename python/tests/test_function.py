"""Functions for other solvers."""

import threading

import numpy as np
import pytest

import dalembert
from dalembert import errors


def test_one_state(pendulum: dalembert.System) -> None:
    f = pendulum.function("acceleration")
    q, v = np.array([2.0, 0.0]), np.array([0.0, 1.0])
    right = np.array([-0.5, -9.81])
    assert np.allclose(f(0, q, v), right)
    assert np.allclose(f(0, [2, 0], [0, 1]), right)
    assert np.allclose(f(0, np.array([2, 0], dtype="f4"), v), right)
    assert np.allclose(f(0, np.array([2.0, 9, 0, 9])[::2], v), right)
    assert np.allclose(f(0, np.concatenate([q, v])), [0, 1, -0.5, -9.81])
    out = np.empty(2)
    assert f(0, q, v, out=out) is out and np.allclose(out, right)
    rates = np.empty(4)
    assert f(0, np.concatenate([q, v]), out=rates) is rates
    assert np.allclose(rates, [0, 1, -0.5, -9.81])
    assert f.size == 2


def test_many_states_are_columns(pendulum: dalembert.System) -> None:
    random = np.random.default_rng(1)
    q, v = random.normal(size=(2, 2, 300))
    f = pendulum.function("acceleration")
    each = np.stack([f(0, q[:, k], v[:, k]) for k in range(300)], axis=1)
    assert np.array_equal(f(0, q, v), each)
    assert np.array_equal(f(np.zeros(300), np.asfortranarray(q), v), each)
    assert np.array_equal(f(0, np.concatenate([q, v])), np.concatenate([v, each]))
    out = np.empty((2, 300))
    assert f(0, q, v, out=out) is out and np.array_equal(out, each)
    assert f(0, q[:, :0], v[:, :0]).shape == (2, 0)


def test_terms(pendulum: dalembert.System) -> None:
    q, v = [1.2, 1.6], [0.8, -0.6]
    term = {name: pendulum.function(name)(0, q, v) for name in ("mass", "force", "jacobian", "bias")}
    assert np.array_equal(term["mass"], np.eye(2))
    assert np.allclose(term["force"], [0, -9.81])
    assert np.allclose(term["jacobian"], [[2.4, 3.2]])
    assert np.allclose(term["bias"], [-2])
    a = pendulum.function("acceleration")(0, q, v)
    assert np.allclose(term["jacobian"] @ a, term["bias"])
    many = pendulum.function("jacobian")(0, np.ones((2, 5)), np.ones((2, 5)))
    assert many.shape == (1, 2, 5) and np.allclose(many, 2)


def test_time_and_parameters() -> None:
    system = dalembert.System("param k = 1; coord x; kinetic x'^2/2; force x: k*t")
    f = system.function("acceleration", {"k": 3})
    assert f(2.0, [0.0], [0.0]) == 6 and system.function()(2, [0.0], [0.0]) == 2
    assert np.array_equal(f([1, 2], np.zeros((1, 2)), np.zeros((1, 2))), [[3, 6]])
    with pytest.raises(KeyError, match="no parameter is called `c`"):
        system.function("acceleration", {"c": 1})


def test_what_does_not_fit_is_said(pendulum: dalembert.System) -> None:
    f = pendulum.function("acceleration")
    with pytest.raises(errors.ArgumentError, match=r"q and v must have shape \(2,\)"):
        f(0, [1.0], [1.0])
    with pytest.raises(errors.ArgumentError, match=r"y = \(q, v\) must have shape \(4,\)"):
        f(0, [1.0, 2.0])
    with pytest.raises(errors.ArgumentError, match="`out` must have shape"):
        f(0, [2.0, 0], [0.0, 0], out=np.empty(3))
    with pytest.raises(errors.ArgumentError, match="2 states and 3 times"):
        f([0, 1, 2], np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(errors.ArgumentError, match="no function is called `speed`"):
        pendulum.function("speed")
    with pytest.raises(errors.NoMotionError):
        f(0, [0.0, 0.0], [1.0, 0.0])
    # And the next call is as if nothing had been.
    assert np.allclose(f(0, [2.0, 0], [0.0, 0]), [0, -9.81])


def test_threads_share_a_function(pendulum: dalembert.System) -> None:
    f = pendulum.function("acceleration")
    random = np.random.default_rng(2)
    jobs = [random.normal(size=(2, 2, 500)) for _ in range(8)]
    right = [f(0, q, v) for q, v in jobs]
    found: list[object] = [None] * len(jobs)

    def work(at: int) -> None:
        found[at] = f(0, *jobs[at])

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(jobs))]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert all(np.array_equal(a, b) for a, b in zip(found, right))
