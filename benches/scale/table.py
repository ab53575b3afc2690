"""How cost grows with size, beside C by hand: writes the table and the figure of docs/scale.md.

    python3 benches/scale/table.py [--long] [--from=FILE] [ROW …]

Builds the benchmark and the C program, runs them in turn, and draws seconds against N. With rows named,
as `cargo bench --bench scale` has them (`travel-1000`, `travel`, `limit` for C), the others are what was
measured last, which is kept beside what is built. FILE has what the benchmark said, if it was run before.
"""

import json
import math
import os
import pathlib
import platform
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
SIZES = [100, 300, 1000, 10000]
PAGE = ROOT / "docs" / "scale.md"
FIGURE = ROOT / "docs" / "scale.svg"
BUILD = ROOT / "target" / "scale"
KEPT = BUILD / "measured.json"
ROWS = [
    ("first", "text to first acceleration", {10000: "5 s"}),
    ("evaluate", "one acceleration", {1000: "25 µs"}),
    ("twice-evaluate", "the same, every constraint twice", {}),
    ("travel", "1 s of motion, error ≤ 1e-8", {1000: "35 ms", 10000: "800 ms"}),
    ("twice-travel", "the same, every constraint twice", {}),
    ("oscillators", "oscillators, one acceleration", {}),
    ("oscillators-tape", "their tape alone", {}),
    ("four-bars", "10 s of N four-bars (A02)", {}),
]


def seconds(value):
    if value is None:
        return "–"
    for unit, size in [("s", 1), ("ms", 1e-3), ("µs", 1e-6)]:
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def lines(command):
    out = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def slope(found, name):
    """The exponent of N between the two largest sizes."""
    a, b = (found.get(f"{name}-{n}") for n in SIZES[-2:])
    return math.log(b / a) / math.log(SIZES[-1] / SIZES[-2]) if a and b else None


def draw(found, limit):
    curves = [("evaluate", found, "#1f77b4", "one acceleration"),
              ("evaluate", limit, "#9ecae1", "in C"),
              ("travel", found, "#d62728", "one second of motion"),
              ("travel", limit, "#f4a3a3", "in C"),
              ("first", found, "#2ca02c", "text to first acceleration")]
    width, height, left, top = 640, 400, 70, 20
    low, high = -6, 1
    x = lambda n: left + (math.log10(n) - 2) / 2 * (width - left - 190)
    y = lambda s: top + (high - math.log10(s)) / (high - low) * (height - top - 50)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for power in range(low, high + 1):
        at = y(10.0**power)
        out.append(f'<path d="M{left} {at:.1f}H{x(10000):.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{seconds(10.0**power)}</text>')
    for n in SIZES:
        out.append(f'<text x="{x(n):.1f}" y="{height - 30}" text-anchor="middle">{n}</text>')
    out.append(f'<text x="{(left + x(10000)) / 2:.1f}" y="{height - 10}" text-anchor="middle">links N</text>')
    for name, source, color, label in curves:
        points = [(x(n), y(source[f"{name}-{n}"])) for n in SIZES if source.get(f"{name}-{n}")]
        if not points:
            continue
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        out.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{color}"/>' for a, b in points]
        a, b = points[-1]
        out.append(f'<text x="{a + 8:.1f}" y="{b + 4:.1f}" fill="{color}">{label}</text>')
    FIGURE.write_text("\n".join(out + ["</svg>"]) + "\n")


def main():
    BUILD.mkdir(parents=True, exist_ok=True)
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    said = [word.partition("=")[2] for word in sys.argv[1:] if word.startswith("--from=")]
    kept = json.loads(KEPT.read_text()) if (words or said) and KEPT.exists() else {}
    found, how, limit = (kept.get(part, {}) for part in ("found", "how", "limit"))
    if not words or "limit" in words:
        flags = ["-O3", "-march=native", "-ffast-math"]
        made = subprocess.run(["cc", *flags, HERE / "limit.c", "-lm", "-o", BUILD / "limit"])
        if made.returncode == 0:
            for line in lines([BUILD / "limit", *map(str, SIZES)]):
                limit[line["row"]] = line["seconds"]
        else:
            print("no C compiler: its column is left out", file=sys.stderr)
    if words != ["limit"]:
        command = ["cargo", "bench", "--bench", "scale", "--", *sys.argv[1:]]
        for line in lines(["cat", *said] if said else command):
            result = line["result"] or {}
            found[line["row"]] = result.get("seconds")
            if result.get("method"):
                steps, error = result["steps"], result["error"]
                how[line["row"]] = f"{result['method']}, {steps} steps, {error:.1e}"
    KEPT.write_text(json.dumps({"found": found, "how": how, "limit": limit}))
    table = ["| | N | dalembert | how, error | C by hand | to reach |", "|---|---|---|---|---|---|"]
    for name, words, asked in ROWS:
        for n in SIZES:
            row = f"{name}-{n}"
            if row not in found:
                continue
            cells = [words, str(n), seconds(found.get(row)), how.get(row, "–"),
                     seconds(limit.get(row)), asked.get(n, "–")]
            table.append("| " + " | ".join(cells) + " |")
    slopes = [f"{words}: {slope(found, name):.2f}" for name, words, _ in ROWS if slope(found, name)]
    table += ["", "Exponents of N between the last two sizes. " + "; ".join(slopes) + "."]
    table += ["", f"({time.strftime('%-d %B %Y')}; {os.cpu_count()} cores, {platform.machine()}.)"]
    before, rest = PAGE.read_text().split("<!-- table -->\n")
    after = rest.split("<!-- end -->")[1]
    PAGE.write_text(before + "<!-- table -->\n" + "\n".join(table) + "\n<!-- end -->" + after)
    draw(found, limit)


if __name__ == "__main__":
    main()
