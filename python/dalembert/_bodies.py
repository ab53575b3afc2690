"""What SymPy's ``KanesMethod`` and ``System`` were made of, as T, forces and constraints.

Both know bodies by their velocities in terms of speeds u, and the kinematic equations that tie u
to the rates of q. With these, T is a function of q and q̇, and loads are generalized forces by
the partial velocities of where they act. That is the system itself only if the velocities are the
rates of positions and orientations. Where rolling was put into the velocities beforehand they are
not, and Lagrange's equations of that T are wrong; this is found out with numbers, at random states,
and refused.
"""

from __future__ import annotations

import random
from typing import Any

import sympy as sp
from sympy.physics.mechanics import Point, dynamicsymbols

from .errors import ArgumentError

#: States at which velocities are compared with the rates of positions.
_TRIALS = 3
_AGREE = 1e-9


def pieces(method: Any) -> tuple[list[Any], Any, list[Any], list[Any]]:
    """Coordinates, T, constraints and generalized forces of either."""
    if hasattr(method, "kdes"):
        frame, bodies, loads = method.frame, list(method.bodies), list(method.loads)
        speeds_of = sp.Matrix(method.kdes)
        positions = list(method.holonomic_constraints)
        rates = list(method.nonholonomic_constraints)
        fixed = [method.fixed_point]
    else:
        frame, bodies, loads = method._inertial, method.bodylist, method.forcelist
        if not bodies:
            raise ArgumentError("the KanesMethod has no bodies yet: call its `kanes_equations`")
        k, ku, f = method._k_kqdot_implicit, method._k_ku_implicit, method._f_k_implicit
        speeds_of = k * method.q.diff(dynamicsymbols._t) + ku * method.u + f
        positions = list(method._f_h)
        rates = list(method._k_nh * method.u + method._f_nh) if method._k_nh else []
        fixed = []
    q, u = list(method.q), list(method.u)
    time = dynamicsymbols._t
    slopes = speeds_of.jacobian(u)
    rest = speeds_of.subs({speed: 0 for speed in u})
    if slopes.rows != slopes.cols:
        raise ArgumentError(f"{slopes.rows} kinematic equations do not give {slopes.cols} speeds")
    of_rates = dict(zip(u, -slopes.LUsolve(rest)))
    auxiliary = {speed: 0 for speed in getattr(method, "_uaux", None) or []}

    def in_rates(expr: Any) -> Any:
        return sp.sympify(expr).subs(auxiliary).subs(of_rates)

    for body in bodies:
        _refuse_substituted(body, frame, fixed, in_rates, q, time)
    kinetic = sum(in_rates(body.kinetic_energy(frame)) for body in bodies)
    dots = [coordinate.diff(time) for coordinate in q]
    forces = sp.zeros(len(q), 1)
    for load in loads or []:
        place, vector = tuple(load)
        moves = place.vel(frame) if isinstance(place, Point) else place.ang_vel_in(frame)
        partial = in_rates(moves.to_matrix(frame)).jacobian(dots)
        forces += partial.T * in_rates(vector.to_matrix(frame))
    return q, kinetic, positions + [in_rates(row) for row in rates], list(forces)


def _refuse_substituted(
    body: Any, frame: Any, fixed: list[Any], in_rates: Any, q: list[Any], time: Any
) -> None:
    """Refuses a body whose velocity is not the rate of its position, or of its orientation."""
    center = getattr(body, "masscenter", None) or body.point
    origin = next((p for p in fixed if p is not None), None) or _at_rest(center, frame)
    pairs = []
    if origin is None:
        raise _refusal(body, "its position from a point at rest is not known")
    place = center.pos_from(origin).to_matrix(frame)
    pairs.append((in_rates(center.vel(frame).to_matrix(frame)), place.diff(time)))
    if hasattr(body, "frame"):
        turn = frame.dcm(body.frame)
        spin = turn.diff(time) * turn.T
        omega = sp.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
        pairs.append((in_rates(body.frame.ang_vel_in(frame).to_matrix(frame)), omega))
    generator = random.Random(1)
    for said, found in pairs:
        difference = (said - found).doit()
        for _ in range(_TRIALS):
            point = {c.diff(time): generator.uniform(-1, 1) for c in q}
            point |= {c: generator.uniform(-1, 1) for c in q}
            value = difference.subs(point)
            symbols = sorted(value.free_symbols, key=str)
            value = value.subs({s: generator.uniform(0.5, 1.5) for s in symbols})
            if max(abs(complex(x)) for x in value.evalf()) > _AGREE:
                raise _refusal(body, "its velocity is not the rate of its position")


def _at_rest(center: Any, frame: Any) -> Any:
    """A point without velocity that positions lead to."""
    seen, open_ = {center}, [center]
    while open_:
        point = open_.pop()
        if frame in point._vel_dict and point._vel_dict[frame] == 0:
            return point
        for other in point._pos_dict:
            if other not in seen:
                seen.add(other)
                open_.append(other)
    return None


def _refusal(body: Any, why: str) -> ArgumentError:
    return ArgumentError(
        f"{body.name}: {why}. Constraints that were put into the velocities cannot be read off: "
        "bring all coordinates, T, V and the constraints themselves"
    )
