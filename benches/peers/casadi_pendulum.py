"""The N-link planar pendulum in CasADi: seconds from nothing to M and F.

    pip install casadi
    python benches/peers/casadi_pendulum.py 10 20 50

Stages: writing T and V in Python, differentiating, making a function. The median
of seven runs of each.
"""

import statistics
import sys
import time

import casadi as ca


def derive(n):
    """One derivation; returns the seconds of its three stages."""
    clock = [time.perf_counter()]
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    mass, length, gravity = ca.SX.sym("m", n), ca.SX.sym("l", n), ca.SX.sym("g")
    kinetic = potential = vx = vy = y = ca.SX(0)
    for i in range(n):
        vx = vx + length[i] * ca.cos(q[i]) * v[i]
        vy = vy + length[i] * ca.sin(q[i]) * v[i]
        y = y - length[i] * ca.cos(q[i])
        kinetic = kinetic + mass[i] * (vx * vx + vy * vy) / 2
        potential = potential + mass[i] * gravity * y
    clock.append(time.perf_counter())
    lagrangian = kinetic - potential
    momenta = ca.gradient(lagrangian, v)
    matrix = ca.jacobian(momenta, v)
    force = ca.gradient(lagrangian, q) - ca.jtimes(momenta, q, v)
    clock.append(time.perf_counter())
    ca.Function("f", [q, v, mass, length, gravity], [matrix, force])
    clock.append(time.perf_counter())
    return [b - a for a, b in zip(clock, clock[1:])]


for n in map(int, sys.argv[1:] or ["10", "20", "50"]):
    runs = [derive(n) for _ in range(7)]
    write, differentiate, function = (statistics.median(s) * 1e3 for s in zip(*runs))
    total = statistics.median(map(sum, runs)) * 1e3
    print(f"N = {n}: {total:.2f} ms (writing {write:.2f}, derivatives {differentiate:.2f}, function {function:.2f})")
