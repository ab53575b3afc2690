"""Ends of many motions a second, beside C by hand and heyoka: writes the table of docs/ensembles.md.

    python3 benches/ensemble/table.py [ROW …]

Builds the benchmark and the C program, runs all in turn on two threads, and keeps of each the
soonest whose median error is what is asked for. heyoka is run where `benches/peers/compare.py` has
installed it. With rows named (1, 2, 3) the others are what was measured last, which is kept beside
what is built.
"""

import json
import os
import pathlib
import platform
import shutil
import struct
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
FOLDER = ROOT / "target" / "ensemble"
PAGE = ROOT / "docs" / "ensembles.md"
PEERS = ROOT / "target" / "peers" / "bin" / "python"
COUNT, ROUNDS = 8000, 3
# Name, components, what the median error is to be, what is asked for.
ROWS = [
    ("double-pendulum", 4, 5e-10, "≥ 40,000"),
    ("double-pendulum", 4, 2e-7, "≥ 50,000"),
    ("spherical", 6, 1.3e-9, "≥ 120,000"),
]
OURS = {5e-10: [1.4e-9, 1.2e-9, 1e-9], 2e-7: [4.4e-7, 3.5e-7], 1.3e-9: [2e-8, 1e-8]}
ORDERS = [8, 11, 14]


def floats(path):
    data = pathlib.Path(path).read_bytes()
    return struct.unpack(f"<{len(data) // 8}d", data)


def error(found, exact, size):
    off = sorted(
        max(abs(found[k + i] - exact[k + i]) for i in range(size)) for k in range(0, len(exact), size)
    )
    return off[len(off) // 2]


def said(command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def build():
    said(["cargo", "bench", "--bench", "ensemble", "--no-run"])
    out = said(["cargo", "bench", "--bench", "ensemble", "--no-run", "--message-format=json"])
    parts = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    own = [p for p in parts if p.get("executable") and p["target"]["name"] == "ensemble"]
    FOLDER.mkdir(parents=True, exist_ok=True)
    compiler = shutil.which("cc")
    for order in ORDERS if compiler else []:
        said([compiler, "-O3", "-march=native", "-ffast-math", f"-DP={order}", "-pthread",
              str(HERE / "limit.c"), "-o", str(FOLDER / f"limit{order}"), "-lm"])
    return own[-1]["executable"], bool(compiler)


def others(name, size, exact, tool, runs):
    """The soonest of another program with the asked error."""
    start, end = FOLDER / f"{name}.starts", FOLDER / f"{name}.{tool}"
    found = []
    for command in runs(start, end):
        try:
            seconds = float(said([str(part) for part in command]).split()[-1])
        except (subprocess.CalledProcessError, ValueError, IndexError):
            continue
        found.append((str(command), COUNT / seconds, error(floats(end), exact, size)))
    return found


def main():
    own, has_c = build()
    kept, wanted = FOLDER / "measured.json", sys.argv[1:]
    before = json.loads(kept.read_text()) if wanted and kept.exists() else {}
    if not wanted or not (FOLDER / f"{ROWS[0][0]}.ends").exists():
        said([own, "--write=" + str(FOLDER)])
    table = []
    for number, (name, size, asked, wish) in enumerate(ROWS, 1):
        if wanted and str(number) not in wanted:
            table.append((name, asked, wish, before.get(str(number), {})))
            continue
        exact = floats(FOLDER / f"{name}.ends")
        tolerances = [10 * asked, 3 * asked, asked, 0.1 * asked, 0.01 * asked]
        by_c = lambda s, e: [[FOLDER / f"limit{p}", name, s, e, COUNT, t, 2] for p in ORDERS for t in tolerances]
        by_heyoka = lambda s, e: [[PEERS, HERE / "with_heyoka.py", name, s, e, COUNT, t] for t in tolerances[:4]]
        best = {"dalembert": [], "C": [], "heyoka": []}
        for _ in range(ROUNDS):
            for tolerance in OURS[asked]:
                line = json.loads(said([own, name, f"--tolerance={tolerance}", "--lanes=8", "--threads=2"]))
                best["dalembert"].append((str(tolerance), line["rate"], line["error"]))
            if has_c:
                best["C"] += others(name, size, exact, "c", by_c)
            if PEERS.exists():
                best["heyoka"] += others(name, size, exact, "heyoka", by_heyoka)
        cells = {}
        for tool, found in best.items():
            turns = {}
            for setting, rate, off in found:
                if off <= asked:
                    turns.setdefault(setting, []).append((rate, off))
            # The median of the turns of a setting, not its luckiest one.
            medians = [sorted(own)[len(own) // 2] for own in turns.values()]
            cells[tool] = max(medians, default=None)
        table.append((name, asked, wish, cells))
        print(name, asked, cells, flush=True)
    kept.write_text(json.dumps({number: row[3] for number, row in enumerate(table, 1)}))
    write(table)


def shown(cell):
    return "–" if cell is None else f"{cell[0]:,.0f} at {cell[1]:.1e}"


def write(table):
    machine = f"{platform.machine()}, {os.cpu_count()} processors, {time.strftime('%Y-%m-%d')}"
    lines = [
        "# Many motions",
        "",
        "Ends of motions a second, on two threads, at a median error of the end; by "
        "`python3 benches/ensemble/table.py` "
        f"({machine}). Motions are those of random starts over t = 0..10. dalembert takes the models "
        "as they are written, the spherical pendulum with its constraint; heyoka and C have its multiplier "
        "eliminated by hand. C is a Taylor method in vectors of eight lanes, written for each of the two.",
        "",
        "| motion | error | dalembert | C | heyoka | asked for |",
        "|---|---|---|---|---|---|",
    ]
    for name, asked, wish, cells in table:
        row = [name, f"≤ {asked:.1e}"] + [shown(cells.get(tool)) for tool in ("dalembert", "C", "heyoka")] + [wish]
        lines.append("| " + " | ".join(row) + " |")
    lines += [
        "",
        "Every motion has its own step. Steps at which nothing is to be decided are taken of eight motions at "
        "once, in registers of eight doubles where the processor has them, else of four; a motion that needs a new "
        "decision, comes near a singular position, or is to meet an event or the turn of a branch, is served by the "
        "driver and comes back. Whether it meets one is told by bounds of the functions on the polynomials of the "
        "step, so that none is missed. The ends are the same to the bit by one lane, four and eight, on any number "
        "of threads and in any company (`tests/abreast.rs`).",
        "",
        "Not moved so, but as runs or by the driver alone: charts and angles continued over a cut, which are changed "
        "on the way; coordinates without mass, accelerations found beside others, and forces that depend on "
        "multipliers, whose equations are not linear or are decided anew in each step; states beside positions "
        "(integrators, filters).",
        "",
        "Cases are one run each, at the tolerance: nothing estimates their errors, as the second run "
        "of `dal run` does for one motion. How far off they are is told by the same cases at a smaller "
        "tolerance, or by `dal run` of some of them.",
        "",
    ]
    PAGE.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
