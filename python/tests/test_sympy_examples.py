"""SymPy's own examples, brought over as they stand in its package: the same equations to rounding,
and right where SymPy's are not."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import fsolve
from sympy.physics.mechanics import KanesMethod, LagrangesMethod, dynamicsymbols, models

import dalembert

t = dynamicsymbols._t


class _Found(Exception):
    pass


@contextmanager
def _hooked(kind: Any, name: str, found: list[Any]) -> Iterator[None]:
    """Ends what runs within when the equations of an object have been formed."""
    own = getattr(kind, name)

    def hook(self: Any, *arguments: Any, **more: Any) -> None:
        own(self, *arguments, **more)
        found.append(self)
        raise _Found

    setattr(kind, name, hook)
    try:
        yield
    finally:
        setattr(kind, name, own)


def example(place: str) -> Any:
    """The object of an example of SymPy's test suite, `module.function`."""
    module, name = place.split(".")
    run = getattr(importlib.import_module(f"sympy.physics.mechanics.tests.{module}"), name)
    found: list[Any] = []
    with (
        warnings.catch_warnings(),
        _hooked(KanesMethod, "kanes_equations", found),
        _hooked(LagrangesMethod, "form_lagranges_equations", found),
    ):
        warnings.simplefilter("ignore")
        with pytest.raises(_Found):
            run()
    return found[0]


def values_of(expressions: list[Any], seed: int = 3) -> dict[Any, float]:
    """Numbers for all symbols."""
    symbols = sorted({s for e in expressions for s in e.free_symbols} - {t}, key=str)
    random = np.random.default_rng(seed)
    return {symbol: float(value) for symbol, value in zip(symbols, random.uniform(0.5, 1.5, 99))}


def parts_of(method: LagrangesMethod) -> list[Any]:
    held = sp.Matrix([sp.S.Zero, *method._hol_coneqs])
    return [method.mass_matrix_full, method.forcing_full, sp.Matrix(method._L), held]


def numbers(
    inputs: list[list[Any]], expressions: list[Any], values: dict[Any, float]
) -> Callable[..., list[Any]]:
    flat = [*(x for group in inputs for x in group), *values]
    slots = {x: sp.Dummy() for x in flat}
    plain = [sp.Matrix(e).xreplace(slots) for e in expressions]
    function = sp.lambdify([slots[x] for x in flat], plain, cse=True)
    return lambda *groups: [
        np.asarray(x, dtype=float)
        for x in function(*(float(x) for group in groups for x in group), *values.values())
    ]


