"""Contacts beside the time steps of Moreau and Jean, as Siconos takes them.

    python3 benches/contact/time_steps.py target/release/dal

A second derivation: the scheme below shares nothing with dal but the numbers of the models. It knows no
phases; velocities jump at the end of a step,

    M (v - v0) = h F + H^T p,    gap <= 0 predicted:  0 <= v_N + e v0_N  _|_  p_N >= 0,  |p_T| <= mu p_N,

with H the rates of gaps and slips, and F taken halfway. It is of first order where there are impacts, so
what it is off dal's answer goes to 0 with h, or one of the two is wrong. For the woodpecker there are also
Siconos's own numbers (Examples/Mechanics/Woodpecker/Woodpecker.ref of its repository): the scheme, started
as there, has to give these.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

GALLERY = Path(__file__).parents[2] / "gallery"


@dataclass
class Problem:
    """A system of constant mass: its force, and its contacts' gaps and rates."""

    mass: np.ndarray
    #: F(t, q)
    force: Callable[[float, np.ndarray], np.ndarray]
    #: -dF/dq
    stiffness: np.ndarray
    #: gaps(t, q)
    gaps: Callable[[float, np.ndarray], np.ndarray]
    #: Normals and slips as rows: (H_N, H_T).
    rows: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    #: The same rates where nothing moves but the walls.
    drift: Callable[[float], tuple[np.ndarray, np.ndarray]]
    restitution: np.ndarray
    mu: np.ndarray


def impulses(w: np.ndarray, free: np.ndarray, mu: np.ndarray, sweeps: int = 2000) -> np.ndarray:
    """p of: w p + free is complementary to p, normals first, by Gauss-Seidel sweeps on pairs."""
    k = len(mu)
    p = np.zeros(2 * k)
    for _ in range(sweeps):
        before = p.copy()
        for i in range(k):
            j = k + i
            rest = [free[r] + w[r] @ p - w[r, i] * p[i] - w[r, j] * p[j] for r in (i, j)]
            p[i], p[j] = pair(w[np.ix_([i, j], [i, j])], rest, mu[i])
        if np.max(np.abs(p - before)) <= 1e-15 * max(np.max(np.abs(p)), 1e-30):
            break
    return p


def pair(w: np.ndarray, free: list[float], mu: float) -> tuple[float, float]:
    """One contact by itself: open, sticking, or slipping to either side."""
    if free[0] >= 0:
        return 0.0, 0.0
    if mu == 0:
        return -free[0] / w[0, 0], 0.0
    det = w[0, 0] * w[1, 1] - w[0, 1] * w[1, 0]
    n = (-free[0] * w[1, 1] + free[1] * w[0, 1]) / det
    t = (-free[1] * w[0, 0] + free[0] * w[1, 0]) / det
    if n >= 0 and abs(t) <= mu * n:
        return n, t
    for side in (1.0, -1.0):
        load = w[0, 0] + side * mu * w[0, 1]
        if load <= 0:
            continue
        n = -free[0] / load
        slip = free[1] + (w[1, 0] + side * mu * w[1, 1]) * n
        if slip * side <= 0:
            return n, side * mu * n
    return -free[0] / w[0, 0], 0.0


