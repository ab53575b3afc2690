"""Models from SymPy, and matrices back to it, held against SymPy's own equations."""

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import (
    KanesMethod,
    LagrangesMethod,
    Particle,
    Point,
    ReferenceFrame,
    dynamicsymbols,
)

import dalembert
from dalembert import errors

t = dynamicsymbols._t


def same(system: dalembert.System, method: LagrangesMethod, values: dict[object, float]) -> None:
    """The accelerations are those of SymPy's equations, at random states."""
    n = len(method.q)
    random = np.random.default_rng(7)
    mass, forcing = method.mass_matrix_full, method.forcing_full
    f = system.function("acceleration")
    for _ in range(5):
        q, v = random.uniform(0.2, 1.0, size=(2, n))
        point = {**dict(zip(method.q.diff(t), v)), **dict(zip(method.q, q)), **values}
        numbers = lambda m: np.array(m.subs(point).evalf(), dtype=float)
        right = np.linalg.solve(numbers(mass), numbers(forcing)).ravel()[n : 2 * n]
        assert f(0, q, v) == pytest.approx(right, rel=1e-10, abs=1e-10)


def test_a_chain_of_pendulums() -> None:
    q = dynamicsymbols("q1:4")
    m, g, l = sp.symbols("m g l")
    x = y = T = V = 0
    for angle in q:
        x, y = x + l * sp.sin(angle), y - l * sp.cos(angle)
        T += m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2
        V += m * g * y
    values = {m: 1.5, g: 9.81, l: 0.7}
    system = dalembert.System.from_sympy(q, T=T, V=V, parameters=values)
    method = LagrangesMethod(T - V, q)
    method.form_lagranges_equations()
    same(system, method, values)
    back = system.to_sympy()
    assert sp.simplify(back.T - T) == 0 and sp.simplify(back.V - V) == 0
    assert sp.simplify(back.M - method.mass_matrix) == sp.zeros(3)


def test_lagranges_method_with_constraints_and_forces() -> None:
    x, y = dynamicsymbols("x y")
    m, g, l, c = sp.symbols("m g l c")
    N, O, P = ReferenceFrame("N"), Point("O"), Point("P")
    O.set_vel(N, 0)
    P.set_vel(N, x.diff(t) * N.x + y.diff(t) * N.y)
    L = Particle("p", P, m).kinetic_energy(N) - m * g * y
    force = [(P, -c * x.diff(t) * N.x)]
    values = {m: 2.0, g: 9.81, l: 1.3, c: 0.4}
    method = LagrangesMethod(L, [x, y], forcelist=force, frame=N, hol_coneqs=[x**2 + y**2 - l**2])
    system = dalembert.System.from_sympy(method, parameters=values)
    same(system, method, values)
    # The sign of a multiplier is that of M q̈ = Q + Aᵀλ; that of SymPy's equations is the other one.
    state = {"x": 1.3, "y": 0.0, "x'": 0.0, "y'": 1.0}
    ours = system.evaluate(state).multipliers["c1"]
    point = {x.diff(t): 0, y.diff(t): 1, x: 1.3, y: 0, **values}
    theirs = method.solve_multipliers(op_point=point)
    assert ours == pytest.approx(-2.0 / 1.3 / 2.6)
    assert abs(float(list(theirs.values())[0])) == pytest.approx(abs(ours))


def test_velocity_constraints_and_a_row_written_twice() -> None:
    x, y, th = dynamicsymbols("x y theta")
    m, J = sp.symbols("m J")
    L = m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + J * th.diff(t) ** 2 / 2
    edge = x.diff(t) * sp.sin(th) - y.diff(t) * sp.cos(th)
    values = {m: 1.0, J: 0.3}
    once = LagrangesMethod(L, [x, y, th], nonhol_coneqs=[edge])
    once.form_lagranges_equations()
    same(dalembert.System.from_sympy(once, parameters=values), once, values)
    # SymPy's matrix is singular with the row twice; here the motion is the same.
    twice = LagrangesMethod(L, [x, y, th], nonhol_coneqs=[edge, 2 * edge])
    system = dalembert.System.from_sympy(twice, parameters=values)
    same(system, once, values)
    assert twice.mass_matrix_full.subs(values).subs({th: 0.3}).det() == 0