def agree(kane: KanesMethod, values: dict[Any, float], near: float = 0.5, count: int = 3) -> None:
    """Our accelerations are those of Kane's equations, at states that the constraints allow."""
    system = dalembert.System.from_sympy(kane, parameters=values)
    q, u = list(kane.q), list(kane.u)
    dots = [x.diff(t) for x in q]
    rates = sp.Matrix([kane.kindiffdict()[dot] for dot in dots]) if q else sp.Matrix()
    terms = [rates, kane.mass_matrix, kane.forcing, rates.jacobian(q), rates.jacobian(u)]
    terms = [term.xreplace(kane.kindiffdict()) for term in terms]
    fixed = {**values, **{x: 0.0 for x in getattr(kane, "_uaux", [])}}
    f = numbers([q, u], terms, fixed)
    held = sp.Matrix(list(kane._f_h)) if kane._f_h else sp.zeros(0, 1)
    slopes = kane._k_nh if kane._k_nh else sp.zeros(0, len(u))
    rows = slopes * kane.u + kane._f_nh if kane._k_nh else sp.zeros(0, 1)
    holds = numbers([q, u], [held, rows, slopes], fixed)
    acceleration, jacobian = system.function("acceleration"), system.function("jacobian")
    # Speeds that have no kinematic equation are rates of coordinates that were added.
    turned = [at for at, x in enumerate(u) if f"turn_{x.func}" in system.coordinates]
    n, known = len(q), len(q) + len(turned)
    random = np.random.default_rng(5)
    for _ in range(count):
        places, speeds = random.uniform(near - 0.3, near + 0.3, n), random.uniform(0.2, 1, len(u))
        if len(held):
            last = n - len(held)
            places[last:] = fsolve(
                lambda end: holds([*places[:last], *end], speeds)[0].ravel(), places[last:],
            )
            assert np.abs(holds(places, speeds)[0]).max() < 1e-9
        if len(rows):
            value, slope = holds(places, speeds)[1:]
            last = len(u) - len(rows)
            speeds[last:] = 0
            value = holds(places, speeds)[1]
            speeds[last:] = np.linalg.solve(slope[:, last:], -value).ravel()
        found, mass, forcing, by_q, by_u = f(places, speeds)
        u_dot = np.linalg.solve(mass, forcing).ravel()
        right = np.concatenate([by_q @ found.ravel() + by_u @ u_dot, u_dot[turned]])
        # The centers that were added move as the constraints say.
        q_all = np.zeros(len(system.coordinates))
        q_all[:n] = places
        v_all = np.zeros_like(q_all)
        v_all[:known] = np.concatenate([found.ravel(), speeds[turned]])
        a = jacobian(0, q_all, v_all) if system.constraints else np.zeros((0, len(q_all)))
        v_all[known:] = np.linalg.lstsq(a[:, known:], -a[:, :known] @ v_all[:known])[0]
        ours = acceleration(0, q_all, v_all)[:known]
        assert ours == pytest.approx(right, rel=1e-8, abs=1e-8 * max(1, np.abs(right).max()))


@pytest.mark.parametrize(
    "place",
    [
        "test_kane.test_one_dof",
        "test_kane.test_two_dof",
        "test_kane.test_rolling_disc",
        "test_kane5.test_kane_rolling_disc_lu",
        "test_jointsmethod.test_two_dof_joints",
        "test_jointsmethod.test_complete_simple_double_pendulum",
        "test_jointsmethod.test_chaos_pendulum",
    ],
)
def test_kanes_method(place: str) -> None:
    kane = example(place)
    agree(kane, values_of([kane.mass_matrix, kane.forcing, sp.Matrix(list(kane._f_h))]))


def test_a_four_bar_linkage_of_joints() -> None:
    kane = example("test_jointsmethod.test_four_bar_linkage_with_manual_constraints")
    l1, l2, l3, l4, rho = sp.symbols("l1:5 rho")
    agree(kane, {l1: 0.8, l2: 0.5, l3: 0.7, l4: 0.6, rho: 1.3}, near=1.5)


def test_the_bicycle() -> None:
    """Meijaard, Papadopoulos, Ruina and Schwab's, with the rear wheel's rolling substituted."""
    kane = example("test_kane3.test_bicycle")
    values = values_of([kane.mass_matrix, kane.forcing, sp.Matrix(list(kane._f_h))])
    sizes = (
        "WFrad 0.35 WRrad 0.3 htangle 1.2566 forkoffset 0.0321 forklength 0.2676 framelength 0.9535"
    )
    words = sizes.split()
    values.update({sp.Symbol(n): float(x) for n, x in zip(words[::2], words[1::2])})
    agree(kane, values, near=0.1, count=2)


@pytest.mark.parametrize("links", [1, 3])
def test_pendulums_on_a_cart(links: int) -> None:
    kane = models.n_link_pendulum_on_cart(links, joint_torques=True)
    inputs = kane.forcing.atoms(sp.core.function.AppliedUndef) - set(kane.q) - set(kane.u)
    said = {function: 0.1 * (1 + at) for at, function in enumerate(sorted(inputs, key=str))}
    assert inputs
    agree(kane, {**values_of([kane.mass_matrix, kane.forcing]), **said})
    # What nobody says is an input, which is said later.
    open_ = dalembert.System.from_sympy(kane)
    assert set(open_.inputs) == {str(function.func) for function in inputs}
    assert set(open_.inputs.values()) == {None}


