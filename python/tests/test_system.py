"""Systems: read, looked at, changed; what is wrong is said at its line."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert
from dalembert import errors

from conftest import PENDULUM


def test_what_a_system_consists_of(pendulum: dalembert.System) -> None:
    assert pendulum.coordinates == ["x", "y"]
    assert pendulum.velocities == ["x'", "y'"]
    assert pendulum.parameters == {"m": 1, "g": 9.81, "l": 2}
    assert pendulum.constraints == ["rod"]
    assert "coordinates x, y, constraints rod" in repr(pendulum)


def test_a_fault_is_said_at_its_line() -> None:
    with pytest.raises(errors.ModelError) as caught:
        dalembert.System("coord x\nkinetic m*x'^2/2")
    error = caught.value
    assert isinstance(error, ValueError) and isinstance(error, dalembert.Error)
    assert "2 | kinetic m*x'^2/2" in str(error)
    assert error.code == "unknown-name"
    label = error.diagnostics[0]["labels"][0]
    assert (label["line"], label["column"], label["end_column"]) == (2, 9, 10)


def test_all_faults_of_a_text_are_listed() -> None:
    found = dalembert.check("coord x\nkinetic m*x'^2/2\npotential k*x")
    assert [d["code"] for d in found.faults] == ["unknown-name", "unknown-name"]
    assert "kinetic m*x'^2/2" in repr(found)
    assert dalembert.check(PENDULUM).faults == []


def test_warnings_of_a_model() -> None:
    system = dalembert.System("param k = 1; coord x; kinetic x'^2/2")
    assert "unused-parameter" in [d["code"] for d in system.check()]


def test_files_and_the_gallery(tmp_path: Path) -> None:
    path = tmp_path / "pendulum.dal"
    path.write_text(PENDULUM)
    assert dalembert.System.from_file(path).coordinates == ["x", "y"]
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\n```dal\n{PENDULUM}```\n")
    assert dalembert.System.from_file(page).constraints == ["rod"]
    assert dalembert.System(page.read_text()).constraints == ["rod"]
    for name in dalembert.gallery():
        assert dalembert.System.from_gallery(name).coordinates
    with pytest.raises(OSError, match="there is no such file"):
        dalembert.System.from_file(tmp_path / "none.dal")
    with pytest.raises(errors.InputError, match="the gallery has no `none`"):
        dalembert.System.from_gallery("none")


def test_other_numbers_make_another_system(pendulum: dalembert.System) -> None:
    longer = pendulum.set(l=3, m="1/2")
    assert longer.parameters["l"] == 3 and longer.parameters["m"] == 0.5
    assert pendulum.parameters["l"] == 2
    assert longer.set(m=7).parameters == {"m": 7, "g": 9.81, "l": 3}
    with pytest.raises(errors.ModelError, match="`k`"):
        pendulum.set(k=1)


def test_systems_are_pickled_with_their_numbers(pendulum: dalembert.System) -> None:
    again = pickle.loads(pickle.dumps(pendulum.set(l=3)))
    assert again.parameters["l"] == 3 and again.text == pendulum.text


def test_numbers_at_a_state(pendulum: dalembert.System) -> None:
    answer = pendulum.evaluate({"x": 2, "y'": 1})
    assert answer.motion == "unique"
    # λ = (A M⁻¹ Aᵀ)⁻¹ (b − A M⁻¹ Q) with A = (4, 0), b = −2.
    assert answer.multipliers["rod"] == pytest.approx(-2 / 16)
    assert answer.accelerations == pytest.approx({"x": -0.5, "y": -9.81})
    assert pendulum.evaluate([2, 0, 0, 1]).results == answer.results
    # Numbers and texts are the same state, also where it is a number of the language only.
    for state in ({"x": 2.5, "y": -1e-3, "x'": 1 / 3}, {"t": 1.5, "y": 1}, {"x": 1, "p_y": 0.5}):
        words = {name: repr(float(value)) for name, value in state.items()}
        by_number, by_word = pendulum.evaluate(state), pendulum.evaluate(words)
        assert by_number.results == by_word.results and by_number.state == by_word.state
    terms = answer.terms
    assert terms["M"].shape == (2, 2) and np.array_equal(terms["A"], [[4, 0]])
    assert np.array_equal(terms["b"], [-2]) and np.array_equal(terms["Q"], [0, -9.81])
    free = dalembert.System("coord x, y; kinetic x'^2 + y'^2").evaluate().terms
    assert free["A"].shape == (0, 2) and free["b"].shape == (0,)
    # What is not named is 0, and there the rod says nothing.
    with pytest.raises(errors.ModelError, match="this is a singular position"):
        pendulum.evaluate({})
    with pytest.raises(errors.ModelError, match="`z`"):
        pendulum.evaluate({"z": 1.0})
    every = pendulum.evaluate({"x": 2}, formulation="all")
    assert len(every.results) > 3 and every.agreement < 1e-12
    with pytest.raises(errors.ArgumentError, match="no formulation is called `newton`"):
        pendulum.evaluate(formulation="newton")
    with pytest.raises(errors.ArgumentError, match=r"a state has shape \(4,\)"):
        pendulum.evaluate([1, 2])


def test_numbers_at_many_states_are_those_at_one() -> None:
    """What is derived once for all states gives the same bits as what is derived for one of them,
    whatever was asked for in between."""
    random, found = np.random.default_rng(5), 0
    for name in dalembert.gallery():
        system = dalembert.System.from_gallery(name)
        names, size = system.state_names, len(system.state_names)
        if size > 20 or None in system.parameters.values() or None in system.inputs.values():
            continue
        momenta = [f"p_{coordinate}" for coordinate in system.coordinates]
        for state in random.uniform(0.2, 1, size=(3, size)):
            given = dict(zip(names, state))
            if found % 3 == 2:
                # Some of the rates by momenta, some not at all, and the time.
                given = {n: x for n, x in given.items() if random.uniform() < 0.7}
                given |= {p: 0.3 for p in momenta if random.uniform() < 0.5 and p.isidentifier()}
                given["t"] = 0.5
            answers = []
            for form in (float, repr):
                try:
                    answers.append(system.evaluate({n: form(float(x)) for n, x in given.items()}))
                except dalembert.Error as error:
                    answers.append(str(error).replace("\n", " "))
            many, one = answers
            if isinstance(one, str):
                assert isinstance(many, str), name
                continue
            assert many.results == one.results and many.observables == one.observables, name
            assert many.residuals == one.residuals and many.state == one.state, name
            found += 1
        try:
            system.evaluate(formulation="all")
        except dalembert.Error:
            pass
    assert found > 100


def test_a_parameter_without_a_value_is_named() -> None:
    system = dalembert.System("param m; coord x; kinetic m*x'^2/2")
    assert system.parameters == {"m": None}
    with pytest.raises(errors.MissingValueError) as caught:
        system.evaluate({"x": 1})
    assert caught.value.names == ["m"]
    with pytest.raises(errors.MissingValueError):
        system.simulate(1)
    assert system.simulate(1, parameters={"m": 2}).success


def test_analysis_and_linearization(pendulum: dalembert.System) -> None:
    found = pendulum.analyze()
    assert found.rank == 1 and found.motion == "unique"
    linear = pendulum.linearize({"y": -2})
    frequency = np.sqrt(9.81 / 2)
    assert sorted(linear.eigenvalues.imag) == pytest.approx([-frequency, frequency])
    assert linear.matrices.state.shape == (2, 2)
    assert linear.stability == "stable"


def test_documents(pendulum: dalembert.System) -> None:
    assert "M q̈" in pendulum.equations() or "Lagrange" in pendulum.equations()
    assert r"\ddot{q}" in pendulum.latex()
    assert r"\section" not in pendulum._repr_latex_()
    assert r"\begin{align*}" in pendulum._repr_latex_()
    assert "<math" in pendulum._repr_html_()
    assert "hamilton" in pendulum.equations("hamilton").lower()


def test_symbols_write_the_model_that_a_text_does(pendulum: dalembert.System) -> None:
    b = dalembert.Builder("pendulum")
    m, g, l = b.param("m", 1), b.param("g", 9.81), b.param("l", 2)
    x, y = b.coord("x"), b.coord("y")
    b.kinetic(m / 2 * (x.dot**2 + y.dot**2))
    b.potential(-(-m) * g * y)
    b.constraint("rod", x**2 + y**2, l**2)
    b.start(x, 2)
    state = {"x": 1.2, "y": 1.6, "x'": 0.8, "y'": -0.6}
    assert b.system().evaluate(state).results == pendulum.evaluate(state).results


@pytest.mark.parametrize(
    "build, value",
    [
        (lambda x: 2 - (x - 1), 0.0),
        (lambda x: 12 / (x * 2), 2.0),
        (lambda x: (x / 3) ** 2, 1.0),
        (lambda x: -(x**2), -9.0),
        (lambda x: (-x) ** 2, 9.0),
        (lambda x: 2 ** (x - 1), 4.0),
        (lambda x: (x**2) ** 2, 81.0),
        (lambda x: x - (-2), 5.0),
        (lambda x: 1 - x * -2.5, 8.5),
        (lambda x: dalembert.sqrt(x + 1) * dalembert.cos(x - 3), 2.0),
    ],
)
def test_operators_have_pythons_precedence(build, value) -> None:  # type: ignore[no-untyped-def]
    b = dalembert.Builder()
    x, z = b.coord("x"), b.coord("z")
    b.kinetic((x.dot**2 + z.dot**2) / 2)
    b.force(z, build(x))
    assert b.system().evaluate({"x": 3}).accelerations["z"] == pytest.approx(value)


def test_a_fault_of_ours_is_said_to_be_one() -> None:
    error = errors._made("internal", "words", fields={}, diagnostics=[])
    assert isinstance(error, RuntimeError) and str(error) == "words"


def test_optional_packages_are_not_imported() -> None:
    program = (
        "import sys, dalembert;"
        "print([m for m in ('sympy', 'pandas', 'pyarrow', 'scipy', 'jax', 'torch', 'asyncio') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
