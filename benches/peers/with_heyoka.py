"""heyoka's rows: its Taylor integrator on accelerations that are eliminated by hand (it knows no
constraints, and dependent ones are left out), without its cache on the disk. `--precision` prints
those of all tolerances."""

import statistics
import sys
import time

import heyoka as hy
import numpy as np
from mechanics import MOTIONS, by_hand, error, model
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
    found = by_hand(name, q, v)
    if found is not None:
        return found
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


class Motion:
    """A motion with its system, which takes `derived` seconds to write down."""

    def __init__(self, name):
        self.name = name
        self.end, self.asked, q0, v0 = MOTIONS[name]
        self.n = n = len(q0)
        clock = time.perf_counter()
        symbols = hy.make_vars(*[f"q{i}" for i in range(n)], *[f"v{i}" for i in range(n)])
        q, v = list(symbols[:n]), list(symbols[n:])
        self.system = list(zip(q, v)) + list(zip(v, accelerations(name, q, v)))
        self.derived = time.perf_counter() - clock
        self.start = np.array(q0 + v0)

    def run(self, tolerance):
        """A call that runs it and tells the steps, the error, and the seconds before."""
        clock = time.perf_counter()
        compact = self.n > 4
        integrator = hy.taylor_adaptive(self.system, self.start.copy(), tol=tolerance, compact_mode=compact)
        setup = self.derived + time.perf_counter() - clock

        def once():
            integrator.time = 0.0
            integrator.state[:] = self.start
            return integrator.propagate_until(self.end)[3]

        steps = once()
        return once, steps, error(self.name, integrator.state[: self.n]), setup


def median(call, count):
    times = []
    for _ in range(count):
        clock = time.perf_counter()
        call()
        times.append(time.perf_counter() - clock)
    return statistics.median(times)


def travel(name):
    motion, best = Motion(name), None
    for tolerance in [1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15]:
        once, steps, off, setup = motion.run(tolerance)
        if best is None or off < best["error"]:
            note = f"taylor, {tolerance:.0e}, {steps} steps"
            best = {"seconds": median(once, 25), "error": off, "setup": setup, "note": note}
        if off <= motion.asked:
            break
    return best


def precision(name):
    motion = Motion(name)
    for tolerance in [10.0**-k for k in range(4, 15)]:
        once, steps, off, _ = motion.run(tolerance)
        found = {"method": "taylor", "tolerance": tolerance, "steps": steps}
        say(name, "heyoka", {**found, "seconds": median(once, 9), "error": off})


if __name__ == "__main__":
    for name in [a for a in sys.argv[1:] if not a.startswith("-")] or MOTIONS:
        if name in MOTIONS and "--precision" in sys.argv:
            precision(name)
        elif name in MOTIONS:
            say(name, "heyoka", travel(name))