def test_masses_springs_and_dampers() -> None:
    kane = models.multi_mass_spring_damper(3, apply_gravity=True)
    agree(kane, values_of([kane.mass_matrix, kane.forcing]))


@pytest.mark.parametrize(
    "name", ["test_disc_on_an_incline_plane", "test_simp_pen", "test_nonminimal_pendulum", "test_dub_pen"]
)
def test_lagranges_method(name: str) -> None:
    method = example(f"test_lagrange.{name}")
    mass, forcing = method.mass_matrix_full, method.forcing_full
    values = values_of(parts_of(method))
    system = dalembert.System.from_sympy(method, parameters=values)
    q, n = list(method.q), len(method.q)
    f = numbers([q, [x.diff(t) for x in q]], [mass, forcing], values)
    random = np.random.default_rng(6)
    acceleration = system.function("acceleration")
    for _ in range(3):
        place, rate = random.uniform(0.2, 1, (2, n))
        right = np.linalg.solve(*f(place, rate)).ravel()[n : 2 * n]
        assert acceleration(0, place, rate) == pytest.approx(right, rel=1e-10, abs=1e-10)


def test_a_disc_whose_rolling_was_substituted() -> None:
    """Lagrange's equations of what is left of L are not those of the disc, and SymPy gives them.
    Brought over with its body the disc rolls as Kane's equations say."""
    wrong = example("test_lagrange.test_rolling_disc")
    kane = example("test_kane.test_rolling_disc")
    r, m, g = sp.symbols("r m g")
    values = {r: 0.7, m: 1.2, g: 9.81}
    agree(kane, values)
    # At one state, from the same body: q̈ by SymPy's LagrangesMethod, and by us.
    q, dots = list(wrong.q), [x.diff(t) for x in wrong.q]
    f = numbers([q, dots], [wrong.mass_matrix, wrong.forcing], values)
    place, rate = np.array([0.3, 0.4, 0.5]), np.array([0.6, 0.7, 0.8])
    theirs = np.linalg.solve(*f(place, rate)).ravel()
    disc = dalembert.System.from_sympy(kane, parameters=values)
    q_all, v_all = np.zeros((2, 6))
    q_all[:3], v_all[:3] = place, rate
    a = disc.function("jacobian")(0, q_all, v_all)
    v_all[3:] = np.linalg.solve(a[:, 3:], -a[:, :3] @ rate)
    ours = disc.function("acceleration")(0, q_all, v_all)[:3]
    assert np.abs(ours - theirs).max() > 0.05
    kept = disc.simulate(5, start={**dict(zip(disc.coordinates, q_all)), **dict(zip(disc.velocities, v_all))})
    weight = values[m] * values[g] * values[r] * np.cos(kept["q2"])
    assert kept.certificate.holds and np.ptp(kept.energy + weight) < 1e-6, "rolling does no work"


def test_a_row_that_is_there_twice() -> None:
    method = example("test_lagrange.test_nonminimal_pendulum")
    values = values_of(parts_of(method))
    once = dalembert.System.from_sympy(method, parameters=values)
    row = method._hol_coneqs[0]
    more = dict(forcelist=method.forcelist, frame=method.inertial)
    twice = LagrangesMethod(method._L[0], list(method.q), hol_coneqs=[row, row], **more)
    twice.form_lagranges_equations()
    point = {x.diff(t): 0.3 for x in method.q} | {x: 0.6 for x in method.q} | values
    theirs = twice.mass_matrix_full.subs(point).evalf()
    assert theirs.rank() < theirs.rows, "what SymPy inverts is singular"
    ours = dalembert.System.from_sympy(twice, parameters=values)
    state = ([0.6, 0.6], [0.3, 0.3])
    assert ours.function()(0, *state) == pytest.approx(once.function()(0, *state), rel=1e-12)
    answer = ours.analyze()
    assert answer.rank == 1


