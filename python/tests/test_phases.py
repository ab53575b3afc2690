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


def test_a_run_tells_its_phases_and_loads() -> None:
    """A wheel that falls onto the floor and is pulled along it: what it did, and what carries it."""
    wheel = dalembert.System(WHEEL)
    found = wheel.simulate(
        2, start={"w.r[2]": 1}, observe=["floor.mode", "floor.force", "floor.gap"], tol=1e-9
    )
    assert found.phases is not None and found.phases.impacts == 1
    fall = np.sqrt(2 * 0.5 / 9.81)
    assert [(change.of, change.change) for change in found.phases.changes] == [
        ("floor", "closes"), ("floor", "sticks"),
    ]
    assert [change.t for change in found.phases.changes] == pytest.approx([fall, fall])
    before, after = found.t < fall - 1e-9, found.t > fall + 1e-9
    assert set(found["floor.mode"][before]) == {0} and set(found["floor.mode"][after]) == {2}
    assert np.allclose(found["floor.force[2]"][after], 2 * 9.81) and not found["floor.force[2]"][before].any()
    assert np.abs(found["floor.gap"][after]).max() < 1e-9
    rolls = wheel.simulate(1, observe={"height": "w.r[2] - r"})
    assert rolls.phases is not None and rolls.phases.changes == []
    assert np.abs(rolls["height"]).max() < 1e-9
    plain = dalembert.System("coord x; kinetic x'^2/2").simulate(1, observe="x'")
    assert plain.phases is None
    study = wheel.sweep({"w.r[2]": [0.5, 1.0]}, t_end=1, observe=["floor.mode", "floor.force"])
    assert study.names == ["start(w.r[2])", "floor.mode", "floor.force[1]", "floor.force[2]"]
    assert study["floor.mode"].tolist() == [2, 2] and study.failures == {}
    assert np.allclose(study["floor.force[2]"], 2 * 9.81)


def test_symbols_build_what_touches() -> None:
    b = dalembert.Builder()
    m, r, J, k, mu = (b.param(*pair) for pair in zip("m r J k mu".split(), (2, 0.5, 0.3, 7, 0.4)))
    b.add("gravity [0, -9.81]")
    w = b.part(f"body w: mass {m}, inertia {J}, free")
    floor = b.part(f"contact floor: ground normal {[0, 1]}, {w} radius {r}, friction {mu}")
    b.add(f"contact wall: {3 >= w.r[1] + r}")
    b.add(f"spring {k} at {w.r[1]}")
    b.start(w.r, [0.1, r])
    b.observe("load", floor.force[2])
    z = b.state("z", w.r[1] - dalembert.Symbol("z"))
    pull = b.input("pull", 0)
    b.force(w.r[1], pull - abs(z) * dalembert.function("atan2", 0, 1))
    b.output("place", b.let("twice", 2 * w.r[1]))
    system = b.system()
    plain = dalembert.System(WHEEL)
    assert system.evaluate().accelerations["w.r[1]"] == plain.evaluate().accelerations["w.r[1]"]
    assert (system.states, system.inputs, system.outputs) == (["z"], {"pull": "0"}, ["place"])
    assert system.simulate(0.5)["load"][-1] == pytest.approx(2 * 9.81)


def test_symbols_are_no_numbers() -> None:
    x = dalembert.Symbol("x")
    for wrong in (lambda: bool(x > 1), lambda: 0 < x < 1, lambda: list(x), lambda: x[0], lambda: x["a"]):
        with pytest.raises((TypeError, IndexError)):
            wrong()
    assert f"{x + 1}*2" == "(x + 1)*2" and str(x + 1) == "x + 1"
    assert str(2 * (x > 1)) == "2*(x > 1)" and x[1, 2].text == "x[1, 2]"
    with pytest.raises(errors.ArgumentError, match="is declared as"):
        dalembert.Builder().part("mass 1")
