"""A study whose workers are killed, whatever runs them: nothing is lost, nothing is repeated, and
the files are those of one process, to the byte.

    python3 python/tests/clusters.py dask
    python3 python/tests/clusters.py ray
"""

from __future__ import annotations

import os
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import dalembert

SYSTEM = """
param k = 1, g = 9.81
coord a, b
kinetic a'^2 + b'^2/2 + cos(a - b)*a'*b'
potential -2*g*cos(a) - g*cos(b) + k*(a - b)^2/2
start a = 1, b = 2
"""
CASES, PART = 240, 30

#: Given what computes a part, and the parts: starts the work, and returns what waits for its answers.
Part = Callable[[int], dalembert.Answer]
Starts = Callable[[Part, list[int]], Callable[[], list[dalembert.Answer]]]


def killed(folder: Path, starts: Starts, kills: int = 2) -> None:
    """Runs a study in `folder`, `kills` times kills its two processes in the midst of it, and checks.

    Nothing goes by the clock: a process that is in the midst of a part says so and waits there, as
    long as there is a file `hold`, so that what is killed is known, however fast or slow it is. It is
    stopped before the journals are read, so that what was seen is what it leaves.
    """
    system = dalembert.System(SYSTEM)
    asked = dict(t_end=900, tol=1e-12, observe=["a", "b"], part=PART)
    vary = {"k": np.linspace(0, 3, CASES)}
    alone, shared = folder / "alone", folder / "shared"
    clock = time.perf_counter()
    system.sweep(vary, out=alone, threads=1, **asked)
    print(f"one process: {time.perf_counter() - clock:.1f} s")
    study = system.sweep(vary, out=shared, compute=False, **asked)
    parts = study.parts
    assert parts == list(range(CASES // PART))
    hold, inside = folder / "hold", folder / "inside"
    hold.touch()
    inside.mkdir()
    answers = starts(partial(dalembert.work, shared, progress=waits(hold, inside)), parts)
    seen = dict.fromkeys(parts, 0)
    gone: set[int] = set()
    for _ in range(kills):
        until(lambda: len(names(inside) - gone) == 2)
        processes = names(inside) - gone
        gone |= processes
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        found = journals(shared)
        assert sum(0 < count < PART for count in found.values()) >= 2, found
        for part, count in found.items():
            seen[part] = max(seen[part], count)
        for process in processes:
            os.kill(process, signal.SIGKILL)
    hold.unlink()
    told = answers()
    assert sorted(answer.part for answer in told) == parts
    for answer in told:
        assert answer.cases == PART == answer.found + answer.computed, answer
        assert answer.found >= seen[answer.part], (answer, seen)
    taken_over = sum(answer.found > 0 for answer in told)
    assert taken_over >= 2, "parts were gone on with by other workers"
    assert study.parts == [] and study.summary().cases == CASES
    left, right = files(alone), files(shared)
    assert left.keys() == right.keys() and len(left) == 2 * len(parts) + 3
    assert all(left[name] == right[name] for name in left), "the same to the byte"
    print(f"{kills} times killed, {taken_over} parts taken over, all files the same")


def waits(hold: Path, inside: Path) -> Callable[[float, float], None]:
    """Who is told how far a part is: says which process is in the midst of one, and waits there.

    A function in a function goes to other processes as it is, without this file.
    """

    def tell(done: float, of: float) -> None:
        if 0 < done < of:
            (inside / str(os.getpid())).touch()
            while hold.exists():
                time.sleep(0.01)

    return tell


def names(folder: Path) -> set[int]:
    return {int(path.name) for path in folder.iterdir()}


def journals(folder: Path) -> dict[int, int]:
    """How many cases are finished in parts that are not: whole records of their journals."""
    counts = {}
    for path in folder.glob("journal-*"):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue
        place = count = 0
        while place + 8 <= len(data):
            place += struct.unpack_from("<Q", data, place)[0] + 16
            count += place <= len(data)
        counts[int(path.name.removeprefix("journal-"))] = count
    return counts


def files(folder: Path) -> dict[str, bytes]:
    """All but what the study is, whose place differs."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "sweep.json"}


def until(holds: Callable[[], bool], seconds: float = 600) -> None:
    """Waits; a process of a cluster takes a while to start where many others run."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to it"
        time.sleep(0.01)


def dask(folder: Path) -> None:
    """On a local cluster of Dask, as it is."""
    from dask import config
    from distributed import Client, LocalCluster

    # Its own patience is half a minute, which a machine with much other work may take.
    patient = {f"distributed.comm.timeouts.{what}": "600s" for what in ("connect", "tcp")}
    with config.set(patient), LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, Client(cluster, timeout=600) as client:

        def starts(work: Part, parts: list[int]) -> Callable[[], list[dalembert.Answer]]:
            futures = client.map(work, parts, pure=False)
            return lambda: client.gather(futures)

        killed(folder, starts)


def ray(folder: Path) -> None:
    """On a local cluster of Ray, as it is."""
    import ray as library

    library.init(num_cpus=2, include_dashboard=False, log_to_driver=False)

    def starts(work: Part, parts: list[int]) -> Callable[[], list[dalembert.Answer]]:
        part_of = library.remote(max_retries=5)(lambda part: work(part))
        references = [part_of.remote(part) for part in parts]
        return lambda: library.get(references)

    try:
        killed(folder, starts)
    finally:
        library.shutdown()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        {"dask": dask, "ray": ray}[sys.argv[1]](Path(place))
