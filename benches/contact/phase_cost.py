"""What a phase costs beside the same model written without contacts and dry friction.

    python3 benches/contact/phase_cost.py target/release/dal

Each pair is one motion: a phase that lasts to the end, and part 1 of the language, with the contact as a
constraint and sliding friction as a nonideal force. Both take the same method at the same tolerance, so steps and
evaluations tell what guards do to a step, and the time of the integration what they cost. Least of many runs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

PAIRS = {
    "block that slides down an incline": (
        """
param m = 1, g = 9.81, mu = 0.3, a = 0.6, k = 2
coord x, y
kinetic m/2*(x'^2 + y'^2)
potential -m*g*x*sin(a) + m*g*y*cos(a) + k/4*x^4
contact plane: y >= 0, sliding x', friction mu
start x = 0, y = 0, x' = 1
run t = 0..0.7, tol 1e-10
""",
        """
param m = 1, g = 9.81, mu = 0.3, a = 0.6, k = 2
coord x, y
kinetic m/2*(x'^2 + y'^2)
potential -m*g*x*sin(a) + m*g*y*cos(a) + k/4*x^4
constraint plane: y = 0
nonideal x: -mu*multiplier(plane)
start x = 0, y = 0, x' = 1
run t = 0..0.7, tol 1e-10
""",
    ),
    "ball that rolls in a bowl, held by friction": (
        """
param m = 0.2, r = 0.05, R = 1, g = 9.81
gravity [0, -g]
body ball: mass m, inertia 2/5*m*r^2, free
contact bowl: ground at [0, R] radius -R, ball radius r, friction 5
start bowl.gap = 0, ball.r[1] ~ 0.5, ball.r[2] ~ 0.2, ball.r[1]' = 0, ball.angle' = 0
run t = 0..20, tol 1e-10
""",
        """
param m = 0.2, r = 0.05, R = 1, g = 9.81
gravity [0, -g]
body ball: mass m, inertia 2/5*m*r^2, free
joint bowl: rolling ground at [0, R] radius -R, ball radius r
start ball.r[1] ~ 0.5, ball.r[2] ~ 0.2, ball.r[1]' = 0, ball.angle' = 0
run t = 0..20, tol 1e-10
""",
    ),
    "two masses, friction of both": (
        """
coord x, y
kinetic (x'^2 + y'^2)/2
potential 2*x^2 + 3*(x - y)^2 + x^4
friction one: 0.05 along x' - 20
friction two: 0.1 along y' - 20
start x = 1, y = 0
run t = 0..50, tol 1e-10
""",
        """
coord x, y
kinetic (x'^2 + y'^2)/2
potential 2*x^2 + 3*(x - y)^2 + x^4
nonideal x: 0.05
nonideal y: 0.1
start x = 1, y = 0
run t = 0..50, tol 1e-10
""",
    ),
}


def measured(dal: str, text: str, method: str) -> dict[str, float]:
    with tempfile.NamedTemporaryFile("w", suffix=".dal") as file:
        file.write(text)
        file.flush()
        asked = [dal, "run", file.name, "--no-verify", "--json", "--method", method]
        runs = [json.loads(subprocess.run(asked, capture_output=True).stdout) for _ in range(15)]
    first = runs[0]
    assert first["verdict"].startswith("pass"), first["verdict"]
    seconds = min(run["seconds"]["integrate"] for run in runs)
    return {"steps": first["steps"], "evaluations": first["evaluations"], "ms": 1e3 * seconds, "state": first["state"]}


def main(dal: str) -> None:
    print("| model | method | steps | evaluations | ms | as a phase: steps | evaluations | ms |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (phase, plain) in PAIRS.items():
        for method in ["taylor", "dop853"]:
            a, b = measured(dal, plain, method), measured(dal, phase, method)
            for key, value in a["state"].items():
                other = b["state"].get(key, value)
                assert abs(other - value) < 1e-7 * max(1.0, abs(value)), (name, key, value, other)
            cells = [f"{run['steps']} | {run['evaluations']} | {run['ms']:.2f}" for run in (a, b)]
            print(f"| {name} | {method} | {cells[0]} | {cells[1]} |")


if __name__ == "__main__":
    main(sys.argv[1])