def kane_agrees(system: dalembert.System, kane: object, values: dict[object, float]) -> None:
    """The accelerations are those of Kane's equations, at random states with u = q̇."""
    n = len(kane.q)
    random = np.random.default_rng(8)
    f = system.function("acceleration")
    for _ in range(3):
        q, v = random.uniform(0.2, 1.0, size=(2, n))
        point = {**dict(zip(kane.u, v)), **dict(zip(kane.q, q)), **values}
        numbers = lambda m: np.array(m.subs(point).evalf(), dtype=float)
        right = np.linalg.solve(numbers(kane.mass_matrix), numbers(kane.forcing)).ravel()
        assert f(0, q, v) == pytest.approx(right, rel=1e-9, abs=1e-9)


def test_kanes_method_of_a_cart_and_pole() -> None:
    q1, q2, u1, u2 = dynamicsymbols("q1 q2 u1 u2")
    m, M, l, g, F = sp.symbols("m M l g F")
    N, O, C, P = ReferenceFrame("N"), Point("O"), Point("C"), Point("P")
    O.set_vel(N, 0)
    C.set_pos(O, q1 * N.x)
    C.set_vel(N, u1 * N.x)
    A = N.orientnew("A", "Axis", [q2, N.z])
    A.set_ang_vel(N, u2 * N.z)
    P.set_pos(C, -l * A.y)
    P.v2pt_theory(C, N, A)
    bodies = [Particle("cart", C, M), Particle("bob", P, m)]
    loads = [(C, F * N.x), (P, -m * g * N.y)]
    kane = KanesMethod(N, [q1, q2], [u1, u2], kd_eqs=[q1.diff(t) - u1, q2.diff(t) - u2])
    kane.kanes_equations(bodies, loads)
    values = {m: 0.4, M: 1.1, l: 0.8, g: 9.81, F: 0.3}
    kane_agrees(dalembert.System.from_sympy(kane, parameters=values), kane, values)


def test_a_system_of_joints() -> None:
    from sympy.physics.mechanics import PinJoint, RigidBody, System, inertia

    q1, q2, u1, u2 = dynamicsymbols("q1 q2 u1 u2")
    m, l, J, g = sp.symbols("m l J g")
    wall = RigidBody("wall")
    links = [RigidBody(name, mass=m) for name in ("first", "second")]
    for link in links:
        link.central_inertia = inertia(link.frame, J, J, J)
    system = System.from_newtonian(wall)
    half = lambda body: l / 2 * body.frame.y
    system.add_joints(
        PinJoint("a", wall, links[0], q1, u1, child_point=half(links[0]), joint_axis=wall.frame.z),
        PinJoint(
            "b", *links, q2, u2, parent_point=-half(links[0]), child_point=half(links[1]),
            joint_axis=links[0].frame.z,
        ),
    )
    system.apply_uniform_gravity(-g * wall.frame.y)
    system.form_eoms()
    values = {m: 0.7, l: 0.9, J: 0.05, g: 9.81}
    ours = dalembert.System.from_sympy(system, parameters=values)
    kane_agrees(ours, system.eom_method, values)


