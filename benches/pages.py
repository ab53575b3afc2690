#!/usr/bin/env python3
"""Every page of the gallery by two builds of `dal`, in turn: what got slower.

    python3 benches/pages.py OLD NEW [COMMAND [OPTION ...]]

prints milliseconds of both (processor time of the whole process, which other programs hardly change,
the least of several calls) and their ratio, the slowest first. The command is `run --no-verify` unless
another one is given. A page that only one of the two can do is named.
"""

import pathlib
import resource
import subprocess
import sys

CALLS = 7


def pages():
    folder = pathlib.Path(__file__).resolve().parent.parent / "gallery"
    return sorted(str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.md"))


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds(program, command, page):
    before = used()
    run = subprocess.run(
        [program, command[0], f"gallery:{page}", *command[1:]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return used() - before, run.returncode


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    old, new, *command = sys.argv[1:]
    command = command or ["run", "--no-verify"]
    found = []
    for page in pages():
        times = {old: [], new: []}
        codes = {}
        for _ in range(CALLS):
            for program in (old, new):
                took, codes[program] = seconds(program, command, page)
                times[program].append(took)
            if sum(times[old]) + sum(times[new]) > 4.0:
                break
        if codes.get(old) != codes.get(new):
            print(f"{page}: ended with {codes.get(old)}, now with {codes.get(new)}")
            continue
        a, b = min(times[old]), min(times[new])
        found.append((b / a, a, b, page))
    for ratio, a, b, page in sorted(found, reverse=True):
        print(f"{ratio:6.2f}  {1e3 * a:9.2f} ms  {1e3 * b:9.2f} ms  {page}")
    both = [sum(times) for times in zip(*[(a, b) for _, a, b, _ in found])]
    print(f"all: {1e3 * both[0]:.0f} ms, now {1e3 * both[1]:.0f} ms")


if __name__ == "__main__":
    main()
