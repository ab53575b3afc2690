"""What SymPy's ``KanesMethod``, ``JointsMethod`` and ``System`` were made of, as T, forces and
constraints.

They know bodies by velocities in terms of speeds u, and the kinematic equations that tie u to the
rates of q. With these, velocities are functions of q and q̇, and loads are generalized forces by
the partial velocities of where they act.

Two things may be missing, and Lagrange's equations of T would be wrong without them:

- A speed without a kinematic equation (the spin of a wheel whose angle matters to nothing) is the
  rate of a coordinate that is added.
- If rolling was put into the velocities beforehand, the velocity of a body is not the rate of a
  position. T of what is left is not the system's. So the center of the body gets coordinates of
  its own, and ẋ = v are constraints: the rolling that was put in, brought back. Other bodies are
  seen from this one where that is enough.

Whether T is right is not looked for in frames and positions, but tried. For the velocity w of a
body and its momentum p, Lagrange's derivative of T is the inertia force in the direction of each
coordinate,

    d/dt ∂T/∂q̇ᵢ − ∂T/∂qᵢ = ∂w/∂q̇ᵢ · f,   f = m v̇  or  I·ω̇ + ω × I·ω,

which is what Kane's equations have; both sides are compared at random states in extended
precision. Where they differ at states that the constraints do not allow (a quaternion that is no
unit, say), those that they allow are tried, in directions that they allow, which is all that counts. Source: Kane and Levinson, Dynamics: Theory and Applications (1985), ch. 4 and 6.
"""

from __future__ import annotations

import random
from typing import Any

import mpmath
import sympy as sp
from sympy.physics.mechanics import Point, RigidBody, dynamicsymbols

from .errors import ArgumentError

#: States at which both sides are compared, digits, the step of differences, what is no difference.
_TRIALS, _DIGITS = 2, 60
_STEP, _AGREE = mpmath.mpf(10) ** -15, mpmath.mpf(10) ** -12
#: Constraints hold up to this, after no more than so many turns of Newton's method; rows below this
#: follow from others.
_ON, _TURNS, _FOLLOWS = mpmath.mpf(10) ** -25, 40, mpmath.mpf(10) ** -9


def pieces(method: Any) -> tuple[list[Any], Any, list[Any], list[Any], dict[Any, Any]]:
    """Coordinates, T, constraints and generalized forces of any of them, and what their speeds are
    in terms of rates."""
    time = dynamicsymbols._t
    frame, bodies, loads, pulls, speeds_of, positions, rates = _parts(method, time)
    q, of_rates, left = _speeds(list(method.q), list(method.u), speeds_of, time)
    # Speeds that only make reactions visible are none.
    unseen = getattr(method, "_uaux", None) or getattr(method, "u_aux", None) or []
    of_rates |= {speed: sp.S.Zero for speed in unseen}

    def in_rates(expr: Any) -> Any:
        return sp.sympify(expr).xreplace(of_rates)

    positions, rates = [sp.sympify(row) for row in positions], [*map(in_rates, rates), *left]
    held = _Held(positions, rates, time)
    kinetic = sp.S.Zero
    added: list[Any] = []
    tied: list[Any] = []
    base: Any = None
    for body in bodies:
        center = body.masscenter
        velocity = in_rates(center.vel(frame).to_matrix(frame))
        mass = sp.sympify(body.mass)
        if getattr(body, "is_rigidbody", isinstance(body, RigidBody)):
            kinetic += _rotation(body, frame, in_rates, q, held)
        if mass == 0:
            continue
        moves = velocity
        if not _is_right(velocity, sp.eye(3), q, held, turns=False):
            if base is None or not _is_rate(velocity - base, q, time):
                base = velocity
                own = _center(_word(str(body.name)) or "body", [*q, *added])
                added += own
                tied += [x.diff(time) - v for x, v in zip(own, velocity)]
            moves = sp.Matrix([x.diff(time) for x in added[-3:]]) + (velocity - base)
        kinetic += mass * (moves.T * moves)[0] / 2
    dots = [coordinate.diff(time) for coordinate in q]
    forces = sp.zeros(len(q), 1)
    for load in loads:
        place, vector = tuple(load)
        place = getattr(place, "masscenter", place)
        moves = place.vel(frame) if isinstance(place, Point) else place.ang_vel_in(frame)
        partial = in_rates(moves.to_matrix(frame)).jacobian(dots)
        forces += partial.T * in_rates(vector.to_matrix(frame))
    for force, length in pulls:
        forces += sp.Matrix([length]).jacobian(q).T * in_rates(force)
    rows = [row for row in positions + rates + tied if row != 0]
    return q + added, kinetic, rows, [*forces, *(sp.S.Zero for _ in added)], of_rates


