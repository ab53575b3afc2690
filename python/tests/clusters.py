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

#: Given the folder and the parts: starts the work, and returns what waits for its answers.
Starts = Callable[[Path, list[int]], Callable[[], list[dalembert.Answer]]]


def killed(folder: Path, starts: Starts, workers: Callable[[], list[int]], kills: int = 2) -> None:
    """Runs a study in `folder`, `kills` times kills its processes in the midst of it, and checks.

    They are stopped before the journals are read, so that what was seen is what they leave.
    """
    system = dalembert.System(SYSTEM)
    asked = dict(t_end=3600, tol=1e-12, observe=["a", "b"], part=PART)
    vary = {"k": np.linspace(0, 3, CASES)}
    alone, shared = folder / "alone", folder / "shared"
    clock = time.perf_counter()
    system.sweep(vary, out=alone, threads=1, **asked)
    print(f"one process: {time.perf_counter() - clock:.1f} s")
    study = system.sweep(vary, out=shared, compute=False, **asked)
    parts = study.parts
    assert parts == list(range(CASES // PART))
    answers = starts(shared, parts)
    seen = dict.fromkeys(parts, 0)
    for _ in range(kills):
        until(lambda: any(0 < count < PART for count in journals(shared).values()))
        processes = workers()
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        for part, count in journals(shared).items():
            seen[part] = max(seen[part], count)
        for process in processes:
            os.kill(process, signal.SIGKILL)
        time.sleep(0.5)
    told = answers()
    assert sorted(answer.part for answer in told) == parts
    for answer in told:
        assert answer.cases == PART == answer.found + answer.computed, answer
        assert answer.found >= seen[answer.part], (answer, seen)
    taken_over = sum(answer.found > 0 for answer in told)
    assert taken_over, "a part was gone on with by another worker"
    assert study.parts == [] and study.summary().cases == CASES
    left, right = files(alone), files(shared)
    assert left.keys() == right.keys() and len(left) == 2 * len(parts) + 3
    assert all(left[name] == right[name] for name in left), "the same to the byte"
    print(f"{kills} times killed, {taken_over} parts taken over, all files the same")


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


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to it"
        time.sleep(0.01)


def dask(folder: Path) -> None:
    """On a local cluster of Dask, as it is."""
    from functools import partial

    from distributed import Client, LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, Client(cluster) as client:

        def starts(place: Path, parts: list[int]) -> Callable[[], list[dalembert.Answer]]:
            futures = client.map(partial(dalembert.work, place), parts, pure=False)
            return lambda: client.gather(futures)

        gone: set[int] = set()

        def workers() -> list[int]:
            # Both: one that was being started would go on unseen.
            def alive() -> set[int]:
                return {*client.run(os.getpid, on_error="ignore").values()} - gone

            until(lambda: len(alive()) == 2)
            gone.update(found := alive())
            return list(found)

        killed(folder, starts, workers)


def ray(folder: Path) -> None:
    """On a local cluster of Ray, as it is."""
    import ray as library

    library.init(num_cpus=2, include_dashboard=False, log_to_driver=False)

    @library.remote(max_retries=5)
    def part_of(place: str, part: int) -> dalembert.Answer:
        (Path(place).parent / f"worker-{os.getpid()}").touch()
        return dalembert.work(place, part)

    def starts(place: Path, parts: list[int]) -> Callable[[], list[dalembert.Answer]]:
        references = [part_of.remote(str(place), part) for part in parts]
        return lambda: library.get(references)

    def workers() -> list[int]:
        pids = [int(path.name.removeprefix("worker-")) for path in folder.glob("worker-*")]
        return [pid for pid in pids if Path(f"/proc/{pid}").exists()]

    try:
        killed(folder, starts, workers)
    finally:
        library.shutdown()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        {"dask": dask, "ray": ray}[sys.argv[1]](Path(place))
