#!/usr/bin/env python3
"""dalembert beside its peers and beside C by hand: one command, one table.

    python3 benches/peers/compare.py            # all rows
    python3 benches/peers/compare.py --quick    # without what takes minutes to build
    python3 benches/peers/compare.py spherical  # some rows

Peers are installed into an environment of their own (target/peers), in the versions below; one
that does not install is left out with a word. All programs run in turn, round after round, and a
figure is the median of its rounds. The table goes to docs/peers.md unless rows are named.
"""

import datetime
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import time
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLACE = ROOT / "target" / "peers"
PYTHON = PLACE / "bin" / "python"
PEERS = {"heyoka": "heyoka==7.13.2", "CasADi": "casadi==3.8.2"}

MOTION = ["heyoka", "C"]
# Row: what it is, the peers that have it, what is to be reached in seconds.
ROWS = {
    "derive-10": ("chain of 10 links, text to first acceleration", ["CasADi"], 2e-3),
    "derive-50": ("chain of 50 links, text to first acceleration", ["CasADi"], 12e-3),
    "evaluate-2": ("chain of 2 links, one acceleration", ["CasADi", "C"], "1.2 × C"),
    "evaluate-10": ("chain of 10 links, one acceleration", ["CasADi", "C"], "1.2 × C"),
    "evaluate-50": ("chain of 50 links, one acceleration", ["CasADi", "C"], "1.2 × C"),
    "andrews": ("Andrews' mechanism, t = 0.03, error ≤ 1e-13", MOTION, 1.2e-3),
    "spherical": ("spherical pendulum, t = 10, error ≤ 1e-13", MOTION, 65e-6),
    "knife-edge": ("knife-edge dumbbell, t = 10, error ≤ 3e-14", MOTION, 20e-6),
    "two-particles": ("two particles, three dependent rows, t = 10, error ≤ 1e-13", MOTION, 40e-6),
    "whipple": ("Whipple bicycle, pushed at 4.6 m/s, t = 5, error ≤ 1e-12", ["heyoka"], 2e-3),
    "euler-top": ("free top in quaternions, t = 20, error ≤ 1e-11", MOTION, 0.5e-3),
    "slider-crank": ("flexible slider crank, stiff, t = 0.1, error ≤ 1e-7", [], 50e-3),
    "start-up": ("process to the first trajectory", [], 5e-3),
}


def word(text):
    print(text, file=sys.stderr, flush=True)


def install():
    """The peers that can be had."""
    if not PYTHON.exists():
        venv.create(PLACE, with_pip=True)
    there = []
    for name, package in PEERS.items():
        command = [PYTHON, "-m", "pip", "install", "-q", package, "numpy==2.4.6"]
        if subprocess.run(command).returncode == 0:
            there.append(name)
        else:
            word(f"{name} is left out: {package} does not install")
    return there


def programs(quick):
    """What to call for each tool."""
    extra = ["--quick"] if quick else []
    found = {"dalembert": [built_bench()]}
    there = install()
    if "heyoka" in there:
        found["heyoka"] = [PYTHON, HERE / "with_heyoka.py"]
    if "CasADi" in there:
        found["CasADi"] = [PYTHON, HERE / "with_casadi.py", *extra]
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler:
        limit = PLACE / "limit"
        flags = ["-O3", "-march=native", "-ffast-math"]
        subprocess.run([compiler, *flags, HERE / "limit.c", "-lm", "-o", limit], check=True)
        found["C"] = [limit]
    else:
        word("C is left out: there is no compiler")
    return found


def built_bench():
    command = ["cargo", "bench", "--bench", "peers", "--no-run", "--message-format", "json"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    files = [json.loads(line).get("executable") for line in lines.splitlines() if line[:1] == "{"]
    return [file for file in files if file][-1]


def start_up():
    """Seconds of the whole program, from its call to its end."""
    subprocess.run(["cargo", "build", "--release", "-p", "dalembert-cli"], cwd=ROOT, check=True)
    program = ROOT / "target" / "release" / "dal"
    command = [program, "run", "gallery:spherical-pendulum", "--no-verify"]
    times = []
    for _ in range(25):
        clock = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - clock)
    return {"seconds": statistics.median(times), "note": "dal run"}


def measure(tools, rows, rounds):
    """The lines of all rounds, by row and tool."""
    found = {}
    for turn in range(rounds):
        for row in rows:
            peers = ROWS[row][1]
            for tool in [t for t in tools if t == "dalembert" or t in peers]:
                if row == "start-up":
                    found.setdefault((row, tool), []).append(start_up())
                    continue
                word(f"round {turn + 1}: {row}, {tool}")
                run = subprocess.run([*tools[tool], row], stdout=subprocess.PIPE, text=True)
                for line in run.stdout.splitlines():
                    if line[:1] == "{":
                        found.setdefault((row, tool), []).append(json.loads(line))
    return found


def seconds(x):
    if x is None:
        return "–"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if x >= size:
            return f"{x / size:.3g} {unit}"
    return f"{x:.1e} s"


def figure(lines):
    """The median of the rounds, and what was with the first."""
    times = [line["seconds"] for line in lines if "seconds" in line]
    if not times:
        return None, lines[0] if lines else {}
    return statistics.median(times), lines[0]


def table(found, rows):
    head = "| | dalembert | how, error | set-up | best peer | C by hand | to reach |"
    out = [head, "|---|---|---|---|---|---|---|"]
    for row in rows:
        title, peers, goal = ROWS[row]
        own, first = figure(found.get((row, "dalembert"), []))
        how = first.get("note", "–")
        if "error" in first:
            how += f", {first['error']:.1e}"
        cells = {}
        for peer in peers:
            time_of, line = figure(found.get((row, peer), []))
            if time_of is not None:
                extra = [line.get("note", "")]
                extra += [f"{line['error']:.1e}"] if "error" in line else []
                extra += [f"set-up {seconds(line['setup'])}"] if "setup" in line else []
                words = ", ".join(x for x in extra if x)
                cells[peer] = f"{peer if peer != 'C' else ''} {seconds(time_of)} ({words})".strip()
        best = next((cells[p] for p in peers if p in cells and p != "C"), "–")
        goal = goal if isinstance(goal, str) else seconds(goal)
        setup = seconds(first.get("setup"))
        out.append(f"| {title} | {seconds(own)} | {how} | {setup} | {best} | {cells.get('C', '–')} | {goal} |")
    return "\n".join(out)


def main():
    arguments = sys.argv[1:]
    quick = "--quick" in arguments
    named = [a for a in arguments if not a.startswith("-")]
    unknown = [row for row in named if row not in ROWS]
    if unknown:
        sys.exit(f"no row {unknown[0]}; there are {', '.join(ROWS)}")
    rows = named or list(ROWS)
    found = measure(programs(quick), rows, 1 if quick else 3)
    text = table(found, rows)
    print(text)
    if not named:
        page = ROOT / "docs" / "peers.md"
        begin, end = "<!-- table -->", "<!-- end -->"
        old = page.read_text()
        day = datetime.date.today().strftime("%-d %B %Y")
        cores = f"{os.cpu_count()} cores, {platform.machine()}"
        new = f"{begin}\n{text}\n\n({day}; {cores}.)\n{end}"
        page.write_text(old[: old.index(begin)] + new + old[old.index(end) + len(end) :])


if __name__ == "__main__":
    main()
