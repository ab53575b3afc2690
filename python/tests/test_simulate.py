"""Runs: arrays by name, SciPy's surface, certificates, interruption."""

import _thread
import json
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert
from dalembert import errors

OSCILLATOR = "param k = 1; coord x; kinetic x'^2/2; potential k*x^2/2; start x = 1"
BALL = """
coord y
kinetic y'^2/2
potential 9.81*y
start y = 1
event bounce: y = 0 falling -> y' = -0.5*y'
"""


def test_columns_by_name(pendulum: dalembert.System) -> None:
    r = pendulum.simulate(10, tol=1e-10)
    assert np.allclose(r["x"] ** 2 + r["y"] ** 2, 4, atol=1e-9)
    assert np.array_equal(r.y, [r["x"], r["y"], r["x'"], r["y'"]])
    assert np.allclose(r.energy, r["energy"][0], atol=1e-8)
    assert np.array_equal(r["t"], r.t) and len(r) == len(r.t) == 1001
    # M q̈ = Q + Qᶜ.
    assert np.allclose(r["y''"], -9.81 + r["reaction(y)"])
    assert np.allclose(r["multiplier(rod)"], -3 * 9.81 * r["y"] / -8, atol=1e-7)
    force = r.forces["rod"]
    assert np.allclose(force, [r["reaction(x)"], r["reaction(y)"]])
    assert list(r.forces) == ["rod"]
    with pytest.raises(KeyError, match="no quantity is called `z`") as caught:
        r["z"]
    assert isinstance(caught.value, errors.UnknownNameError) and "x" in caught.value.known
    with pytest.raises(KeyError, match="nothing is called `string`"):
        r.forces["string"]


def test_scipys_surface() -> None:
    system = dalembert.System(OSCILLATOR)
    times = np.linspace(0, 5, 11)
    ours = system.simulate(5, t_eval=times, tol=1e-10)
    f = system.function("acceleration")
    theirs = solve_ivp(f, (0, 5), [1.0, 0.0], t_eval=times, rtol=1e-10, atol=1e-10, dense_output=True)
    assert np.array_equal(ours.t, theirs.t)
    assert np.allclose(ours.y, theirs.y, atol=1e-7)
    assert (ours.status, ours.success) == (theirs.status, theirs.success) == (0, True)
    assert ours.message and ours.nfev > 0 and ours.t_events == []
    dense = np.linspace(0, 5, 7)
    assert ours.sol(dense).shape == theirs.sol(dense).shape
    assert np.allclose(ours.sol(dense), theirs.sol(dense), atol=1e-7)
    assert ours.sol(1.0).shape == theirs.sol(1.0).shape == (2,)
    assert (ours.sol.t_min, ours.sol.t_max) == (0, 5)


def test_states_between_samples() -> None:
    r = dalembert.System(OSCILLATOR).simulate((0.0, 3.0), tol=1e-11)
    times = np.array([[0.1, 0.2], [0.3, 2.9]])
    moment = r(times)
    assert moment["x"].shape == (2, 2) and np.allclose(moment["x"], np.cos(times), atol=1e-9)
    assert list(moment) == ["x", "x'"] and np.asarray(moment).shape == (2, 2, 2)
    with pytest.raises(ValueError, match="outside of the motion"):
        r(4.0)
    with pytest.raises(errors.ArgumentError, match="was not kept"):
        dalembert.System(OSCILLATOR).simulate(1, dense=False)(0.5)


def test_times_in_any_order_and_outside() -> None:
    system = dalembert.System(OSCILLATOR)
    assert np.array_equal(system.simulate(2, t_eval=[1.5, 0.5]).t, [0.5, 1.5])
    with pytest.raises(ValueError):
        system.simulate(2, t_eval=[1.0, 3.0])
    with pytest.raises(ValueError, match="one axis"):
        system.simulate(2, t_eval=[[1.0]])


def test_other_numbers_and_another_start() -> None:
    system = dalembert.System(OSCILLATOR)
    r = system.simulate(1, parameters={"k": 4}, start={"x": 2, "x'": 0}, tol=1e-11)
    assert np.allclose(r["x"], 2 * np.cos(2 * r.t), atol=1e-9)
    with pytest.raises(KeyError, match="no parameter is called `q`"):
        system.simulate(1, parameters={"q": 4})
    with pytest.raises(ValueError, match="finite"):
        system.simulate(1, parameters={"k": float("nan")})
    with pytest.raises(dalembert.Error, match="newton"):
        system.simulate(1, method="newton")
    with pytest.raises(ValueError, match="no stabilization is called `glue`"):
        system.simulate(1, stabilize="glue")


def test_forces_go_by_the_numbers_of_the_run(pendulum: dalembert.System) -> None:
    r = pendulum.simulate(1, parameters={"l": 3}, start={"x": 3})
    assert np.allclose(r.forces["rod"], [r["reaction(x)"], r["reaction(y)"]])


def test_backwards_in_time() -> None:
    r = dalembert.System(OSCILLATOR).simulate((0.0, -1.0), tol=1e-10)
    assert r.t[-1] == -1 and np.allclose(r["x"], np.cos(r.t), atol=1e-8)


def test_events() -> None:
    system = dalembert.System(BALL)
    r = system.simulate(1)
    first = np.sqrt(2 / 9.81)
    assert r.t_events[0][0] == pytest.approx(first) and r.events[0].action == "reset"
    assert system.simulate(1, events=False).t_events[0].size == 0
    stopped = dalembert.System(OSCILLATOR).simulate(10, events=["zero: x = 0 falling -> stop"])
    assert stopped.status == 1 and stopped.success and "zero" in stopped.message
    assert stopped.t[-1] == pytest.approx(np.pi / 2)
    with pytest.raises(errors.ModelError, match="event zero: w = 0"):
        dalembert.System(OSCILLATOR).simulate(1, events=["zero: w = 0"])