def steps(
    problem: Problem, q: np.ndarray, v: np.ndarray, h: float, times: list[float]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """States at these times: steps of h, theta = 1/2."""
    theta, t, found = 0.5, 0.0, []
    implicit = np.linalg.inv(problem.mass + h * h * theta * theta * problem.stiffness)
    for until in times:
        for _ in range(round((until - t) / h)):
            free = v + implicit @ (h * problem.force(t + h / 2, q + theta * h * v))
            near = problem.gaps(t + h / 2, q + h / 2 * v) <= 0
            u = free
            if near.any():
                normal, slip = (rows[near] for rows in problem.rows(q))
                d_n, d_t = (d[near] for d in problem.drift(t + h))
                before_n = normal @ v + problem.drift(t)[0][near]
                every = np.vstack([normal, slip])
                w = every @ implicit @ every.T
                bounce = problem.restitution[near] * np.minimum(before_n, 0)
                known = np.concatenate([normal @ free + d_n + bounce, slip @ free + d_t])
                u = free + implicit @ every.T @ impulses(w, known, problem.mu[near])
            q = q + h * ((1 - theta) * v + theta * u)
            v, t = u, t + h
        found.append((q.copy(), v.copy()))
    return found


def woodpecker() -> Problem:
    mm, jm, ms, js, k, g = 0.0003, 5e-9, 0.0045, 7e-7, 0.0056, 9.81
    r0, rm, hm, lm, lg, hs, ls = 0.0025, 0.0031, 0.0058, 0.01, 0.015, 0.02, 0.0201
    mass = np.array(
        [
            [mm + ms, ms * lm, ms * lg],
            [ms * lm, jm + ms * lm**2, ms * lm * lg],
            [ms * lg, ms * lm * lg, js + ms * lg**2],
        ]
    )
    stiffness = k * np.array([[0.0, 0, 0], [0, 1, -1], [0, -1, 1]])
    weight = -g * np.array([mm + ms, ms * lm, ms * lg])
    rows = (
        np.array([[0, 0, -hs], [0, hm, 0], [0, -hm, 0]]),
        np.array([[1, lm, lg - ls], [1, rm, 0], [1, rm, 0]]),
    )
    zero = np.zeros(3)
    return Problem(
        mass,
        lambda t, q: weight - stiffness @ q,
        stiffness,
        lambda t, q: np.array(
            [lm + lg - ls - r0 - hs * q[2], rm - r0 + hm * q[1], rm - r0 - hm * q[1]]
        ),
        lambda q: rows,
        lambda t: (zero, zero),
        np.array([0.5, 0, 0]),
        np.full(3, 0.3),
    )


OMEGA = 2 * math.pi * 25
AMPLITUDE, PHASE = 0.9 * 9.81 / OMEGA**2, 1.6


def dimer() -> Problem:
    m, r, l, g, w, a = 0.01, 0.01, 0.06, 9.81, OMEGA, AMPLITUDE
    mass = np.diag([2 * m, 2 * m, 2 * (2 / 5 * m * r**2 + m * l**2 / 4)])

    def gaps(t: float, q: np.ndarray) -> np.ndarray:
        high = q[1] - r - a * math.sin(w * t + PHASE)
        return np.array([high - l / 2 * math.sin(q[2]), high + l / 2 * math.sin(q[2])])

    def rows(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c, s = l / 2 * math.cos(q[2]), l / 2 * math.sin(q[2])
        return np.array([[0, 1, -c], [0, 1, c]]), np.array([[1, 0, s + r], [1, 0, r - s]])

    def drift(t: float) -> tuple[np.ndarray, np.ndarray]:
        return np.full(2, -a * w * math.cos(w * t + PHASE)), np.zeros(2)

    return Problem(
        mass,
        lambda t, q: np.array([0, -2 * m * g, 0]),
        np.zeros((3, 3)),
        gaps,
        rows,
        drift,
        np.full(2, 0.7),
        np.full(2, 0.2),
    )


#: t; y, phi_M, phi_S; their rates: rows of Woodpecker.ref, to six digits.
SICONOS = [
    (0.10022, [-7.09657e-3, 2.0362e-2, 6.98708e-3], [-7.3693e-2, -4.63294, -5.80467]),
    (0.2, [-2.388345e-2, -0.10345426, -0.33094798], [0, 0, 16.46075]),
    (0.29998, [-0.04134819, -0.1034685, -0.340934], [-0.260137, 0, -8.327555]),
]


def siconos() -> None:
    """The scheme beside Siconos's own run."""
    start = np.array([0, -0.1036, -0.2788]), np.array([-0.3411, 0, -7.4583])
    found = steps(woodpecker(), *start, 2e-5, [row[0] for row in SICONOS])
    apart = 0.0
    for (_, q, v), (own_q, own_v) in zip(SICONOS, found):
        own = [*own_q, *own_v]
        apart = max(apart, *(abs(a - b) / max(abs(b), 1e-2) for a, b in zip(own, [*q, *v])))
    print(f"The scheme and Siconos's run of the woodpecker at steps of 2e-5: {apart:.0e} apart\n")


def ours(dal: str, page: str, t: float, names: list[str]) -> list[float]:
    """The state of a page's model at a time."""
    text = (GALLERY / page).read_text().split("```dal\n")[1].split("```")[0]
    with tempfile.NamedTemporaryFile("w", suffix=".dal") as file:
        file.write(text)
        file.flush()
        asked = [dal, "run", file.name, "--t-end", repr(t), "--no-verify", "--json"]
        state = json.loads(subprocess.run(asked, capture_output=True, check=True).stdout)["state"]
    return [state[name] for name in names]


def main(dal: str) -> None:
    siconos()
    sizes = [2e-5, 5e-6, 1.25e-6]
    print("| model, quantity | t | here |", " | ".join(f"h = {h:g}" for h in sizes), "|")
    print("|---|---|---|" + "---|" * len(sizes))
    tilt = math.asin(0.002 / 0.06)
    high = 0.01 + AMPLITUDE * math.sin(PHASE) + 0.03 * math.sin(tilt)
    dimer_names = ["dimer.r[1]", "dimer.r[2]", "dimer.angle"]
    cases = [
        ("woodpecker", woodpecker(), "woodpecker-toy.md", ["y", "phiM", "phiS"], [0.1, 0.2, 0.3],
         [0, -(0.0031 - 0.0025) / 0.0058, -0.2788], [-0.3411, 0, -7.4583], [0, 2]),
        ("dimer", dimer(), "bouncing-dimer.md", dimer_names, [0.02, 0.1, 0.2],
         [0, high, tilt], [0, 0, 0], [0, 2]),
    ]  # fmt: skip
    for name, problem, page, names, times, q, v, shown in cases:
        runs = [steps(problem, np.array(q, float), np.array(v, float), h, times) for h in sizes]
        for at, t in enumerate(times):
            exact = ours(dal, page, t, names)
            for k in shown:
                off = " | ".join(f"{run[at][0][k] - exact[k]:+.1e}" for run in runs)
                print(f"| {name}, {names[k]} | {t} | {exact[k]:.9f} | {off} |")


if __name__ == "__main__":
    main(sys.argv[1])
