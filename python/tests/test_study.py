"""Studies in folders: gone on with after whatever happens, by whoever it is."""

import _thread
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import clusters
import dalembert
from dalembert import errors

OSCILLATOR = dalembert.System("param k = 1; coord x; kinetic x'^2/2; potential k*x^2/2; start x = 1")
#: Its cases take some milliseconds each.
SLOW = dalembert.System(clusters.SYSTEM)
CASES = {"k": np.linspace(0, 3, 300)}


def test_a_folder_has_what_memory_has(tmp_path: Path) -> None:
    vary = {"k": [1, 4], "x": [1, 2, 3]}
    memory = OSCILLATOR.sweep(vary, t_end=1)
    folder = OSCILLATOR.sweep(vary, t_end=1, out=tmp_path / "study", part=4)
    assert folder.names == memory.names and np.array_equal(folder.values, memory.values)
    assert folder.failures == {} and folder.parts == [] and len(folder) == 6
    again = dalembert.Study.open(tmp_path / "study")
    assert np.array_equal(again["x"], memory["x"])
    assert np.array_equal(pickle.loads(pickle.dumps(again))["x"], memory["x"])
    assert {path.name for path in (tmp_path / "study").glob("*.parquet")} == {
        "cases-00000.parquet", "cases-00001.parquet", "table.parquet",
    }
    summary = folder.summary()
    assert summary.cases == 6 and summary.columns["x"]["mean"] == pytest.approx(memory["x"].mean())


def test_failures_are_in_the_folder_too(pendulum: dalembert.System, tmp_path: Path) -> None:
    vary = {"l": [1, 2, 3]}
    study = pendulum.sweep(vary, t_end=1, out=tmp_path / "study", part=2)
    memory = pendulum.sweep(vary, t_end=1)
    assert study.failures == memory.failures and list(study.failures) == [0]
    assert np.array_equal(study.values, memory.values, equal_nan=True)
    assert study.to_pandas()["failed"].tolist() == [True, False, False]


def test_trajectories_and_laws(tmp_path: Path) -> None:
    from pyarrow import parquet

    study = OSCILLATOR.sweep(
        "k = 1..2, x ~ normal(1, 0.1)", samples=10, seed=3, t_end=1, out=tmp_path / "study",
        part=5, trajectories=True, every=0.25,
    )
    table = parquet.read_table(tmp_path / "study" / "trajectories-00001.parquet").to_pandas()
    assert sorted(set(table["case"])) == [5, 6, 7, 8, 9] and len(table) == 25
    assert table["x"].to_numpy()[4] == study["x"][5]


def test_resuming(tmp_path: Path) -> None:
    place = tmp_path / "study"
    ask = partial(OSCILLATOR.sweep, {"k": [1, 2, 3]}, t_end=1, out=place)
    assert len(ask(resume=True)) == 3, "there is nothing yet to go on with"
    with pytest.raises(errors.ArgumentError, match="`resume=True` goes on with it"):
        ask()
    assert ask(resume=True)["x"].shape == (3,)
    with pytest.raises(errors.ArgumentError, match="another one: `tolerance` differ"):
        ask(resume=True, tol=1e-5)
    with pytest.raises(errors.ArgumentError, match="another one: `cases`"):
        OSCILLATOR.sweep({"k": [1, 2, 4]}, t_end=1, out=place, resume=True)
    with pytest.raises(errors.ArgumentError, match="for a folder"):
        OSCILLATOR.sweep({"k": [1]}, t_end=1, resume=True)
    with pytest.raises(errors.ArgumentError, match="has no study"):
        dalembert.Study.open(tmp_path / "none")
    with pytest.raises(errors.ArgumentError, match="has no part 7"):
        dalembert.work(place, 7)


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    place, told = tmp_path / "study", []

    def tell(done: float, of: float) -> None:
        told.append(done)
        if len(told) == 2:
            _thread.interrupt_main()

    ask = partial(SLOW.sweep, CASES, t_end=400, tol=1e-12, out=place, threads=1)
    with pytest.raises(KeyboardInterrupt):
        ask(progress=tell)
    kept = sum(clusters.journals(place).values())
    assert kept >= told[0] > 0
    again: list[float] = []
    study = ask(resume=True, progress=lambda done, of: again.append(done))
    assert again[0] > kept, "what was kept is not computed again"
    assert study.parts == [] and np.array_equal(
        study.values, SLOW.sweep(CASES, t_end=400, tol=1e-12).values
    )


def test_a_file_that_is_broken_is_named(tmp_path: Path) -> None:
    place = tmp_path / "study"
    OSCILLATOR.sweep({"k": [1, 2, 3]}, t_end=1, out=place, part=1)
    for break_it in (lambda path: path.write_bytes(b"junk"), lambda path: path.unlink()):
        break_it(place / "cases-00001.parquet")
        with pytest.raises(errors.InputError, match="cannot read `.*cases-00001.parquet`"):
            dalembert.Study.open(place).values


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    place = tmp_path / "study"
    asked = dict(t_end=400, tol=1e-12)
    study = SLOW.sweep(CASES, **asked, out=place, part=60, compute=False)
    assert np.isnan(study.values).all() and study.parts == [0, 1, 2, 3, 4]
    # In the midst of the second part it says so, and waits to be killed.
    program = f"""
import dalembert, time

def tell(done, of):
    if done < of:
        print(done, flush=True)
        time.sleep(3600)

dalembert.work({str(place)!r}, 0)
dalembert.work({str(place)!r}, 1, progress=tell)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    done = float(process.stdout.readline())
    process.kill()
    process.communicate()
    before = clusters.journals(place)[1]
    assert 0 < done <= before < 60
    assert study.parts == [1, 2, 3, 4] and np.isfinite(study.values[:60]).all()
    answers = [dalembert.work(place, part) for part in study.parts]
    assert answers[0].found >= before and answers[0].found + answers[0].computed == 60
    assert np.array_equal(study.values, SLOW.sweep(CASES, **asked).values)


def test_processes_that_want_the_same_parts(tmp_path: Path) -> None:
    place = tmp_path / "study"
    SLOW.sweep(CASES, t_end=60, tol=1e-12, out=place, part=50, compute=False)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(3, mp_context=context) as pool:
        answers = list(pool.map(partial(dalembert.work, place), [0, 0, 0, 1, 1, 2, 3, 4, 5]))
    assert sum(answer.computed for answer in answers) == 300, "each case once"
    assert np.isfinite(dalembert.Study.open(place).values).all()


def test_one_process_or_many_not_both(tmp_path: Path) -> None:
    place = tmp_path / "study"
    ask = partial(SLOW.sweep, CASES, t_end=400, tol=1e-12, out=place, threads=1)
    errors_of: list[Exception] = []

    def work() -> None:
        try:
            dalembert.work(place, 0)
        except dalembert.Error as error:
            errors_of.append(error)

    def tell(done: float, of: float) -> None:
        if not errors_of:
            work()

    ask(progress=tell)
    assert errors_of and "another process works on" in str(errors_of[0])


def test_dask(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    clusters.dask(tmp_path)


def test_threads_share_a_folder(tmp_path: Path) -> None:
    place = tmp_path / "study"
    study = OSCILLATOR.sweep({"k": np.linspace(1, 2, 500)}, t_end=5, out=place, part=50, compute=False)
    found: list[dalembert.Answer] = []
    threads = [
        threading.Thread(target=lambda p=part: found.append(dalembert.work(place, p)))
        for part in study.parts
    ]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sum(answer.computed for answer in found) == 500 and study.parts == []
