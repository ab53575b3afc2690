"""Many cases of a system, and what came of them.

A study is computed in memory, or in a folder of Parquet files that outlives its process. A folder
is computed by one process on all its cores, or part by part by the workers of a cluster: then each
worker calls :func:`work` with the folder and the number of a part. What is finished of a part is
in its journal, so that whoever comes to the part next goes on with it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _dalembert
from ._answers import Answer
from ._numbers import real
from .errors import ArgumentError, InputError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Values = Union[Iterable[float], Numbers, float]

__all__ = ["Study", "work"]


class Study:
    """The ends of many motions: a row for each case, columns by name.

    ``study["x"]`` is an array over the cases; a start value that was varied is ``start(x)``.
    ``failures`` are the cases that failed, with why; what they have of a row is in it.

    A study in a folder reads its files when it is asked for numbers (by pyarrow). Cases whose
    part is not finished are NaN until it is; ``parts`` are the numbers of those parts.
    """

    def __init__(
        self,
        names: list[str],
        values: Numbers | None = None,
        failures: dict[int, str] | None = None,
        *,
        folder: Path | None = None,
        count: int = 0,
    ) -> None:
        self.names = names
        self.folder = folder
        self._count = count if values is None else len(values)
        self._table = None if values is None else (values, failures or {})

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Study:
        """The study that a folder has, be it finished or not; whoever computes it may go on."""
        place = _path(folder)
        found = _opened(place, _mark(place))
        return cls(found.names, folder=place, count=len(found))

    @property
    def values(self) -> Numbers:
        """A row for each case."""
        return self._all[0]

    @property
    def failures(self) -> dict[int, str]:
        """The cases that failed, with why."""
        return self._all[1]

    @property
    def _all(self) -> tuple[Numbers, dict[int, str]]:
        if self._table is not None:
            return self._table
        is_whole = not self.parts
        found = _read(self._place, self.names, self._count)
        if is_whole:
            self._table = found
        return found

    @property
    def _place(self) -> Path:
        if self.folder is None:
            raise ArgumentError("this study is in memory; `out=` puts one into a folder")
        return self.folder

    @property
    def parts(self) -> list[int]:
        """The numbers of the parts that are not finished, for :func:`work`."""
        return [] if self.folder is None else _dalembert.parts_left(self.folder)

    def summary(self) -> Answer:
        """Mean, deviation, least and largest of each column, in the shape of ``summary.json``.
        With all parts finished it is written into the folder, as the end of a study."""
        place = self._place
        return Answer(_opened(place, _mark(place)).summary(place))

    def __getitem__(self, name: str) -> Numbers:
        try:
            column: Numbers = self.values[:, self.names.index(name)]
        except ValueError:
            from ._result import _unknown

            raise _unknown(name, self.names) from None
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __len__(self) -> int:
        return self._count

    def to_pandas(self) -> Any:
        """All cases as a ``pandas.DataFrame``; the column ``failed`` tells which failed."""
        import pandas

        table = pandas.DataFrame(self.values, columns=self.names)
        table["failed"] = self._failed
        return table

    @property
    def _failed(self) -> NDArray[np.bool_]:
        failed = np.zeros(len(self), dtype=bool)
        failed[list(self.failures)] = True
        return failed

    @cached_property
    def _columns(self) -> list[Numbers]:
        # One copy, so that each column is in one piece; Arrow takes these over.
        return [np.ascontiguousarray(column) for column in self.values.T]

    def to_arrow(self) -> Any:
        """All cases as a ``pyarrow.Table``."""
        import pyarrow

        columns = {name: pyarrow.array(x) for name, x in zip(self.names, self._columns)}
        return pyarrow.table({**columns, "failed": pyarrow.array(self._failed)})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        varied = ", ".join(self.names)
        if self._table is None:
            left = f", {len(self.parts)} parts left" if self.parts else ""
            return f"<dalembert.Study {len(self)} cases in {str(self.folder)!r}{left}: {varied}>"
        return f"<dalembert.Study {len(self)} cases, {len(self.failures)} failed: {varied}>"

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            "<tr>" + "".join(f"<td>{value:.6g}</td>" for value in row) + "</tr>"
            for row in self.values[:10]
        )
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.names)
        more = f"<caption>{html.escape(repr(self))}</caption>"
        return f"<table>{more}<tr>{head}</tr>{rows}</table>"


def work(
    folder: str | os.PathLike[str],
    part: int,
    *,
    threads: int = 1,
    progress: Callable[[float, float], object] | None = None,
) -> Answer:
    """Computes what is left of one part of the study in a folder: what workers of a cluster call.

    All it takes is the folder, which every worker has to see, and the number of the part. It may
    be called from any number of processes on any machines, for one part too: a part is locked by
    who works on it, and what is finished in it is never computed again, also if the worker that
    did it was killed. The answer has ``part``, ``cases``, ``failed``, ``found`` (what earlier
    workers had finished) and ``computed``.

    >>> import tempfile
    >>> s = dalembert.System("param k = 1; coord x; kinetic x'^2/2; potential k*x^2/2;"
    ...                      "start x = 1")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = s.sweep({"k": [1, 2, 3]}, t_end=1, out=folder, part=2, compute=False)
    ...     [dalembert.work(folder, part).computed for part in study.parts]
    [2, 1]
    """
    place = _path(folder)
    return Answer(_opened(place, _mark(place)).work(place, part, threads=threads, progress=progress))


def _path(folder: str | os.PathLike[str]) -> Path:
    from pathlib import Path  # It takes longer to import than all of this package.

    return Path(folder).absolute()


@lru_cache(maxsize=8)
def _opened(folder: Path, mark: tuple[int, int]) -> _dalembert.Study:
    """The study of a folder, compiled once in a process however many parts it works on."""
    return _dalembert.Study.open(folder)


def _mark(folder: Path) -> tuple[int, int]:
    """Tells a study from one that had the same place before."""
    try:
        found = (folder / "sweep.json").stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_ino)


def _read(folder: Path, names: list[str], count: int) -> tuple[Numbers, dict[int, str]]:
    """What is finished in a folder."""
    import json

    import pyarrow
    from pyarrow import parquet

    values = np.full((count, len(names)), np.nan)
    failures: dict[int, str] = {}
    for sums in sorted(folder.glob("cases-*.json")):
        path = sums.with_suffix(".parquet")
        try:
            table = parquet.ParquetFile(path).read()
        except (OSError, pyarrow.ArrowException) as error:
            raise InputError(f"cannot read `{path}`, which a part of the study was in: {error}") from error
        cases = table.column("case").to_numpy().astype(int)
        for at, name in enumerate(names):
            values[cases, at] = table.column(name).to_numpy()
        failures.update((case, why) for case, why in json.loads(sums.read_text("utf-8"))["failures"])
    return values, failures


def run(
    model: _dalembert.Model,
    vary: Mapping[str, Values] | str,
    *,
    out: str | os.PathLike[str] | None,
    resume: bool,
    compute: bool,
    sampling: str | None,
    threads: int | None,
    progress: bool | Callable[[float, float], object],
    **asked: Any,
) -> Study:
    """Runs the cases of :meth:`dalembert.System.sweep`."""
    names: list[str] = []
    values: Numbers = np.zeros(0)
    text = vary if isinstance(vary, str) else None
    if not isinstance(vary, str):
        names = list(vary)
        columns = [_finite(name, v) for name, v in vary.items()]
        if sampling not in (None, "grid", "table"):
            raise ArgumentError(
                f"`{sampling}` samples what has no end of values: write `vary` as a text, "
                "such as \"m = 1..2\""
            )
        values = _table(columns) if sampling == "table" else _grid(columns)
        sampling = None
        if not values.size:
            raise ArgumentError("there are no cases")
    if out is None and (resume or not compute or asked["part"] or asked["trajectories"]):
        raise ArgumentError("`resume`, `part`, `trajectories`, `compute=False` are for a folder: `out=`")
    study = model.study(names, values.ravel(), vary=text, sampling=sampling, **asked)
    line = _Line() if progress is True else None
    listener = line or (progress if callable(progress) else None)
    try:
        if out is None:
            names, table, failures = study.compute(threads=threads, progress=listener)
            return Study(names, table, dict(failures))
        place = _path(out)
        if compute:
            study.run(place, resume=resume, threads=threads, progress=listener)
        else:
            study.begin(place, resume)
    finally:
        if line:
            line.clear()
    return Study(study.names, folder=place, count=len(study))


def _finite(name: str, values: Values) -> Numbers:
    column = np.atleast_1d(real(f"the values of `{name}`", values))
    if column.ndim > 1:
        raise ArgumentError(f"the values of `{name}` have one axis, not shape {column.shape}")
    if not np.isfinite(column).all():
        raise ArgumentError(f"the values of `{name}` must be finite")
    return column


def _grid(columns: list[Numbers]) -> Numbers:
    """Every value with every other, the last axis fastest."""
    if not columns:
        raise ArgumentError("nothing is varied")
    return np.stack([axis.ravel() for axis in np.meshgrid(*columns, indexing="ij")], axis=1)


def _table(columns: list[Numbers]) -> Numbers:
    lengths = {len(column) for column in columns}
    if len(lengths) != 1:
        raise ArgumentError(f"the columns of a table have one length, not {sorted(lengths)}")
    return np.stack(columns, axis=1)


class _Line:
    """A line that says how far a study is."""

    _width = 24

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._first: float | None = None
        self._shown = 0

    def __call__(self, done: float, of: float) -> None:
        if not of:
            return
        now = time.monotonic()
        # What earlier processes finished says nothing of the pace of this one.
        self._first = done if self._first is None else self._first
        full = int(self._width * done / of)
        bar = "█" * full + "·" * (self._width - full)
        text = f"{bar} {done:.0f} of {of:.0f} cases"
        if done > self._first and done < of:
            left = (of - done) * (now - self._began) / (done - self._first)
            text += f", {_clock(left)} left"
        print(f"\r{text:<{self._shown}}", end="", file=sys.stderr, flush=True)
        self._shown = len(text)

    def clear(self) -> None:
        print("\r" + " " * self._shown + "\r", end="", file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
