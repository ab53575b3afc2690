"""Studies of many cases."""

import _thread
import threading

import numpy as np
import pytest

import dalembert
from dalembert import errors

OSCILLATOR = dalembert.System("param k = 1; coord x; kinetic x'^2/2; potential k*x^2/2; start x = 1")


def test_a_grid_of_parameters_and_starts() -> None:
    study = OSCILLATOR.sweep({"k": [1, 4], "x": [1, 2, 3]}, t_end=1, tol=1e-10)
    assert len(study) == 6 and study.failures == {}
    assert study.names[:2] == ["k", "start(x)"]
    right = study["start(x)"] * np.cos(np.sqrt(study["k"]))
    assert np.allclose(study["x"], right, atol=1e-8)


def test_a_table_and_laws() -> None:
    study = OSCILLATOR.sweep({"k": [1, 4], "x": [2, 3]}, t_end=1, sampling="table", observe=["x"])
    assert study.names == ["k", "start(x)", "x"] and len(study) == 2
    drawn = OSCILLATOR.sweep("k = 1..2, x ~ normal(1, 0.1)", samples=50, seed=3, t_end=1)
    again = OSCILLATOR.sweep("k = 1..2, x ~ normal(1, 0.1)", samples=50, seed=3, t_end=1, threads=1)
    assert np.array_equal(drawn.values, again.values)
    assert 1 <= drawn["k"].min() and drawn["k"].max() <= 2


def test_cases_that_fail_are_listed(pendulum: dalembert.System) -> None:
    study = pendulum.sweep({"l": [1, 2, 3]}, t_end=1)
    assert list(study.failures) == [0] and np.isnan(study["x"][0])
    frame = study.to_pandas()
    assert frame["failed"].tolist() == [True, False, False]
    assert "3 cases, 1 failed" in repr(study)


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(errors.ArgumentError, match="samples=N"):
        OSCILLATOR.sweep("k = 1..2", t_end=1)
    with pytest.raises(errors.ArgumentError, match="one length"):
        OSCILLATOR.sweep({"k": [1, 2], "x": [1]}, sampling="table", t_end=1)
    with pytest.raises(errors.ArgumentError, match="write `vary` as a text"):
        OSCILLATOR.sweep({"k": [1, 2]}, sampling="sobol", t_end=1)
    with pytest.raises(errors.ArgumentError, match="nothing is varied"):
        OSCILLATOR.sweep({}, t_end=1)
    with pytest.raises(dalembert.Error):
        OSCILLATOR.sweep({"none": [1, 2]}, t_end=1)
    with pytest.raises(KeyError, match="nothing is called `z`"):
        OSCILLATOR.sweep({"k": [1]}, t_end=1)["z"]


def test_ctrl_c_ends_a_study() -> None:
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.5, _thread.interrupt_main).start()
        OSCILLATOR.sweep({"k": np.linspace(1, 2, 2_000_000)}, t_end=200)


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    asked = dict(vary={"k": np.linspace(1, 2, 5000)}, t_end=1000, threads=1)
    OSCILLATOR.sweep(**asked, progress=lambda *where: told.append(where))
    assert told and all(done <= of == 5000 for done, of in told)
    OSCILLATOR.sweep(**asked, progress=True)
    assert "of 5000 cases" in capsys.readouterr().err