def test_the_sign_of_multipliers() -> None:
    """M q̈ = Q + Aᵀλ: the multiplier of a rod that hangs down is the one that carries the bob. SymPy's
    matrices have the same sign, its equations and `solve_multipliers` the other one."""
    method = example("test_lagrange.test_nonminimal_pendulum")
    values = values_of(parts_of(method))
    system = dalembert.System.from_sympy(method, parameters=values)
    q = list(method.q)
    state = dict(zip(q, [0.6, 0.8])) | {x.diff(t): s * 0.5 for x, s in zip(q, (-0.8, 0.6))}
    point = {k: v for k, v in state.items() if k not in q} | {k: state[k] for k in q} | values
    ours = system.evaluate([*(state[x] for x in q), *(state[x.diff(t)] for x in q)], ).multipliers["c1"]
    mass, forcing = method.mass_matrix_full.subs(point), method.forcing_full.subs(point)
    whole = np.linalg.solve(np.array(mass, dtype=float), np.array(forcing, dtype=float)).ravel()
    theirs = float(next(iter(method.solve_multipliers(op_point=point).values())))
    q_ddot = system.evaluate([*(state[x] for x in q), *(state[x.diff(t)] for x in q)]).accelerations
    assert list(q_ddot.values()) == pytest.approx(whole[2:4]) and ours == pytest.approx(whole[4])
    # Newton's second law along x tells which sign is right.
    equations = system.to_sympy()
    left = (equations.M * sp.Matrix(list(q_ddot.values())) - equations.Q).subs(point)
    carried = (equations.A.T * ours).subs(point)
    assert np.allclose(np.array(left, dtype=float), np.array(carried, dtype=float))
    assert theirs == pytest.approx(-ours, rel=1e-9)


def test_joints_before_their_equations_are_formed() -> None:
    """A `JointsMethod` has bodies, joints and loads, and needs no equations of its own."""
    from sympy.physics.mechanics import JointsMethod, PinJoint, RigidBody, inertia

    q, u = dynamicsymbols("q u")
    m, l, J, g = sp.symbols("m l J g")
    wall, rod = RigidBody("wall"), RigidBody("rod", mass=m)
    rod.central_inertia = inertia(rod.frame, J, J, J)
    pin = PinJoint("pin", wall, rod, q, u, child_point=l / 2 * rod.y, joint_axis=wall.z)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method = JointsMethod(wall, pin)
    values = {m: 2.0, l: 1.5, J: 0.4}
    system = dalembert.System.from_sympy(method, parameters=values)
    assert system.coordinates == ["q"]
    found = system.to_sympy()
    assert sp.simplify(found.M[0] - (J + m * l**2 / 4)) == 0


def test_more_kinematic_equations_than_speeds() -> None:
    """Exercises 8.12 and 8.17 of Kane and Levinson, as SymPy has them: two wheels on an axle, whose
    rolling is told by the kinematic equations. What is left of these is a constraint."""
    kane = example("test_kane2.test_sub_qdot")
    names = "R M g e f theta a b mA mB IA J K IA22 IA23 IA33 Q1 Q2 Q3".split()
    random = np.random.default_rng(1)
    values = {sp.Symbol(name): float(x) for name, x in zip(names, random.uniform(0.5, 1.5, 19))}
    system = dalembert.System.from_sympy(kane, parameters=values)
    q, u, unseen = list(kane.q), list(kane.u), {x: 0 for x in kane._uaux}
    point = dict(zip(q + u, [0.3, 0.4, 0.5, 0.6, 0.7]))
    at = lambda expr: sp.Matrix(expr).subs(unseen).subs(point).subs(values).evalf()
    u_dot = at(kane.mass_matrix).LUsolve(at(kane.forcing))
    rates = sp.Matrix([kane.kindiffdict()[x.diff(t)] for x in q])
    v = np.array(at(rates), dtype=float).ravel()
    further = dict(zip([x.diff(t) for x in u], u_dot)) | dict(zip([x.diff(t) for x in q], v))
    right = np.array(at(rates.diff(t).subs({x.diff(t): 0 for x in kane._uaux}).subs(further)), dtype=float)
    n = len(system.coordinates)
    place, rate = np.zeros((2, n))
    place[:3], rate[:3] = [0.3, 0.4, 0.5], v
    a = system.function("jacobian")(0, place, rate)
    rate[3:] = np.linalg.lstsq(a[:, 3:], -a[:, :3] @ v)[0]
    assert system.function()(0, place, rate)[:3] == pytest.approx(right.ravel(), rel=1e-10)