def test_an_orientation_that_there_is_none_of_is_refused() -> None:
    """Spins about three axes are no rates of angles, unless the body is the same from all sides."""
    from sympy.physics.mechanics import RigidBody, inertia

    q, u1, u2, u3 = dynamicsymbols("q u1 u2 u3")
    a, b = sp.symbols("a b")
    N, R, O = ReferenceFrame("N"), ReferenceFrame("R"), Point("O")
    R.set_ang_vel(N, u1 * N.x + u2 * N.y + u3 * N.z)
    O.set_vel(N, q.diff(t) * N.x)

    def brought(tensor: object) -> dalembert.System:
        stone = RigidBody("stone", O, R, a, (tensor, O))
        speed = dynamicsymbols("w")
        kane = KanesMethod(N, [q], [u1, u2, u3, speed], kd_eqs=[q.diff(t) - speed], bodies=[stone])
        return dalembert.System.from_sympy(kane, parameters={a: 2, b: 3})

    ball = brought(inertia(N, b, b, b))
    assert ball.coordinates == ["q", "turn_u1", "turn_u2", "turn_u3"]
    with pytest.raises(errors.ArgumentError, match="stone: its angular velocity is not"):
        brought(inertia(N, a, b, b))


def test_functions_and_numbers_are_written_right() -> None:
    x = dynamicsymbols("x")
    a, lam = sp.symbols("a lambda")
    expressions = [
        sp.sqrt(x**2 + 1) / 3 - sp.Rational(2, 7) * x ** sp.Rational(-3, 2),
        sp.exp(-a * x) + sp.log(x + 2) ** 2 - sp.Abs(x - 5) + sp.pi * sp.E,
        sp.atan2(x, a) + sp.tan(x) + sp.sec(x) + sp.cosh(x) + sp.Max(x, a, 0.25),
        sp.Piecewise((x, x < a), (a**2, sp.And(x > 1, x < 2)), (7, True)),
        lam * 1e-3 * x**2 * sp.sign(a) + 2**x - (-x) ** 3 + sp.Heaviside(x - a),
    ]
    values = {a: 0.75, lam: 1.5}
    for expression in expressions:
        system = dalembert.System.from_sympy(
            [x], T=x.diff(t) ** 2 / 2, forces={x: expression}, parameters=values
        )
        for place in (0.4, 0.9, 1.4):
            right = float(expression.subs(values).subs(x, place).evalf())
            assert system.evaluate({"x": place}).accelerations["x"] == pytest.approx(right, rel=1e-13)
        back = system.to_sympy().Q[0].subs(values).subs(x, place)
        assert float(back.evalf()) == pytest.approx(right, rel=1e-12)


def test_what_the_language_has_no_word_for_is_written_in_its_words() -> None:
    x = dynamicsymbols("x")
    a, b, k = sp.symbols("a b k")
    expressions = [
        sp.asinh(x - 1) + sp.acosh(x + 1) + sp.atanh(x / 4) + sp.asinh(-50 * x),
        sp.coth(x) + sp.sech(x) + sp.csch(x) + sp.cot(x) + sp.csc(x) + sp.sinc(x) + sp.sinc(x - x),
        sp.acot(x) + sp.asec(x + 2) + sp.acsc(x + 2),
        sp.Mod(x, 1) + sp.Mod(-x, a) + sp.floor(3 * x) + sp.ceiling(-2.2 * x) + sp.frac(5 * x),
        sp.SingularityFunction(x, 0.5, 1) + sp.SingularityFunction(x, a, 0),
        sp.GoldenRatio * x + sp.EulerGamma + sp.Catalan**x,
        sp.Sum(x**k, (k, 0, 3)) + sp.Integral(k * x, (k, 0, 1)) + sp.Product(x + k, (k, 1, 2)),
        sp.Piecewise((x, sp.Not(sp.And(x > a, x < 1))), (2, True)),
        sp.Piecewise((x, sp.Xor(x > 0.5, x > 1)), (1, True)),
        sp.Piecewise((x, sp.Contains(x, sp.Interval(0, 1))), (b, True)),
        sp.Piecewise((x, sp.ITE(x > 1, x < 2, x > 0.5)), (b, True)),
        sp.Max(x, a, b) * sp.Min(x, a, b) + sp.UnevaluatedExpr(x + 1),
    ]
    values = {a: 0.75, b: -1.5}
    for expression in expressions:
        system = dalembert.System.from_sympy(
            [x], T=x.diff(t) ** 2 / 2, forces=[expression], parameters=values
        )
        for place in (0.4, 0.9, 1.4):
            right = float(expression.doit().subs(values).subs(x, place).evalf())
            found = system.evaluate({"x": place}).accelerations["x"]
            assert found == pytest.approx(right, rel=1e-13), expression


