"""Contacts beside runs of Siconos that come with its examples.

    python3 benches/contact/siconos.py target/release/dal

The numbers are rows of files named *.ref in the repository siconos/siconos-tutorials, which its own tests are
held against. Two kinds: from events (LSODAR, to 1e-12) and from time steps (Moreau and Jean), which are off by
their step h where something strikes, sticks or slips. Of the latter the motion itself is told by dal; where
there is a closed form it is told too.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile

import numpy as np
from time_steps import pair

#: BouncingBallED-TwoContacts.ref: impacts of a ball between floor and ceiling, e = 0.8: times, and velocities
#: behind them.
BOUNCES = [
    (5.131670194948630e-02, -7.589466384404112),
    (0.2283187800528825, 7.487589732350459),
    (0.4665486160195453, -4.084233098147063),
]
BALL = """
param m = 1, g = 10
coord x
kinetic m*x'^2/2
potential m*g*x
contact floor: x >= 0, restitution 0.8
contact ceiling: 1.5 >= x, restitution 0.8
start x = 1, x' = 10
"""

#: FrictionOscillator.ref: where it rests in the end, steps of 1e-2.
OSCILLATOR_RESTS = 6.820441351954105e-01
OSCILLATOR = """
coord x
kinetic x'^2/2
potential x^2/2
friction rub: 1 along x'
start x = 12, x' = 6
"""

#: ImpactingStick.ref at t = 0.2: x, y, angle, and their rates; steps of 1e-4.
STICK_ENDS = [
    ("x", 2.529172311983667e-01), ("y", 2.471693300826099e-01), ("th", 1.081891493988364),
    ("x'", -5.068672606709300e-01), ("y'", -1.213273932906967), ("th'", 3.212070578753687),
]  # fmt: skip
STICK = """
param m = 1, l = 1, g = 10
coord x, y, th
kinetic m/2*(x'^2 + y'^2) + m*l^2/24*th'^2
potential m*g*y
contact tip: y - l/2*cos(th) >= 0, restitution 1, sliding x' + l/2*cos(th)*th', friction 0.01
start x = l/2*sin(pi/4), y = l/2*cos(pi/4) + 0.01, th = pi/4, x' = -0.5, y' = 0.1, th' = 0.1
"""

#: SliderCrankMoreauJeanDirectProjectionOSI.ref (Flores, Leine and Glocker's slider with clearance): crank and
#: rod, and their rates; steps of 1e-4.
CRANK = [
    (0.0109, [2 * math.pi * 1.612893726636599e-01, -4.346054646801894e-01], [66.95631921104392, -19.45839318174351]),
    (0.013, [2 * math.pi * 1.833868970246201e-01, -4.707705769323349e-01], [65.64754900233977, -14.87127216736673]),
]  # fmt: skip
SLIDER = """
param l1 = 0.153, l2 = 0.306, a = 0.05, b = 0.025, c = 0.001, g = 9.81, e = 0.4, mu = 0.01
param m1 = 0.038, m2 = 0.038, m3 = 0.076, J1 = 7.4e-5, J2 = 5.9e-4, J3 = 2.7e-6
coord p, q, r
kinetic (J1 + (m1/4 + m2 + m3)*l1^2)/2*p'^2 + (J2 + (m2/4 + m3)*l2^2)/2*q'^2 + (m2/2 + m3)*l1*l2*cos(p - q)*p'*q' + J3/2*r'^2
potential (m1/2 + m2 + m3)*g*l1*sin(p) + (m2/2 + m3)*g*l2*sin(q)
let y = l1*sin(p) + l2*sin(q), d = b + c
let x1 = l1*cos(p) + l2*cos(q) - a*cos(r) - b*sin(r), x2 = l1*cos(p) + l2*cos(q) + a*cos(r) - b*sin(r)
let x3 = l1*cos(p) + l2*cos(q) - a*cos(r) + b*sin(r), x4 = l1*cos(p) + l2*cos(q) + a*cos(r) + b*sin(r)
contact one: d >= y - a*sin(r) + b*cos(r), restitution e, sliding x1', friction mu
contact two: d >= y + a*sin(r) + b*cos(r), restitution e, sliding x2', friction mu
contact three: d + y - a*sin(r) - b*cos(r) >= 0, restitution e, sliding x3', friction mu
contact four: d + y + a*sin(r) - b*cos(r) >= 0, restitution e, sliding x4', friction mu
start p = 0, q = 0, r = 0, p' = 150, q' = -75, r' = 0
run t = 0..0.02, tol 1e-11, impacts at-once
"""


def state(dal: str, text: str, t: float) -> dict[str, float]:
    with tempfile.NamedTemporaryFile("w", suffix=".dal") as file:
        file.write(text if "run t" in text else f"{text}run t = 0..{t!r}, tol 1e-12\n")
        file.flush()
        asked = [dal, "run", file.name, "--t-end", repr(t), "--json"]
        done = subprocess.run(asked, capture_output=True)
        found = json.loads(done.stdout)
    return found["state"]


def slider_by_steps(h: float, until: float) -> float:
    """The crank's velocity of the slider with clearance by the scheme of Moreau and Jean without projection,
    theta = 1/2: the slider does not turn, so its corners are one contact with each wall."""
    l1, l2, c, g, e, mu = 0.153, 0.306, 0.001, 9.81, 0.4, 0.01
    m1, m2, m3, j1, j2 = 0.038, 0.038, 0.076, 7.4e-5, 5.9e-4
    k = (m2 / 2 + m3) * l1 * l2
    own = [j1 + (m1 / 4 + m2 + m3) * l1**2, j2 + (m2 / 4 + m3) * l2**2]
    weight = [(m1 / 2 + m2 + m3) * g * l1, (m2 / 2 + m3) * g * l2]
    q, v = np.zeros(2), np.array([150.0, -75.0])
    for _ in range(round(until / h)):
        p, r = q + h / 2 * v
        mass = np.array([[own[0], k * np.cos(r - p)], [k * np.cos(r - p), own[1]]])
        middle = v
        for _ in range(2):
            turn = k * np.sin(p - r) * np.array([-(middle[1] ** 2), middle[0] ** 2])
            free = v + h * np.linalg.solve(mass, turn - weight * np.cos([p, r]))
            middle = (v + free) / 2
        after, y = free, l1 * np.sin(p) + l2 * np.sin(r)
        if abs(y) >= c:
            rows = np.array([[l1 * np.cos(p), l2 * np.cos(r)], [-l1 * np.sin(p), -l2 * np.sin(r)]])
            rows[0] *= -np.sign(y)
            w = rows @ np.linalg.solve(mass, rows.T)
            known = rows @ free + [e * min(rows[0] @ v, 0), 0]
            after = free + np.linalg.solve(mass, rows.T @ pair(w, list(known), mu))
        q, v = q + h * (v + after) / 2, after
    return float(v[0])


def main(dal: str) -> None:
    print("| example, quantity | t | Siconos | here | apart |\n|---|---|---|---|---|")

    def row(what: str, t: float, theirs: float, ours: float) -> None:
        print(f"| {what} | {t:.10g} | {theirs:.12g} | {ours:.12g} | {theirs - ours:+.1e} |")

    for t, v in BOUNCES:
        # A little later, and back by the weight.
        later = 1e-3
        found = state(dal, BALL, t + later)
        row("ball between floor and ceiling, velocity behind an impact", t, v, found["x'"] + 10 * later)
    found = state(dal, OSCILLATOR, 100.0)
    row("oscillator with dry friction, where it rests", 100, OSCILLATOR_RESTS, found["x"])
    found = state(dal, STICK, 0.2)
    for name, value in STICK_ENDS:
        row(f"stick that strikes the ground, {name}", 0.2, value, found[name])
    for t, q, v in CRANK:
        found = state(dal, SLIDER, t)
        for name, value in zip(["p", "q", "p'", "q'"], [*q, *v]):
            row(f"slider with clearance, {name}", t, value, found[name])
    steps = {h: slider_by_steps(h, CRANK[0][0]) for h in (1e-4, 1e-5, 1e-6)}
    print("\nThe same p' by steps without projection:", steps)


if __name__ == "__main__":
    main(sys.argv[1])