def _parts(
    method: Any, time: Any
) -> tuple[Any, list[Any], list[Any], list[tuple[Any, Any]], Any, list[Any], list[Any]]:
    """Frame, bodies, loads, forces with the lengths that they do work on, kinematic equations,
    constraints of positions and of speeds."""
    if hasattr(method, "_inertial"):  # A KanesMethod.
        if not method.bodylist:
            raise ArgumentError(
                "the KanesMethod has no bodies yet: give it `bodies=`, or call `kanes_equations`"
            )
        k, ku, f = method._k_kqdot_implicit, method._k_ku_implicit, method._f_k_implicit
        speeds_of = k * method.q.diff(time) + ku * method.u + f
        rates = list(method._k_nh * method.u + method._f_nh) if method._k_nh else []
        loads = list(method.forcelist or [])
        return method._inertial, list(method.bodylist), loads, [], speeds_of, list(method._f_h), rates
    loads, pulls = list(method.loads), []
    for actuator in getattr(method, "actuators", ()):
        if type(getattr(actuator, "pathway", None)).__name__ == "WrappingPathway":
            # SymPy's loads of it are those of the opposite force: a spring would push where it pulls.
            # The work on its length is right in any case.
            pulls.append((actuator.force, actuator.pathway.length))
        else:
            loads += actuator.to_loads()
    positions = list(getattr(method, "holonomic_constraints", ()))
    rates = list(getattr(method, "nonholonomic_constraints", ()))
    return method.frame, list(method.bodies), loads, pulls, sp.Matrix(method.kdes), positions, rates


def _speeds(
    q: list[Any], u: list[Any], speeds_of: Any, time: Any
) -> tuple[list[Any], dict[Any, Any], list[Any]]:
    """All coordinates, the speeds as functions of their rates, and what is left of the kinematic
    equations where there are more of them than speeds: constraints on rates."""
    slopes = speeds_of.jacobian(u)
    free = [at for at in range(len(u)) if all(entry == 0 for entry in slopes.col(at))]
    own = [at for at in range(len(u)) if at not in free]
    rows, spare = list(range(slopes.rows)), []
    if slopes.rows > len(own):
        generator = random.Random(3)
        symbols = sorted(slopes.free_symbols | slopes.atoms(sp.core.function.AppliedUndef), key=str)
        some = {symbol: sp.Rational(generator.randint(100, 900), 1000) for symbol in symbols}
        at_random = slopes.extract(rows, own).xreplace(some)
        rows = list(at_random.T.rref()[1])
        spare = [row for row in range(slopes.rows) if row not in rows]
    if len(rows) != len(own):
        raise ArgumentError(f"{slopes.rows} kinematic equations do not give {len(own)} speeds")
    rest = speeds_of.xreplace({speed: sp.S.Zero for speed in u})
    found = -slopes.extract(rows, own).LUsolve(rest.extract(rows, [0])) if rows else []
    of_rates = {u[at]: value for at, value in zip(own, found)}
    turns = [dynamicsymbols(f"turn_{_word(str(u[at].func))}") for at in free]
    of_rates |= {u[at]: turn.diff(time) for at, turn in zip(free, turns)}
    return q + turns, of_rates, [sp.sympify(speeds_of[row]).xreplace(of_rates) for row in spare]


def _center(name: str, taken: list[Any]) -> list[Any]:
    """Coordinates of a body's center, by names that nothing has."""
    own = [dynamicsymbols(f"{name}_{axis}") for axis in "xyz"]
    return _center(f"{name}_", taken) if set(own) & set(taken) else own


def _word(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)


def _rotation(body: Any, frame: Any, in_rates: Any, q: list[Any], held: _Held) -> Any:
    omega = in_rates(body.frame.ang_vel_in(frame).to_matrix(frame))
    tensor = in_rates(body.central_inertia.to_matrix(frame))
    if all(x == 0 for x in omega) or all(x == 0 for x in tensor):
        return sp.S.Zero
    if not _is_right(omega, tensor, q, held, turns=True):
        raise ArgumentError(
            f"{body.name}: its angular velocity is not that of an orientation which the "
            "coordinates give. Constraints that were put into it cannot be read off: bring all "
            "coordinates, T, V and the constraints themselves"
        )
    # In the frame of the body the same number has fewer terms.
    omega = body.frame.ang_vel_in(frame)
    return in_rates(omega.dot(body.central_inertia.dot(omega))) / 2