def test_names_of_the_language_are_stepped_around() -> None:
    q, u = dynamicsymbols("energy sin")
    norm = sp.Symbol("norm")
    system = dalembert.System.from_sympy(
        [q, u], T=norm * (q.diff(t) ** 2 + u.diff(t) ** 2) / 2, V=q**2, parameters={norm: 2}
    )
    assert system.coordinates == ["energy_", "sin_"]
    assert system.evaluate([1, 0, 0, 0]).accelerations["energy_"] == -1


def test_names_that_the_language_would_read_otherwise() -> None:
    """A raised digit is an exponent there, a dot above a rate; symbols of one name may be two."""
    w, x = dynamicsymbols("ω²"), dynamicsymbols("ẋ")
    m, m_ = sp.Symbol("m", positive=True), sp.Symbol("m")
    system = dalembert.System.from_sympy(
        [w, x], T=m * (w.diff(t) ** 2 + x.diff(t) ** 2) / 2, V=w**2, parameters={m: 2}, start={w: 1}
    )
    assert system.coordinates == ["ω2", "x_dot"]
    assert system.evaluate().accelerations["ω2"] == -1
    by_name = dict(T=m * x.diff(t) ** 2 / 2, forces={"x_dot": 3})
    assert dalembert.System.from_sympy(x, **by_name, parameters={"m": 2}).evaluate([0, 0]).accelerations == {
        "x_dot": 1.5
    }
    both = dict(T=m * x.diff(t) ** 2 / 2, V=m_ * x)
    assert dalembert.System.from_sympy(x, **both, parameters={m: 2, m_: 4}).parameters == {"m": 2, "m_": 4}
    with pytest.raises(errors.ArgumentError, match="more than one symbol is called `m`"):
        dalembert.System.from_sympy(x, **both, parameters={"m": 2})


@pytest.mark.parametrize(
    "asked, words",
    [
        (dict(coordinates=None), "are a list of `dynamicsymbols`"),
        (dict(coordinates="x"), "are a list of `dynamicsymbols`"),
        (dict(T=None), "`T` is an expression"),
        (dict(T="x'^2/2"), "not a text"),
        (dict(L=0), "either L, or T and V"),
        (dict(V=sp.I), "`I` is no real number"),
        (dict(V=sp.nan), "`nan` is no real number"),
        (dict(V=sp.true), "this is a condition"),
        (dict(V=sp.Integral(sp.exp(sp.sin(sp.Symbol("s"))), (sp.Symbol("s"), 0, 1))), "no Integral"),
        (dict(forces=[1, 2]), "one for each of the 1 coordinates"),
        (dict(forces=sp.Symbol("f")), "one for each of the 1 coordinates"),
        (dict(constraints=["x - 1"]), "not a text"),
        (dict(constraints=[sp.Symbol("a") > 0]), "`c1` is not: a > 0"),
        (dict(constraints=[sp.Eq(1, 2)]), "never holds"),
        (dict(parameters={"m": None}), "a number, and not None"),
        (dict(parameters={"m": float("nan")}), "must be finite"),
        (dict(parameters=[1]), "`parameters` is a dictionary"),
        (dict(start=[1]), "`start` is a dictionary"),
    ],
)
def test_what_is_not_meant_is_said(asked: dict, words: str) -> None:  # type: ignore[type-arg]
    x = dynamicsymbols("x")
    call = {"coordinates": [x], "T": x.diff(t) ** 2 / 2, **asked}
    with pytest.raises(errors.ArgumentError, match=words):
        dalembert.System.from_sympy(**call)


