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
    return andrews(f, q, v)


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
