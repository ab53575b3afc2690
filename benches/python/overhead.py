"""What the way from Python into the library costs: calls from Python against the same from Rust.

    pip install .                        # an optimized wheel
    python3 benches/python/overhead.py   # prints the table of docs/performance.md

Least times of several rounds of both, in turn on one machine.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import dalembert

ROOT = Path(__file__).parents[2]
#: Both sides are measured so often, in turn.
ROUNDS = 4
LEAST: dict[tuple[str, str, int], float] = {}
LIMITS = {"acceleration": 2e-6, "evaluate": 20e-6, "simulate": 50e-6}


def least(calls, call):
    """The least time of a call, of several rounds."""
    rounds = []
    for _ in range(30):
        clock = time.perf_counter()
        for _ in range(calls):
            call()
        rounds.append((time.perf_counter() - clock) / calls)
    return min(rounds)


def measured(name):
    """The same calls as main.rs makes."""
    system = dalembert.System.from_gallery(name)
    motion = system.simulate((0.0, 0.01), every=0.01, verify=False)
    y = motion.y[:, -1].copy()
    n = len(y) // 2
    q, v, out = y[:n].copy(), y[n:].copy(), np.empty(n)
    f = system.function("acceleration")
    names = system.coordinates + system.velocities
    state = dict(zip(names, y.tolist()))
    return {
        "acceleration": least(20_000, lambda: f(0.0, q, v, out=out)),
        "evaluate": least(100, lambda: system.evaluate(state)),
        "simulate": least(
            10, lambda: system.simulate((0.0, 0.01), every=0.01, verify=False)["t"]
        ),
    }


def import_time():
    """Importing dalembert where NumPy is imported already."""
    program = (
        "import numpy, time; t = time.perf_counter(); import dalembert;"
        "print(time.perf_counter() - t)"
    )
    run = lambda: subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return min(float(run().stdout) for _ in range(10))


def both(name, found, ours):
    """The least of the Rust side and of ours, of what was found before and now."""
    for call in LIMITS:
        for own, times in enumerate((found, ours)):
            key = (name, call, own)
            LEAST[key] = min(LEAST.get(key, float("inf")), times[call] * 1e6)


def main():
    bench = ["cargo", "bench", "--quiet", "--bench", "python"]
    for _ in range(ROUNDS):
        done = subprocess.run(bench, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        rust = json.loads(done.stdout)
        for name, times in rust.items():
            both(name, times, measured(name))
    print("| system | call | Rust, µs | Python, µs | more, µs | allowed, µs |\n|---|---|---|---|---|---|")
    for name in rust:
        for call, limit in LIMITS.items():
            a, b = LEAST[name, call, 0], LEAST[name, call, 1]
            print(f"| {name} | `{call}` | {a:.2f} | {b:.2f} | {b - a:.2f} | {limit * 1e6:.0f} |")
    print(f"\nimport beyond Python and NumPy: {import_time() * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
