#!/usr/bin/env python3
"""Work against precision: what each tool takes for the error that it reaches, tolerances 1e-4 to
1e-14, as a figure.

    python3 benches/peers/precision.py    # draws docs/precision.svg and says how errors follow

Programs, environment and problems are those of compare.py.
"""

import json
import math
import statistics
import subprocess
import sys

import compare

FIGURE = compare.ROOT / "docs" / "precision.svg"
PLOTTER = "matplotlib==3.10.7"
ROWS = {
    "spherical": "spherical pendulum",
    "knife-edge": "knife-edge dumbbell",
    "two-particles": "two particles, dependent rows",
    "andrews": "Andrews' mechanism",
    "whipple": "Whipple bicycle",
    "euler-top": "free top in quaternions",
    "slider-crank": "flexible slider crank, stiff",
}
# Tool and method: color, mark, line.
STYLES = {
    ("dalembert", "taylor"): ("#c2410c", "o", "-"),
    ("dalembert", "dop853"): ("#ea9a5b", "s", "-"),
    ("dalembert", "radau"): ("#f3cfae", "D", "-"),
    ("heyoka", "taylor"): ("#1d4ed8", "o", "--"),
    ("CasADi", "cvodes"): ("#0f766e", "^", "--"),
    ("C", "dop853"): ("#111827", "s", ":"),
}
# Below so much an error is rounding, and does not follow the tolerance.
ROUNDING = 1e-13


def measure():
    tools, points = compare.programs(quick=True), []
    for row in ROWS:
        for tool, command in tools.items():
            compare.word(f"{row}, {tool}")
            run = subprocess.run(
                [*command, row, "--precision"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            points += [json.loads(line) for line in run.stdout.splitlines() if line[:1] == "{"]
    return points


def slope(points):
    """How log(error) goes with log(tolerance), by least squares, above rounding."""
    seen = [
        (math.log(p["tolerance"]), math.log(p["error"]))
        for p in points
        if p["error"] > ROUNDING and p["tolerance"] > 5e-13
    ]
    if len(seen) < 4:
        return None
    x, y = (statistics.fmean(c) for c in zip(*seen))
    return sum((a - x) * (b - y) for a, b in seen) / sum((a - x) ** 2 for a, _ in seen)


def curves(points):
    found = {}
    for point in points:
        found.setdefault((point["row"], point["tool"], point["method"]), []).append(point)
    return found


def tell(found):
    for (row, tool, method), points in found.items():
        if tool == "dalembert":
            rate = slope(points)
            ratio = statistics.median(p["error"] / p["tolerance"] for p in points)
            rate = "–" if rate is None else f"{rate:.2f}"
            print(f"{row:14} {method:8} slope {rate}, median of error/tolerance {ratio:.2g}")


def draw(found):
    subprocess.run([compare.PYTHON, "-m", "pip", "install", "-q", PLOTTER], check=True)
    # In the environment's own Python, where the library is.
    data = [[list(key), points] for key, points in found.items()]
    program = [compare.PYTHON, __file__, "--draw"]
    subprocess.run(program, input=json.dumps(data), text=True, check=True)


def draw_here(data):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "dalembert", "font.size": 9})
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 4, figsize=(13, 6.4), layout="constrained")
    panels = list(panels.flat)
    found = {tuple(key): points for key, points in data}
    for panel, (row, title) in zip(panels, ROWS.items()):
        for (tool, method), (color, mark, line) in STYLES.items():
            points = found.get((row, tool, method), [])
            points = [p for p in points if p["error"] < 0.1]
            if points:
                x = [max(p["error"], 1e-16) for p in points]
                y = [p["seconds"] for p in points]
                panel.loglog(x, y, mark + line, color=color, ms=3.5, lw=1.2, label=f"{tool}, {method}")
        panel.set_title(title, fontsize=10)
        panel.invert_xaxis()
        panel.grid(alpha=0.25)
    for panel in panels[::4]:
        panel.set_ylabel("seconds")
    for panel in panels[3:7]:
        panel.set_xlabel("error at the end")
    handles, names = panels[0].get_legend_handles_labels()
    panels[7].axis("off")
    panels[7].legend(handles, names, loc="center", frameon=False)
    figure.savefig(FIGURE, metadata={"Date": None, "Creator": None})


def main():
    if "--draw" in sys.argv:
        return draw_here(json.load(sys.stdin))
    found = curves(measure())
    tell(found)
    draw(found)


if __name__ == "__main__":
    main()