def test_units_are_said_to_be_some() -> None:
    from sympy.physics.units import kilogram

    x = dynamicsymbols("x")
    with pytest.raises(errors.ArgumentError, match="`kilogram` is a unit"):
        dalembert.System.from_sympy([x], T=kilogram * x.diff(t) ** 2 / 2)


def test_what_cannot_be_brought_is_said() -> None:
    x, u = dynamicsymbols("x u")
    with pytest.raises(errors.ArgumentError, match="is none of the coordinates, and no function of t"):
        dalembert.System.from_sympy([x], T=x.diff(t) ** 2 / 2 + sp.Function("f")(x))
    with pytest.raises(errors.ArgumentError, match="an energy is one expression"):
        dalembert.System.from_sympy([x, u], T=sp.Matrix([x, u]))
    with pytest.raises(errors.ArgumentError, match="no function of time"):
        dalembert.System.from_sympy([sp.Symbol("x")], T=1)
    with pytest.raises(errors.ArgumentError, match="no function gamma"):
        dalembert.System.from_sympy([x], T=x.diff(t) ** 2 / 2, V=sp.gamma(x))


def test_start_and_time() -> None:
    x = dynamicsymbols("x")
    system = dalembert.System.from_sympy(
        [x], T=x.diff(t) ** 2 / 2, forces=[sp.sin(t)], start={x: 1, x.diff(t): sp.Rational(1, 2)}
    )
    r = system.simulate(2, tol=1e-11)
    assert np.allclose(r["x"], 1 + 1.5 * r.t - np.sin(r.t), atol=1e-9)


def test_indices_and_primes_come_back() -> None:
    system = dalembert.System(
        "param k = 1; coord th[1..2]; kinetic (th[1]'^2 + th[2]'^2)/2; potential k*th[1]*th[2];"
        "constraint c: th[1]' = t*th[2]'"
    )
    found = system.to_sympy()
    a, b = (sp.Function(f"th[{i}]")(t) for i in (1, 2))
    assert list(found.q) == [a, b] and list(found.Q) == [-sp.Symbol("k") * b, -sp.Symbol("k") * a]
    assert list(found.A) == [1, -t] and list(found.b) == [b.diff(t)]


def test_the_whole_of_the_equations_comes_back(pendulum: dalembert.System) -> None:
    found = pendulum.to_sympy()
    x, y = found.q
    state = {"x": 1.2, "y": 1.6, "x'": 0.8, "y'": -0.6}
    answer = pendulum.evaluate(state)
    point = {x.diff(t, 2): answer.accelerations["x"], y.diff(t, 2): answer.accelerations["y"]}
    point |= {found.multipliers[0]: answer.multipliers["rod"], **{sp.Symbol(n): v for n, v in pendulum.parameters.items()}}
    rest = found.equations.subs(point).subs({x.diff(t): 0.8, y.diff(t): -0.6}).subs({x: 1.2, y: 1.6})
    assert found.equations.shape == (3, 1) and max(abs(float(r)) for r in rest) < 1e-12


def test_the_reduced_bracket_comes_back() -> None:
    """[q̇; p̃̇] = J_r ∇H_r."""
    edge = dalembert.System("param m = 2, J = 3; coord x, y, a; kinetic m/2*(x'^2 + y'^2) + J/2*a'^2;"
                            "potential m*x; constraint c: x'*sin(a) = y'*cos(a)")
    found = edge.to_sympy("bracket")
    z = [*found.q, *found.v]
    slots = {s: sp.Dummy() for s in z}
    gradient = sp.Matrix([found.H_r.xreplace(slots).diff(slots[s]) for s in z]).xreplace(
        {dummy: s for s, dummy in slots.items()}
    )
    rates = found.J_r * gradient
    right = sp.Matrix([*found.kinematics, *found.Q])
    assert sp.simplify(rates - right) == sp.zeros(5, 1)
    assert found.J_r + found.J_r.T == sp.zeros(5)