def test_a_body_by_a_quaternion() -> None:
    """Four rates and three speeds: T is that of the body where the quaternion is a unit, which is
    all that counts. It turns as Euler's equations say."""
    from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, inertia

    e, w = list(dynamicsymbols("e0:4")), list(dynamicsymbols("w1:4"))
    A, B, C = sp.symbols("A B C")
    N, O = ReferenceFrame("N"), Point("O")
    R = N.orientnew("R", "Quaternion", e)
    omega = R.ang_vel_in(N)
    R.set_ang_vel(N, w[0] * R.x + w[1] * R.y + w[2] * R.z)
    O.set_vel(N, 0)
    kinematics = [omega.dot(axis) - speed for axis, speed in zip(R, w)]
    kinematics.append(sum(x * x.diff(t) for x in e))
    body = RigidBody("stone", O, R, sp.Symbol("m"), (inertia(R, A, B, C), O))
    kane = KanesMethod(
        N, e[1:], w, q_dependent=e[:1], kd_eqs=kinematics, bodies=[body],
        configuration_constraints=[sum(x * x for x in e) - 1], explicit_kinematics=False,
    )
    values = {A: 0.5, B: 0.8, C: 1.1, sp.Symbol("m"): 1.0}
    start = {"e0": 1, "e1'": 0.3, "e2'": 0.5, "e3'": 0.2}  # ω = 2 ė there.
    system = dalembert.System.from_sympy(kane, parameters=values, start=start)
    motion = system.simulate(3, tol=1e-10)
    assert motion.certificate.holds
    euler = dalembert.System(
        "param A = 0.5, B = 0.8, C = 1.1; coord x; state w1' = (B - C)*w2*w3/A, w2' = (C - A)*w3*w1/B,"
        "w3' = (A - B)*w1*w2/C; kinetic x'^2/2; start w1 = 0.6, w2 = 1, w3 = 0.4"
    ).simulate(3, tol=1e-10)
    q = {k: motion[f"e{k}"] for k in range(4)}
    v = {k: motion[f"e{k}'"] for k in range(4)}
    w1 = 2 * (q[0] * v[1] - q[1] * v[0] - q[2] * v[3] + q[3] * v[2])
    w3 = 2 * (q[0] * v[3] - q[3] * v[0] - q[1] * v[2] + q[2] * v[1])
    assert max(np.abs(euler["w1"] - w1).max(), np.abs(euler["w3"] - w3).max()) < 1e-7


def test_a_disc_with_a_wrong_acceleration() -> None:
    """SymPy's `test_aux` has the rolling disc with speeds of its contact point. The acceleration of
    the center is there that of a point fixed in the disc, as if the contact were one, and the
    equations are not those of `test_rolling_disc`. Brought over, both are the same disc."""
    found: list[Any] = []
    own = KanesMethod.kanes_equations

    def hook(self: Any, *arguments: Any, **more: Any) -> Any:
        result = own(self, *arguments, **more)
        found.append(self)
        return result

    KanesMethod.kanes_equations = hook  # type: ignore[method-assign]
    try:
        test_kane = importlib.import_module("sympy.physics.mechanics.tests.test_kane")
        test_kane.test_aux()
    finally:
        KanesMethod.kanes_equations = own  # type: ignore[method-assign]
    r, m, g = sp.symbols("r m g")
    values = {r: 0.7, m: 1.2, g: 9.81}
    disc = dalembert.System.from_sympy(example("test_kane.test_rolling_disc"), parameters=values)
    unseen = dalembert.System.from_sympy(found[1], parameters=values)
    lines = lambda system: sorted(line for line in system.text.splitlines() if "param" not in line)
    assert lines(unseen) == lines(disc)
    still = {x: 0 for x in found[1]._uaux}
    q, u = list(found[1].q), list(found[1].u)
    point = dict(zip(q + u, [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]))
    at = lambda expr: expr.subs({x.diff(t): 0 for x in still}).subs(still).subs(point).subs(values)
    right = example("test_kane.test_rolling_disc")
    assert abs(float((at(found[1].forcing) - at(right.forcing))[0].evalf())) > 0.1


def of_system(build: Callable[[Any, Any], dict[Any, float]], near: float = 0.5) -> dalembert.System:
    """A `System` of joints on a wall, whose own equations are held against ours."""
    from sympy.physics.mechanics import RigidBody, System

    wall = RigidBody("wall")
    system = System.from_newtonian(wall)
    values = build(system, wall)
    system.apply_uniform_gravity(-9.81 * wall.frame.y)
    # Before its equations are formed, and after.
    ours = dalembert.System.from_sympy(system, parameters=values)
    system.form_eoms()
    assert dalembert.System.from_sympy(system, parameters=values).text == ours.text
    agree(system.eom_method, values, near)
    return ours


def stone(name: str) -> Any:
    from sympy.physics.mechanics import RigidBody, inertia

    m, J = sp.symbols("m J")
    body = RigidBody(name, mass=m)
    body.central_inertia = inertia(body.frame, J, 2 * J, 3 * J, J / 10)
    return body


@pytest.mark.parametrize("kind", ["Pin", "Prismatic", "Cylindrical", "Planar", "Spherical"])
def test_every_joint(kind: str) -> None:
    from sympy.physics import mechanics

    def build(system: Any, wall: Any) -> dict[Any, float]:
        body, plate = stone("body"), stone("plate")
        joint = getattr(mechanics, f"{kind}Joint")
        more = {} if kind in ("Planar", "Spherical") else {"joint_axis": wall.frame.x}
        place = {"child_point": 0.3 * body.frame.y + 0.1 * body.frame.z}
        system.add_joints(
            joint("joint", wall, body, **place, **more),
            mechanics.WeldJoint("weld", body, plate, child_point=0.2 * plate.frame.x),
        )
        return {sp.Symbol("m"): 1.2, sp.Symbol("J"): 0.2}

    of_system(build)


def test_every_actuator() -> None:
    from sympy.physics.mechanics import (
        DuffingSpring,
        LinearDamper,
        LinearPathway,
        LinearSpring,
        PinJoint,
        Point,
        TorqueActuator,
    )

    torque = dynamicsymbols("torque")

    def build(system: Any, wall: Any) -> dict[Any, float]:
        rod, k, c, l, a = stone("rod"), *sp.symbols("k c l a")
        joint = PinJoint("pin", wall, rod, joint_axis=wall.frame.z, child_point=rod.frame.y / 2)
        system.add_joints(joint)
        far, anchor = Point("far"), Point("anchor")
        far.set_pos(rod.masscenter, -rod.frame.y / 2)
        far.v2pt_theory(rod.masscenter, wall.frame, rod.frame)
        anchor.set_pos(wall.masscenter, 1.5 * wall.frame.x)
        anchor.set_vel(wall.frame, 0)
        path = LinearPathway(far, anchor)
        system.add_actuators(
            TorqueActuator.at_pin_joint(torque, joint),
            LinearSpring(k, path, l),
            LinearDamper(c, path),
            DuffingSpring(k, a, path, l),
        )
        return {sp.Symbol("m"): 1.2, sp.Symbol("J"): 0.2, k: 3.0, c: 0.4, l: 0.9, a: 0.7, torque: 0.35}

    assert of_system(build).inputs == {"torque": "0.35"}