def test_the_certificate(pendulum: dalembert.System) -> None:
    r = pendulum.simulate(5)
    assert r.certificate.holds and r.certificate.gauss < 1e-12
    r.certificate.check()
    assert r.error is not None and r.error.relative < r.error.bound
    assert pendulum.simulate(1, verify=False).error is None
    assert "verdict: pass" in str(r)
    # Energy is not kept by such long steps of a method that damps.
    loose = dalembert.System(OSCILLATOR).simulate(100, method="radau", step=0.5, verify=False)
    assert not loose.certificate.holds
    with pytest.raises(errors.CertificateError) as caught:
        loose.certificate.check()
    assert caught.value.failed


def test_a_run_that_cannot_go_on() -> None:
    falls = dalembert.System("coord x; kinetic x'^2/2; potential -1/x; start x = 1")
    with pytest.raises(errors.RunError) as caught:
        falls.simulate(10)
    assert "potential -1/x" in str(caught.value)
    partial = falls.simulate(10, partial=True)
    assert partial.status == -1 and not partial.success and not partial.certificate.holds
    assert 1 < partial.t[-1] < 1.2


def test_other_formulations(pendulum: dalembert.System) -> None:
    r = pendulum.simulate(2, formulation="hamilton", method="dop853")
    assert "p_x" in r.names and np.allclose(r["p_x"], r["x'"])
    assert r.report.formulation == "hamilton" and r.report.method == "dop853"


def test_tables(pendulum: dalembert.System) -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    r = pendulum.simulate(1)
    frame = r.to_pandas()
    assert list(frame.columns) == r.names and np.array_equal(frame["x"], r["x"])
    table = r.to_arrow()
    place = table.column("x").chunk(0).buffers()[1].address
    assert place == r["x"].ctypes.data, "taken over without a copy"
    assert pyarrow.table(r).equals(table)
    assert isinstance(frame, pandas.DataFrame)


def test_the_page(pendulum: dalembert.System, tmp_path: Path) -> None:
    r = pendulum.simulate(2, parameters={"l": 3}, start={"x": 3})
    text = r.page(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == text
    found = re.search(r'<script type="application/json" id="page">(.*?)</script>', text, re.S)
    assert found
    data = json.loads(found[1])
    names = [column["name"] for column in data["columns"]]
    assert data["run"]["values"][names.index("x")][0] == 3 and data["run"]["t"][-1] == 2
    assert data["certificate"]["verdict"] == "pass" and "code" in data["live"]
    shown = r._repr_html_()
    assert shown.startswith("<iframe") and shown.count('"') == 4, "nothing in it ends it"


def test_ctrl_c_ends_a_run(pendulum: dalembert.System) -> None:
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.5, _thread.interrupt_main).start()
        pendulum.simulate(1e7, max_steps=10**9)  # It would take an hour.


#: Pendulums on each other, of which some things take minutes; and how many.
LONG = """
param g = 9.81
coord th[1..N]
kinetic sum(i in 1..N, (sum(j in 1..i, cos(th[j])*th[j]')^2 + sum(j in 1..i, sin(th[j])*th[j]')^2)/2)
potential -g*sum(i in 1..N, sum(j in 1..i, cos(th[j])))
constraint c: sum(j in 1..N, sin(th[j])) = 0
start th[1] = 0.1
"""


@pytest.mark.parametrize(
    "count, work",
    [
        (2000, lambda text: dalembert.System(text)),
        (150, lambda text: dalembert.System(text).equations("bracket")),
        (150, lambda text: dalembert.System(text).latex("hamilton")),
        (150, lambda text: dalembert.System(text).analyze()),
    ],
    ids=["reading", "deriving", "documents", "analysis"],
)
def test_ctrl_c_ends_work_on_expressions(count: int, work) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.5, _thread.interrupt_main).start()
        work(LONG.replace("N", str(count)))
    # What was interrupted leaves nothing behind.
    small = dalembert.System(LONG.replace("N", "3"))
    assert "J_r" in small.equations("bracket") and small.analyze().rank == 1


def test_other_threads_run_meanwhile(pendulum: dalembert.System) -> None:
    """A thread that gives up the lock again and again, while a run goes on that ends when the thread
    is through. Were the lock held, the thread would have it once for each question of the run."""
    began, over = threading.Event(), threading.Event()
    questions = 0

    def work() -> None:
        began.wait()
        for _ in range(1000):
            time.sleep(0.0005)
        over.set()

    def tell(done: float, of: float) -> None:
        nonlocal questions
        questions += 1
        began.set()
        if over.is_set() or questions == 250:
            raise LookupError("enough")

    thread = threading.Thread(target=work)
    thread.start()
    with pytest.raises(LookupError):
        pendulum.simulate(1e7, max_steps=10**9, progress=tell)
    was_over = over.is_set()
    thread.join()
    assert was_over


def test_progress_is_told_and_may_refuse(pendulum: dalembert.System) -> None:
    told = []
    pendulum.simulate(5000, tol=1e-12, progress=lambda done, of: told.append((done, of)))
    assert told and all(0 <= done <= of == 5000 for done, of in told)

    def refuse(done: float, of: float) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        pendulum.simulate(5000, tol=1e-12, progress=refuse)
