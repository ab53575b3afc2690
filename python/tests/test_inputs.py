"""Inputs from Python: formulas, numbers, samples, functions."""

import gc
import pickle
import signal
import threading
import weakref

import numpy as np
import pytest

import dalembert
from dalembert import errors

CART = """
param k = 3
input F, u[1..2] = 0
coord x, y
kinetic (x'^2 + y'^2)/2
potential k*x^2/2
force x: F + u[1]
force y: u[2]
output place = x + y
start x = 0.2
"""


@pytest.fixture
def cart() -> dalembert.System:
    return dalembert.System(CART)


def test_they_have_names(cart: dalembert.System) -> None:
    assert cart.inputs == {"F": None, "u[1]": "0", "u[2]": "0"}
    assert (cart.outputs, cart.states) == (["place"], [])
    driven = cart.with_inputs({"u[2]": 2}, F="sin(t)")
    assert driven.inputs == {"F": "sin(t)", "u[1]": "0", "u[2]": "2"}
    assert driven.with_inputs(F=1).inputs["F"] == "1" and cart.inputs["F"] is None


def test_all_ways_to_give_one_agree(cart: dalembert.System) -> None:
    t = np.linspace(0, 3, 1501)
    expected = cart.simulate(3, inputs={"F": "cos(2*t)"}, tol=1e-11)
    ways = {
        "function": (lambda t: np.cos(2 * t), 1e-8),
        "with derivatives": ((lambda t: np.cos(2 * t), lambda t: -2 * np.sin(2 * t)), 1e-8),
        "cubic": ((t, np.cos(2 * t), "cubic"), 1e-8),
        "lines": ((t, np.cos(2 * t)), 1e-5),
        "list": ([list(t), list(np.cos(2 * t))], 1e-5),
    }
    for name, (way, within) in ways.items():
        found = cart.simulate(3, inputs={"F": way}, tol=1e-11)
        assert np.abs(found.y - expected.y).max() < within, name
        assert np.allclose(found["place"], found["x"] + found["y"])
        assert found.certificate.holds
    assert cart.simulate(1, inputs={"F": np.float64(0)}).nfev > 0


@pytest.mark.parametrize("method", ["dop853", "radau", "auto"])
@pytest.mark.parametrize("formulation", ["lagrange", "hamilton", "maggi"])
def test_functions_by_every_method(cart: dalembert.System, method: str, formulation: str) -> None:
    asked = dict(tol=1e-10, method=method, formulation=formulation)
    found = cart.simulate(2, inputs={"F": lambda t: np.exp(-t)}, **asked)
    right = cart.simulate(2, inputs={"F": "exp(-t)"}, tol=1e-11)
    assert np.abs(found.y - right.y).max() < 1e-7
    with pytest.raises(errors.RunError, match="that a program gives"):
        cart.simulate(2, inputs={"F": np.exp}, method="taylor")


def test_at_states_and_for_other_solvers(cart: dalembert.System) -> None:
    inputs = {"F": lambda t: 5 + t}
    assert cart.evaluate({"x": 1, "t": 2}, inputs=inputs).accelerations["x"] == 4
    f = cart.function(inputs=inputs)
    assert f(2.0, [1, 0], [0, 0]).tolist() == [4, 0]
    assert f(np.arange(3.0), np.zeros((2, 3)), np.zeros((2, 3)))[0].tolist() == [5, 6, 7]
    still = cart.linearize({"x": 1}, inputs={"F": 3})
    assert still.state["x"] == pytest.approx(1)


def test_constraints_need_derivatives() -> None:
    lift = dalembert.System("input h; coord y; kinetic y'^2/2; constraint c: y = h")
    with pytest.raises(errors.ModelError, match="comes without derivatives") as caught:
        lift.simulate(1, inputs={"h": np.sin})
    assert caught.value.code == "input-derivative"
    found = lift.simulate(1, inputs={"h": (np.sin, np.cos, lambda t: -np.sin(t))})
    assert np.allclose(found["multiplier(c)"], -np.sin(found.t), atol=1e-9)


def test_what_a_function_raises_comes_out(cart: dalembert.System) -> None:
    def broken(t: float) -> float:
        raise LookupError(f"nothing at {t}")

    driven = cart.with_inputs(F=broken)
    for call in (
        lambda: driven.simulate(1),
        lambda: driven.evaluate(),
        lambda: driven.function()(0, [0, 0], [0, 0]),
    ):
        with pytest.raises(LookupError, match="nothing at 0"):
            call()
    with pytest.raises(TypeError):
        cart.simulate(1, inputs={"F": lambda t: "much"})
    with pytest.raises(dalembert.Error):
        cart.simulate(1, inputs={"F": lambda t: float("nan")})

    # One that ends later ends the run there; what comes after is not hurt by it.
    def ends(t: float) -> float:
        if t > 0.5:
            raise LookupError("no more")
        return 1.0

    with pytest.raises(LookupError, match="no more"):
        cart.simulate(1, inputs={"F": ends})
    assert cart.with_inputs(F=ends).simulate(0.25).t[-1] == 0.25


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
def test_ctrl_c_inside_of_a_function(cart: dalembert.System) -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread")
    calls = 0

    def pressed(t: float) -> float:
        nonlocal calls
        calls += 1
        if calls == 500:
            raise KeyboardInterrupt
        return float(np.sin(t))

    with pytest.raises(KeyboardInterrupt):
        cart.simulate(1e4, inputs={"F": pressed}, max_steps=10**8)
    assert calls < 100_000


def test_what_is_no_input_is_said(cart: dalembert.System) -> None:
    with pytest.raises(errors.UnknownNameError, match="no input is called `G`; there are F") as caught:
        cart.with_inputs(G=1)
    assert caught.value.known == ["F", "u[1]", "u[2]"]
    with pytest.raises(errors.UnknownNameError, match="the model has no `input`"):
        dalembert.System("coord x; kinetic x'^2").simulate(1, inputs={"F": 1})
    for wrong, words in [
        (None, "is a formula, a number, a function"),
        (float("nan"), "must be finite"),
        (([0, 1], [1, 2, 3]), "have shapes"),
        (([0, 0], [1, 2]), "at times that rise"),
        (([0], [1]), "two or more"),
        (([0, 1], [1, float("inf")]), "are finite"),
        (([0, 1], [1, 2], "smooth"), "no option `smooth`"),
    ]:
        with pytest.raises(errors.ArgumentError, match=words):
            cart.with_inputs(F=wrong)
    with pytest.raises(errors.ModelError) as told:
        cart.with_inputs(F="x")
    assert told.value.code == "input-moves"
    with pytest.raises(errors.MissingValueError, match="`F` has no value"):
        cart.simulate(1)


def test_they_go_to_other_processes(cart: dalembert.System) -> None:
    driven = cart.with_inputs({"F": np.cos, "u[1]": ([0, 1], [0, 1]), "u[2]": "t"})
    again = pickle.loads(pickle.dumps(driven))
    assert np.array_equal(again.simulate(1).y, driven.simulate(1).y)
    f = pickle.loads(pickle.dumps(driven.function()))
    assert np.array_equal(f(0.5, [1, 0], [0, 0]), driven.function()(0.5, [1, 0], [0, 0]))
    r = driven.simulate(1)
    assert np.array_equal(pickle.loads(pickle.dumps(r)).sol(0.3), r.sol(0.3))


def test_studies_take_what_is_text(cart: dalembert.System) -> None:
    study = cart.sweep({"k": [1, 4]}, t_end=1, observe=["x"], inputs={"F": "sin(t)"})
    ends = [cart.set(k=k).simulate(1, inputs={"F": "sin(t)"})["x"][-1] for k in (1, 4)]
    assert study["x"] == pytest.approx(ends, abs=1e-7)
    sampled = cart.sweep({"k": [1]}, t_end=1, observe=["x"], inputs={"F": ([0, 1], [0, 1])})
    assert sampled["x"][0] == pytest.approx(
        cart.set(k=1).simulate(1, inputs={"F": "t"})["x"][-1], abs=1e-7
    )
    with pytest.raises(errors.ArgumentError, match="which a study cannot keep"):
        cart.sweep({"k": [1]}, t_end=1, inputs={"F": np.sin})


def test_threads_have_functions(cart: dalembert.System) -> None:
    driven = cart.with_inputs(F=lambda t: np.sin(t))
    right, found = driven.simulate(1).y, []
    threads = [threading.Thread(target=lambda: found.append(driven.simulate(1).y)) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(found) == 4 and all(np.array_equal(y, right) for y in found)


def test_states_are_where_they_belong() -> None:
    """A model with states: in functions, dense output, and SciPy's order of y."""
    from scipy.integrate import solve_ivp

    pid = dalembert.System(
        "input r = 1; coord x; state z' = r - x; kinetic x'^2/2; force x: 20*(r - x) + 8*z - 6*x'"
    )
    assert pid.state_names == ["x", "z", "x'"]
    f, motion = pid.function(), pid.simulate(2, tol=1e-11)
    assert f(0, [0, 0, 0]).tolist() == [0, 1, 20] and f(0, [0, 0], [0]).tolist() == [20]
    assert f(0, np.zeros((3, 4))).shape == (3, 4) and f.places == 2
    theirs = solve_ivp(f, (0, 2), np.zeros(3), rtol=1e-11, atol=1e-12, method="DOP853")
    assert np.allclose(theirs.y[:, -1], motion.y[:, -1], atol=1e-9)
    assert set(motion(1.0)) == {"x", "z", "x'"}
    with pytest.raises(errors.ArgumentError, match=r"\(3,\)"):
        f(0, [0, 0])
    with pytest.raises(errors.ArgumentError, match="states behind the positions"):
        f(0, [0], [0])


def test_a_function_may_refer_to_the_system_it_drives(cart: dalembert.System) -> None:
    """Python's collector of garbage sees through the model, and functions live as long as what
    calls them."""

    class Controller:
        calls = 0

        def __call__(self, t: float) -> float:
            self.calls += 1
            return t

    controller = Controller()
    controller.system = system = cart.with_inputs({"F": controller})
    controller.answer = system.simulate(0.1, every=0.1, verify=False)
    controller.rates = system.function("acceleration")
    seen, rates = weakref.ref(controller), controller.rates
    del controller, system
    gc.collect()
    controller = seen()
    assert controller is not None, "its rates still call it"
    calls = controller.calls
    rates(0.0, np.zeros(2), np.zeros(2))
    assert controller.calls > calls
    del controller, rates
    gc.collect()
    assert seen() is None