def test_functions_of_time_are_inputs() -> None:
    """A motor's torque, and a track that moves as somebody says."""
    x, y = dynamicsymbols("x y")
    F, h = sp.Function("F")(t), sp.Function("h")(t)
    m, k = sp.symbols("m k")
    system = dalembert.System.from_sympy(
        [x, y],
        T=m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2,
        V=k * x**2 / 2,
        constraints={"track": y - h},
        forces={x: F - 0.3 * h.diff(t)},
        parameters={m: 1, k: 2, h: sp.sin(t) / 2},
        start={x: 1},
    )
    assert system.inputs == {"F": None, "h": "1/2*sin(t)"}
    by_formula = system.simulate(2, inputs={"F": "cos(3*t)"}, tol=1e-11)
    by_function = system.simulate(2, inputs={"F": lambda t: np.cos(3 * t)}, tol=1e-11)
    assert np.allclose(by_formula.y, by_function.y, atol=1e-8)
    assert np.allclose(by_formula["y"], np.sin(by_formula.t) / 2, atol=1e-10)
    # What depends on the motion takes the place of the function.
    closed = dalembert.System.from_sympy(
        [x], T=x.diff(t) ** 2 / 2, forces=[F], parameters={F: -3 * x - x.diff(t)}, start={x: 1}
    )
    assert closed.inputs == {} and closed.evaluate().accelerations == {"x": -3.0}


def test_what_is_usual_in_sympy_is_taken() -> None:
    """Matrices of coordinates, constraints and forces, an energy that is a matrix of one entry, one
    constraint without a list."""
    q = sp.Matrix(dynamicsymbols("q1:3"))
    m = sp.Symbol("m", positive=True)
    v = q.diff(t)
    row = q[0] ** 2 + q[1] ** 2 - 1
    plain = dalembert.System.from_sympy(
        list(q), T=m * (v[0] ** 2 + v[1] ** 2) / 2, constraints=[row], forces=[0, -m], parameters={m: 2}
    )
    for constraints in (sp.Matrix([row]), row, sp.Eq(q[0] ** 2 + q[1] ** 2, 1), {"c1": row}):
        system = dalembert.System.from_sympy(
            q, T=v.T * (m / 2) * v, constraints=constraints, forces=sp.Matrix([0, -m]), parameters={m: 2}
        )
        at = [0.6, 0.8, 0.8, -0.6]
        assert system.evaluate(at).accelerations == pytest.approx(plain.evaluate(at).accelerations)


def test_speeds_in_controls_and_starts() -> None:
    """Speeds that are sums of rates: a control by them, and a start by them."""
    q1, q2, u1, u2, F = dynamicsymbols("q1 q2 u1 u2 F")
    m = sp.Symbol("m")
    N, O, A, B = ReferenceFrame("N"), Point("O"), Point("A"), Point("B")
    O.set_vel(N, 0)
    A.set_pos(O, q1 * N.x)
    B.set_pos(O, (q1 + q2) * N.x)
    A.set_vel(N, u1 * N.x)
    B.set_vel(N, u2 * N.x)
    kane = KanesMethod(
        N, [q1, q2], [u1, u2], kd_eqs=[q1.diff(t) - u1, q1.diff(t) + q2.diff(t) - u2]
    )
    kane.kanes_equations([Particle("a", A, m), Particle("b", B, m)], [(A, F * N.x), (B, -F * N.x)])
    system = dalembert.System.from_sympy(
        kane, parameters={m: 2, F: u2 - u1 + 3 * q2}, start={q2: 0.1, u1: 0.5, u2: -0.25}
    )
    assert system.inputs == {}
    state = system.evaluate().state
    assert (state["q1'"], state["q2'"]) == (0.5, -0.75)
    # ü₁ = F/m, ü₂ = −F/m
    force = -0.75 + 0.3
    found = system.evaluate().accelerations
    assert (found["q1"], found["q1"] + found["q2"]) == pytest.approx((force / 2, -force / 2))