class _Held:
    """Constraints: what vanishes of positions, and of rates."""

    def __init__(self, positions: list[Any], rates: list[Any], time: Any) -> None:
        self.time = time
        self.positions = sp.Matrix([row for row in positions if row != 0] or [0])
        rates = [row.diff(time) for row in positions] + rates
        self.rates = sp.Matrix([row for row in rates if row != 0] or [0])

    def __bool__(self) -> bool:
        return any(row != 0 for row in self.rates)


class _Numbers:
    """Matrices of q, q̇ and t as functions in extended precision, with numbers for parameters."""

    def __init__(self, matrices: list[Any], q: list[Any], time: Any):
        slots = {x.diff(time): sp.Dummy() for x in q} | {x: sp.Dummy() for x in q}
        plain = [m.xreplace(slots) for m in matrices]
        # What is given from outside is any function of time.
        driven = {f for m in plain for f in m.atoms(sp.core.function.AppliedUndef)}
        if driven:
            taken = {
                f: _some_function(at, time)
                for at, f in enumerate(sorted(driven, key=str))
                if f.args == (time,)
            }
            plain = [m.subs(taken).doit() for m in plain]
        own = [*slots.values(), time]
        free = sorted({s for m in plain for s in m.free_symbols} - set(own), key=str)
        undone = {f for m in plain for f in m.atoms(sp.core.function.AppliedUndef)}
        if undone:
            raise ArgumentError(f"{min(map(str, undone))} is none of the coordinates")
        order = [slots[x] for x in q] + [slots[x.diff(time)] for x in q] + [time, *free]
        self.function = sp.lambdify(order, plain, modules="mpmath", cse=True)
        self.count = len(free)
        self.values: list[Any] = []

    def __call__(self, q: list[Any], dots: list[Any], t: Any) -> list[Any]:
        return [mpmath.matrix(m) for m in self.function(*q, *dots, t, *self.values)]


def _some_function(at: int, time: Any) -> Any:
    """A function of time that nothing else is."""
    generator = random.Random(at)
    return sum(sp.Rational(generator.randint(100, 900), 1000) * time**k for k in range(3))


def _is_right(w: Any, weight: Any, q: list[Any], held: _Held, *, turns: bool) -> bool:
    """Whether Lagrange's equations of T = ½ w·weight·w are those of the body: at any state, or at
    those that the constraints allow, for displacements that they allow."""

    def size(*at: Any) -> Any:
        return max(map(abs, _residual(*at, turns=turns)))

    if _tried([w, weight], q, held.time, size):
        return True
    if not held:
        return False

    def size_along(f: _Numbers, q: list[Any], v: list[Any], a: list[Any], t: Any) -> Any:
        state = _on(f, q, v, a, t)
        if state is None:
            return mpmath.inf
        q, v, a, across = state
        found = _residual(f, q, v, a, t, turns=turns)
        for e in across:
            part = mpmath.fdot(e, found)
            found = [x - part * y for x, y in zip(found, e)]
        return max(map(abs, found))

    return _tried([w, weight, held.positions, held.rates], q, held.time, size_along)


def _is_rate(w: Any, q: list[Any], time: Any) -> bool:
    """Whether each component is the rate of some function of q and t."""

    def residual(f: _Numbers, q: list[Any], v: list[Any], a: list[Any], t: Any) -> Any:
        worst = mpmath.mpf(0)
        for i in range(len(q)):
            slope = lambda q, v, t: _along_rate(lambda v: f(q, v, t)[0], v, i)
            left = _in_time(slope, q, v, a, t) - _along(lambda q: f(q, v, t)[0], q, i)
            worst = max(worst, mpmath.norm(left, mpmath.inf))
        return worst

    return _tried([w], q, time, residual)


def _tried(matrices: list[Any], q: list[Any], time: Any, residual: Any) -> bool:
    generator = random.Random(1)

    def number() -> Any:
        return mpmath.mpf(generator.randint(100, 900)) / 1000

    with mpmath.workdps(_DIGITS):
        f = _Numbers(matrices, q, time)
        for _ in range(_TRIALS):
            f.values = [number() for _ in range(f.count)]
            places, dots, ddots = ([number() for _ in q] for _ in range(3))
            if not residual(f, places, dots, ddots, number()) <= _AGREE:
                return False
    return True


