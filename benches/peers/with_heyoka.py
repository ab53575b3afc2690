"""heyoka's rows: its Taylor integrator on accelerations that are eliminated by hand (it knows no
constraints, and dependent ones are left out), without its cache on the disk."""

import statistics
import sys
import time

import heyoka as hy
import numpy as np
from mechanics import MOTIONS, error, model
from rows import say

hy.llvm_state.set_diskcache_enabled(False)
ZERO = hy.expression(0.0)


def is_zero(e):
    return e == ZERO


def dot(a, b):
    terms = [x * y for x, y in zip(a, b) if not is_zero(x) and not is_zero(y)]
    return hy.sum(terms) if terms else ZERO


def solve(matrix, columns):
    """The columns with the matrix eliminated, symbol by symbol."""
    n = len(matrix)
    m, x = [row[:] for row in matrix], [column[:] for column in columns]
    for k in range(n):
        for i in range(k + 1, n):
            if is_zero(m[i][k]):
                continue
            factor = m[i][k] / m[k][k]
            for j in range(k, n):
                m[i][j] = m[i][j] if is_zero(m[k][j]) else m[i][j] - factor * m[k][j]
            for c in x:
                c[i] = c[i] if is_zero(c[k]) else c[i] - factor * c[k]
    for c in x:
        for k in reversed(range(n)):
            c[k] = (c[k] - dot(m[k][k + 1 :], c[k + 1 :])) / m[k][k]
    return x


def accelerations(name, q, v):
    n = len(q)
    kinetic, potential, forces, positions, velocities = model(name, (hy.sin, hy.cos, hy.sqrt), q, v)
    energy = kinetic - potential
    p = [hy.diff(energy, x) for x in v]
    mass = [[hy.diff(p[i], x) for x in v] for i in range(n)]
    along = lambda f: dot([hy.diff(f, x) for x in q], v)
    force = [hy.diff(energy, q[i]) + forces[i] - along(p[i]) for i in range(n)]
    rows = [along(f) for f in positions] + velocities
    a = [[hy.diff(row, x) for x in v] for row in rows]
    found = solve(mass, [force] + [list(row) for row in a])
    free, by_row = found[0], found[1:]
    schur = [[dot(row, x) for x in by_row] for row in a]
    right = [-along(rows[i]) - dot(a[i], free) for i in range(len(rows))]
    multipliers = solve(schur, [right])[0]
    return [free[i] + dot([x[i] for x in by_row], multipliers) for i in range(n)]


def travel(name):
    end, asked, q0, v0 = MOTIONS[name]
    n = len(q0)
    clock = time.perf_counter()
    symbols = hy.make_vars(*[f"q{i}" for i in range(n)], *[f"v{i}" for i in range(n)])
    q, v = list(symbols[:n]), list(symbols[n:])
    a = accelerations(name, q, v)
    system = list(zip(q, v)) + list(zip(v, a))
    derived = time.perf_counter() - clock
    start = np.array(q0 + v0)
    best = None
    for tolerance in [1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15]:
        clock = time.perf_counter()
        integrator = hy.taylor_adaptive(system, start.copy(), tol=tolerance, compact_mode=n > 4)
        setup = derived + time.perf_counter() - clock

        def once():
            integrator.time = 0.0
            integrator.state[:] = start
            return integrator.propagate_until(end)[3]

        steps = once()
        off = error(name, integrator.state[:n])
        if best is None or off < best["error"]:
            times = []
            for _ in range(25):
                clock = time.perf_counter()
                once()
                times.append(time.perf_counter() - clock)
            note = f"taylor, {tolerance:.0e}, {steps} steps"
            best = {"seconds": statistics.median(times), "error": off, "setup": setup, "note": note}
        if off <= asked:
            break
    return best


if __name__ == "__main__":
    for name in sys.argv[1:] or MOTIONS:
        if name in MOTIONS:
            say(name, "heyoka", travel(name))
