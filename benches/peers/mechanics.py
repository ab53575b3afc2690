"""The problems of the comparison as T, V, forces and constraints, for any tool that has sin, cos
and sqrt of symbols; and their elimination by hand, for tools that know no constraints."""

import json
import pathlib

FOLDER = pathlib.Path(__file__).parent
REFERENCES = json.loads((FOLDER / "references.json").read_text())

# Name: end, asked error, start of q, start of v.
MOTIONS = {
    "spherical": (10.0, 1e-13, [0.84147098480789650665, 0.0, -0.54030230586813971740], [0.0, 1.5, 0.0]),
    "knife-edge": (10.0, 3e-14, [0.0, 0.0, 0.0], [1.0, 0.0, 1.0]),
    "two-particles": (10.0, 1e-13, [0.5, 0.0, -0.5, 0.0], [0.0, 1.0, 0.0, -0.5]),
    "andrews": (
        0.03,
        1e-13,
        [
            -0.0617138900142764496,
            0.0,
            0.455279819163070380,
            0.222668390165885885,
            0.487364979543842550,
            -0.222668390165885885,
            1.23054744454982119,
        ],
        [0.0] * 7,
    ),
    "whipple": (
        5.0,
        1e-12,
        [0.0, 0.0, -0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        # What the rolling conditions leave of x' = 4.6, roll' = 0.5.
        [4.6, 0.15, 0.0, -0.09765495172897588, 0.5, 0.0, -1.3091762825985778, -4.6 / 0.3, -4.6 / 0.35],
    ),
    "euler-top": (20.0, 1e-11, [1.0, 0.0, 0.0, 0.0], [0.0, 0.05, 1.0, 0.05]),
}


def error(name, q):
    """The largest error of a position, relative to the largest of them or one."""
    right = REFERENCES[name]
    size = max(1.0, max(abs(x) for x in right))
    return max(abs(a - b) for a, b in zip(q, right)) / size


def model(name, f, q, v):
    """T, V, forces beside V, position constraints, velocity constraints. `f` has the functions."""
    sin, cos, sqrt = f
    none = [0.0] * len(q)
    if name == "spherical":
        kinetic = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        return kinetic, 9.81 * q[2], none, [q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - 1.0], []
    if name == "knife-edge":
        s, c = sin(q[2]), cos(q[2])
        kinetic = v[0] * v[0] + v[1] * v[1] + 0.5 * v[2] * v[2] - v[0] * v[2] * s + v[1] * v[2] * c
        return kinetic, 0.0 * q[0], none, [], [v[1] * c - v[0] * s]
    if name == "two-particles":
        dx, dy = q[0] - q[2], q[1] - q[3]
        kinetic = 0.5 * (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2] + v[3] * v[3]
        # The distance follows from the other two, and no peer takes dependent rows.
        rows = [dx * v[0] + dy * v[1], dx * v[2] + dy * v[3]]
        return kinetic, 4.905 * (q[1] + 2.0 * q[3]), none, [], rows
    return whipple(f, q, v) if name == "whipple" else andrews(f, q, v)


def by_hand(name, q, v):
    """Accelerations that need no elimination; the mass matrix of quaternions is singular."""
    if name != "euler-top":
        return None
    half = lambda e, w: [
        0.5 * (-e[1] * w[0] - e[2] * w[1] - e[3] * w[2]),
        0.5 * (e[0] * w[0] + e[2] * w[2] - e[3] * w[1]),
        0.5 * (e[0] * w[1] + e[3] * w[0] - e[1] * w[2]),
        0.5 * (e[0] * w[2] + e[1] * w[1] - e[2] * w[0]),
    ]
    w = [
        2.0 * (-q[1] * v[0] + q[0] * v[1] + q[3] * v[2] - q[2] * v[3]),
        2.0 * (-q[2] * v[0] - q[3] * v[1] + q[0] * v[2] + q[1] * v[3]),
        2.0 * (-q[3] * v[0] + q[2] * v[1] - q[1] * v[2] + q[0] * v[3]),
    ]
    rate = [-w[1] * w[2], w[2] * w[0], -w[0] * w[1] / 3.0]
    return [a + b for a, b in zip(half(v, w), half(q, rate))]


def andrews(f, q, v):
    sin, cos, sqrt = f
    beta, theta, gamma, phi, delta, omega, epsilon = q
    b1, t1, g1, p1, d1, o1, e1 = v
    l4, l6, d, e, rr, zt, zf, u = 0.02 - 0.01421, 0.02 - 0.01421, 0.028, 0.02, 0.007, 0.04, 0.02, 0.04
    kinetic = 0.5 * (0.04325 * 0.00092**2 + 2.194e-6) * b1 * b1
    kinetic += 0.5 * 0.00365 * (
        rr**2 * b1 * b1 - 2 * 0.0115 * rr * cos(theta) * b1 * (b1 + t1) + 0.0115**2 * (b1 + t1) * (b1 + t1)
    )
    kinetic += 0.5 * 4.410e-7 * (b1 + t1) * (b1 + t1)
    kinetic += 0.5 * (0.02373 * (0.01874**2 + 0.01043**2) + 5.255e-6) * g1 * g1
    kinetic += 0.5 * 0.00706 * (
        l4**2 * (p1 + d1) * (p1 + d1) + 2 * zt * l4 * sin(phi) * d1 * (p1 + d1) + zt**2 * d1 * d1
    )
    kinetic += 0.5 * 5.667e-7 * (p1 + d1) * (p1 + d1)
    kinetic += 0.5 * (0.07050 * (0.02308**2 + 0.00916**2) + 1.169e-5) * d1 * d1
    kinetic += 0.5 * 0.00706 * (
        l6**2 * (o1 + e1) * (o1 + e1) - 2 * u * l6 * sin(omega) * e1 * (o1 + e1) + u**2 * e1 * e1
    )
    kinetic += 0.5 * 5.667e-7 * (o1 + e1) * (o1 + e1)
    kinetic += 0.5 * (0.05498 * (0.01228**2 + 0.00449**2) + 1.912e-5) * e1 * e1
    xd = 0.02 * cos(gamma) + 0.018 * sin(gamma) - 0.03635 - 0.014
    yd = 0.02 * sin(gamma) - 0.018 * cos(gamma) + 0.03273 - 0.072
    spring = sqrt(xd * xd + yd * yd) - 0.07785
    x = rr * cos(beta) - d * cos(beta + theta)
    y = rr * sin(beta) - d * sin(beta + theta)
    rows = [
        x - 0.035 * sin(gamma) + 0.03635,
        y + 0.035 * cos(gamma) - 0.03273,
        x - e * sin(phi + delta) - zt * cos(delta) + 0.06934,
        y + e * cos(phi + delta) - zt * sin(delta) + 0.00227,
        x - zf * cos(omega + epsilon) - u * sin(epsilon) + 0.06934,
        y - zf * sin(omega + epsilon) + u * cos(epsilon) + 0.00227,
    ]
    return kinetic, 0.5 * 4530.0 * spring * spring, [0.033] + [0.0] * 6, rows, []


def dot(a, b):
    terms = [x * y for x, y in zip(a, b)]
    return sum(terms[1:], terms[0])


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def plus(*vectors):
    return [sum(x[1:], x[0]) for x in zip(*vectors)]


def times(a, b):
    columns = list(zip(*b)) if isinstance(b[0], (list, tuple)) else None
    return [dot(row, b) if columns is None else [dot(row, c) for c in columns] for row in a]


def turn(f, axis, angle):
    s, c = f[0](angle), f[1](angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    m = [[0.0] * 3 for _ in range(3)]
    m[axis][axis], m[i][i], m[j][j], m[i][j], m[j][i] = 1.0, c, c, -s, s
    return m


def whipple(f, q, v):
    """The bicycle of Meijaard et al. (2007), as in the gallery: two wheels, frame and fork."""
    import math

    scale = lambda c, a: [c * x for x in a]
    column = lambda m, k: [row[k] for row in m]
    lam, w, c, r_rear, r_front = math.pi / 10, 1.02, 0.08, 0.3, 0.35
    tilt = turn((math.sin, math.cos), 1, lam)
    back = [list(row) for row in zip(*tilt)]
    yawed = turn(f, 2, q[3])
    rolled = times(yawed, turn(f, 0, q[4]))
    frame = times(rolled, turn(f, 1, q[5]))
    tilted = times(frame, tilt)
    fork = times(times(tilted, turn(f, 2, q[6])), back)
    w_frame = plus(scale(v[3], [0.0, 0.0, 1.0]), scale(v[4], column(yawed, 0)), scale(v[5], column(rolled, 1)))
    w_fork = plus(w_frame, scale(v[6], column(tilted, 2)))
    w_rear = plus(w_frame, scale(v[7], column(frame, 1)))
    w_front = plus(w_fork, scale(v[8], column(fork, 1)))
    hub, v_hub = list(q[:3]), list(v[:3])

    def point(start, matrix, spin, arm):
        """Where an arm of a body ends, and its velocity."""
        arm = times(matrix, arm)
        return plus(start[0], arm), plus(start[1], cross(spin, arm))

    head = point((hub, v_hub), frame, w_frame, [w + c, 0.0, r_rear])
    front = point(head, fork, w_fork, [-c, 0.0, -r_front])
    rider = point((hub, v_hub), frame, w_frame, [0.3, 0.0, -0.9 + r_rear])
    bars = point(head, fork, w_fork, [0.9 - w - c, 0.0, -0.7])
    # A wheel turns about its own axis: its inertia is that of the axes it is mounted in.
    bodies = [
        (2.0, [[0.0603, 0, 0], [0, 0.12, 0], [0, 0, 0.0603]], (hub, v_hub), frame, w_rear),
        (85.0, [[9.2, 0, 2.4], [0, 11.0, 0], [2.4, 0, 2.8]], rider, frame, w_frame),
        (4.0, [[0.05892, 0, -0.00756], [0, 0.06, 0], [-0.00756, 0, 0.00708]], bars, fork, w_fork),
        (3.0, [[0.1405, 0, 0], [0, 0.28, 0], [0, 0, 0.1405]], front, fork, w_front),
    ]
    kinetic, potential = 0.0, 0.0
    for mass, inertia, (place, velocity), matrix, spin in bodies:
        own = [dot(column(matrix, k), spin) for k in range(3)]
        for i in range(3):
            for j in range(i, 3):
                if inertia[i][j]:
                    kinetic = kinetic + (0.5 if i == j else 1.0) * inertia[i][j] * own[i] * own[j]
        kinetic = kinetic + 0.5 * mass * dot(velocity, velocity)
        potential = potential - 9.81 * mass * place[2]

    def contact(axis, radius, velocity, spin):
        """The velocity of a wheel where it touches the ground."""
        down = plus([0.0, 0.0, 1.0], scale(-axis[2], axis))
        arm = scale(radius / f[2](dot(down, down)), down)
        return plus(velocity, cross(spin, arm))

    rows = contact(column(frame, 1), r_rear, v_hub, w_rear)
    rows += contact(column(fork, 1), r_front, front[1], w_front)
    return kinetic, potential, [0.0] * 9, [], rows