def _residual(
    f: _Numbers, q: list[Any], v: list[Any], a: list[Any], t: Any, *, turns: bool
) -> Any:
    """The difference of both sides, in the direction of each coordinate."""

    def energy(q: list[Any], v: list[Any], t: Any) -> Any:
        w, weight, *_ = f(q, v, t)
        return (w.T * weight * w)[0] / 2

    w, weight, *_ = f(q, v, t)
    force = weight * _in_time(lambda *at: f(*at)[0], q, v, a, t)
    if turns:
        force += _cross(w, weight * w)
    found = []
    for i in range(len(q)):
        # T is quadratic in the rates: this difference is exact.
        slope = lambda q, v, t: _along_rate(lambda v: energy(q, v, t), v, i)
        left = _in_time(slope, q, v, a, t) - _along(lambda q: energy(q, v, t), q, i)
        direction = _along_rate(lambda v: f(q, v, t)[0], v, i)
        found.append(left - (direction.T * force)[0])
    return found


def _on(
    f: _Numbers, q: list[Any], v: list[Any], a: list[Any], t: Any
) -> tuple[list[Any], list[Any], list[Any], list[list[Any]]] | None:
    """The state near this one that satisfies the constraints, with its accelerations; and what spans
    the directions across them. `None` if there is none near."""

    def columns(slopes: list[Any]) -> list[list[Any]]:
        return [[slope[row] for slope in slopes] for row in range(len(slopes[0]))]

    for _ in range(_TURNS):
        rest = f(q, v, t)[2]
        if mpmath.norm(rest, mpmath.inf) < _ON:
            break
        slopes = [_along(lambda x: f(x, v, t)[2], q, i) for i in range(len(q))]
        q = [x + y for x, y in zip(q, _least(columns(slopes), rest)[0])]
    else:
        return None
    for _ in range(_TURNS):
        rest = f(q, v, t)[3]
        slopes = [_along_rate(lambda x: f(q, x, t)[3], v, i) for i in range(len(q))]
        step, across = _least(columns(slopes), rest)
        if mpmath.norm(rest, mpmath.inf) < _ON:
            break
        v = [x + y for x, y in zip(v, step)]
    else:
        return None
    for _ in range(2):
        rest = _in_time(lambda *at: f(*at)[3], q, v, a, t)
        a = [x + y for x, y in zip(a, _least(columns(slopes), rest)[0])]
    return q, v, a, across


def _least(rows: list[list[Any]], rest: Any) -> tuple[list[Any], list[list[Any]]]:
    """The shortest step that takes the rest away, and unit vectors that span the rows."""
    step = [mpmath.mpf(0)] * len(rows[0])
    units: list[list[Any]] = []
    for row, off in zip(rows, rest):
        off = -off - mpmath.fdot(row, step)
        for e in units:
            part = mpmath.fdot(row, e)
            row = [x - part * y for x, y in zip(row, e)]
        size = mpmath.sqrt(mpmath.fdot(row, row))
        if size < _FOLLOWS:  # It follows from those before.
            continue
        e = [x / size for x in row]
        units.append(e)
        step = [x + off / size * y for x, y in zip(step, e)]
    return step, units


def _moved(x: list[Any], i: int, by: Any) -> list[Any]:
    return [value + by if at == i else value for at, value in enumerate(x)]


def _along(g: Any, x: list[Any], i: int) -> Any:
    return (g(_moved(x, i, _STEP)) - g(_moved(x, i, -_STEP))) / (2 * _STEP)


def _along_rate(g: Any, v: list[Any], i: int) -> Any:
    return (g(_moved(v, i, 1)) - g(_moved(v, i, -1))) / 2


def _in_time(g: Any, q: list[Any], v: list[Any], a: list[Any], t: Any) -> Any:
    def at(s: Any) -> Any:
        places = [x + s * y + s * s * z / 2 for x, y, z in zip(q, v, a)]
        return g(places, [y + s * z for y, z in zip(v, a)], t + s)

    return (at(_STEP) - at(-_STEP)) / (2 * _STEP)


def _cross(a: Any, b: Any) -> Any:
    return mpmath.matrix(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )
