#!/usr/bin/env python3
"""Every page of the gallery by two builds of `dal`, in turn: what got slower.

    python3 benches/pages.py OLD NEW

prints seconds of both (the whole process, the least of several calls) and their ratio, the
slowest first. A page that only one of the two can run is named.
"""

import pathlib
import subprocess
import sys
import time

CALLS = 7


def pages():
    folder = pathlib.Path(__file__).resolve().parent.parent / "gallery"
    return sorted(str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.md"))


def seconds(program, page):
    clock = time.perf_counter()
    run = subprocess.run(
        [program, "run", f"gallery:{page}", "--no-verify"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - clock, run.returncode


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    old, new = sys.argv[1:]
    found = []
    for page in pages():
        times = {old: [], new: []}
        codes = {}
        for _ in range(CALLS):
            for program in (old, new):
                took, codes[program] = seconds(program, page)
                times[program].append(took)
                if took > 2.0:
                    break
        if codes.get(old) != codes.get(new):
            print(f"{page}: ended with {codes.get(old)}, now with {codes.get(new)}")
            continue
        a, b = min(times[old]), min(times[new])
        found.append((b / a, a, b, page))
    for ratio, a, b, page in sorted(found, reverse=True):
        print(f"{ratio:6.2f}  {1e3 * a:9.2f} ms  {1e3 * b:9.2f} ms  {page}")


if __name__ == "__main__":
    main()
