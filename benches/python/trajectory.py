"""From a model to its trajectory: derivation, compilation and run together, beside peers.

    pip install . heyoka scipy sympy
    python3 benches/python/trajectory.py   # prints the table of docs/performance.md

The same systems from the same start to the same times, in turn in one process, the least of several
rounds: this package with and without its second run; SymPy's Lagrange's equations, lambdified, by
SciPy's DOP853; heyoka's from L by Taylor series, which takes no constraints and is not tried on the
long chain. Errors are those of the last state, against a run at tolerance 1e-13. What imports take
is left out.
"""

from __future__ import annotations

import time

import heyoka as hy
import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import dalembert

TOLERANCE, ROUNDS = 1e-9, 3
G, L = 9.81, 1.0


class Chain:
    """Point masses on rods of length 1, by their angles."""

    def __init__(self, count: int, end: float, by_heyoka: bool) -> None:
        self.name = f"chain of {count}"
        self.count, self.end, self.by_heyoka = count, end, by_heyoka
        self.start = np.concatenate([np.linspace(0.3, 0.8, count), np.zeros(count)])

    def energies(self, angles, rates, sin, cos):
        """T and V."""
        x = y = kinetic = potential = 0
        for angle, rate in zip(angles, rates):
            x, y = x + rate * cos(angle), y + rate * sin(angle)
            kinetic += (x * x + y * y) / 2
        height = 0
        for angle in angles:
            height = height - L * cos(angle)
            potential += G * height
        return kinetic, potential

    def text(self) -> str:
        n = self.count
        start = "; ".join(f"start th[{k + 1}] = {float(self.start[k])!r}" for k in range(n))
        return (
            f"param g = {G}\ncoord th[1..{n}]\n"
            f"kinetic sum(i in 1..{n}, (sum(j in 1..i, cos(th[j])*th[j]')^2"
            f" + sum(j in 1..i, sin(th[j])*th[j]')^2)/2)\n"
            f"potential -g*sum(i in 1..{n}, sum(j in 1..i, cos(th[j])))\n{start}\n"
        )

    def by_sympy(self):
        q = dynamicsymbols(f"q1:{self.count + 1}")
        v = [x.diff() for x in q]
        kinetic, potential = self.energies(q, v, sp.sin, sp.cos)
        return LagrangesMethod(kinetic - potential, q), q, v

    def run_heyoka(self):
        names = [f"q{k}" for k in range(self.count)]
        q = hy.make_vars(*names)
        v = hy.make_vars(*[f"v{k}" for k in range(self.count)])
        q, v = (list(x) if self.count > 1 else [x] for x in (q, v))
        kinetic, potential = self.energies(q, v, hy.sin, hy.cos)
        rates = hy.lagrangian(kinetic - potential, q, v)
        ta = hy.taylor_adaptive(rates, self.start, tol=TOLERANCE)
        ta.propagate_until(self.end)
        return np.array(ta.state)


class Rod:
    """A spherical pendulum by x, y, z and the constraint of its rod."""

    name, end, by_heyoka = "pendulum on a rod, x y z", 10.0, False
    start = np.array([0.6, 0.0, -0.8, 0.0, 1.0, 0.0])

    def text(self) -> str:
        return (
            f"param g = {G}\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\npotential g*z\n"
            "constraint rod: x^2 + y^2 + z^2 = 1\nstart x = 0.6, z = -0.8, y' = 1\n"
        )

    def by_sympy(self):
        x, y, z = q = dynamicsymbols("x y z")
        v = [c.diff() for c in q]
        lagrangian = sum(c**2 for c in v) / 2 - G * z
        return LagrangesMethod(lagrangian, q, hol_coneqs=[x**2 + y**2 + z**2 - 1]), q, v


def run_ours(system, **more):
    motion = dalembert.System(system.text()).simulate(
        system.end, tol=TOLERANCE, every=system.end, **more
    )
    return motion.y[:, -1]


def run_sympy(system):
    method, q, v = system.by_sympy()
    method.form_lagranges_equations()
    n = len(q)
    slots = [sp.Dummy() for _ in range(2 * n)]
    plain = dict(zip([*v, *q], slots))
    matrices = [m.xreplace(plain) for m in (method.mass_matrix_full, method.forcing_full)]
    f = sp.lambdify([*slots[n:], *slots[:n]], matrices, cse=True)

    def rates(t, y):
        mass, forcing = f(*y)
        return np.linalg.solve(mass, forcing).ravel()[: 2 * n]

    found = solve_ivp(
        rates, (0, system.end), system.start, method="DOP853", rtol=TOLERANCE, atol=TOLERANCE
    )
    return found.y[:, -1]


def main() -> None:
    systems = [Chain(2, 10.0, True), Chain(4, 5.0, True), Chain(8, 3.0, False), Rod()]
    print("| system | by | time, ms | error |\n|---|---|---|---|")
    for system in systems:
        exact = dalembert.System(system.text()).simulate(system.end, tol=1e-13).y[:, -1]
        ways = {
            "dalembert": lambda: run_ours(system),
            "dalembert, no second run": lambda: run_ours(system, verify=False),
            "SymPy + SciPy": lambda: run_sympy(system),
        }
        if system.by_heyoka:
            ways["heyoka"] = system.run_heyoka
        least, errors = {}, {}
        for _ in range(ROUNDS):
            for name, way in ways.items():
                clock = time.perf_counter()
                end = way()
                least[name] = min(least.get(name, np.inf), time.perf_counter() - clock)
                errors[name] = np.abs(end - exact).max()
        for name in ways:
            print(f"| {system.name} | {name} | {least[name] * 1e3:.3g} | {errors[name]:.1e} |")


if __name__ == "__main__":
    main()