@pytest.mark.parametrize("kind", ["WrappingCylinder", "WrappingSphere"])
def test_a_spring_around_a_drum_pulls(kind: str) -> None:
    """SymPy's loads of a `WrappingPathway` are those of the opposite force: their power is not the
    force times the rate of the length, and the spring pushes. The work on its length is right."""
    from sympy.physics import mechanics
    from sympy.physics.mechanics import LinearSpring, PinJoint, RigidBody, System, WrappingPathway

    turn = dynamicsymbols("turn")
    J, R, k = sp.symbols("J R k", positive=True)
    wall, drum = RigidBody("wall"), RigidBody("drum", mass=1)
    drum.central_inertia = mechanics.inertia(drum.frame, J, J, J)
    system = System.from_newtonian(wall)
    system.add_joints(PinJoint("axle", wall, drum, turn, joint_axis=wall.frame.z))
    fixed = wall.masscenter.locatenew("fixed", R * wall.frame.x)
    fixed.set_vel(wall.frame, 0)
    end = drum.masscenter.locatenew("end", R * drum.frame.x)
    end.v2pt_theory(drum.masscenter, wall.frame, drum.frame)
    axis = [wall.frame.z] if kind == "WrappingCylinder" else []
    cord = WrappingPathway(fixed, end, getattr(mechanics, kind)(R, wall.masscenter, *axis))
    system.add_actuators(LinearSpring(k, cord))
    values = {J: 0.5, R: 0.7, k: 2.0}
    ours = dalembert.System.from_sympy(system, parameters=values)
    assert ours.evaluate({"turn": 0.4}).accelerations["turn"] == pytest.approx(-2 * 0.49 * 0.4 / 0.5)
    # What its energy ½ k ℓ² says.
    by_energy = dalembert.System.from_sympy(
        [turn], T=J * turn.diff(t) ** 2 / 2, V=k * cord.length**2 / 2, parameters=values
    )
    for angle in (0.2, 1.1, 2.5):
        right = by_energy.evaluate({"turn": angle}).accelerations["turn"]
        assert ours.evaluate({"turn": angle}).accelerations["turn"] == pytest.approx(right)


def test_speeds_of_a_system_that_make_reactions_visible() -> None:
    from sympy.physics.mechanics import Particle, Point, ReferenceFrame, System

    q, u, unseen, pull = dynamicsymbols("q u unseen pull")
    m, g, l = sp.symbols("m g l")
    system, rod = System(), ReferenceFrame("rod")
    rod.orient_axis(system.frame, system.z, q)
    rod.set_ang_vel(system.frame, u * system.z)
    bob = Particle("bob", Point("bob"), m)
    bob.masscenter.set_pos(system.fixed_point, -l * rod.y)
    bob.masscenter.set_vel(system.frame, l * u * rod.x + unseen * rod.y)
    system.add_bodies(bob)
    system.q_ind, system.u_ind, system.u_aux = [q], [u], [unseen]
    system.add_kdes(q.diff(t) - u)
    system.add_loads((bob.masscenter, -m * g * system.y), (bob.masscenter, pull * rod.y))
    ours = dalembert.System.from_sympy(system, parameters={m: 2.0, g: 9.81, l: 0.8})
    assert (ours.coordinates, ours.inputs) == (["q"], {})
    assert ours.evaluate({"q": 0.3}).accelerations["q"] == pytest.approx(-9.81 / 0.8 * np.sin(0.3))
