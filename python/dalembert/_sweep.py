"""Many cases of a system, and what came of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _dalembert
from .errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Values = Union[Iterable[float], Numbers, float]

__all__ = ["Study"]


class Study:
    """The ends of many motions: a row for each case, columns by name.

    ``study["x"]`` is an array over the cases; a start value that was varied is ``start(x)``.
    ``failures`` are the cases that failed, with why; what they have of a row is in it.
    """

    def __init__(self, names: list[str], values: Numbers, failures: dict[int, str]) -> None:
        self.names = names
        self.values = values
        self.failures = failures

    def __getitem__(self, name: str) -> Numbers:
        try:
            column: Numbers = self.values[:, self.names.index(name)]
        except ValueError:
            from ._result import _unknown

            raise _unknown(name, self.names) from None
        return column

    def __len__(self) -> int:
        return len(self.values)

    def to_pandas(self) -> Any:
        """All cases as a ``pandas.DataFrame``; the column ``failed`` tells which failed."""
        import pandas

        table = pandas.DataFrame(self.values, columns=self.names)
        table["failed"] = [case in self.failures for case in range(len(self))]
        return table

    def to_arrow(self) -> Any:
        """All cases as a ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.Table.from_pandas(self.to_pandas())

    def __repr__(self) -> str:
        varied = ", ".join(self.names)
        return f"<dalembert.Study {len(self)} cases, {len(self.failures)} failed: {varied}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{value:.6g}</td>" for value in row) + "</tr>"
            for row in self.values[:10]
        )
        head = "".join(f"<th>{name}</th>" for name in self.names)
        more = f"<caption>{self!r}</caption>".replace("<dalembert", "&lt;dalembert")
        return f"<table>{more}<tr>{head}</tr>{rows}</table>"


def run(
    model: _dalembert.Model,
    vary: Mapping[str, Values] | str,
    *,
    sampling: str | None,
    progress: bool | Callable[[float, float], object],
    **asked: Any,
) -> Study:
    """Runs the cases of :meth:`dalembert.System.sweep`."""
    names: list[str] = []
    values: Numbers = np.zeros(0)
    text = vary if isinstance(vary, str) else None
    if not isinstance(vary, str):
        names = list(vary)
        columns = [np.atleast_1d(np.asarray(v, dtype=float)) for v in vary.values()]
        values = _table(columns) if sampling == "table" else _grid(columns)
        if sampling not in (None, "grid", "table"):
            raise ArgumentError(
                f"`{sampling}` samples what has no end of values: write `vary` as a text, "
                "such as \"m = 1..2\""
            )
        sampling = None
    line = _Line() if progress is True else None
    listener = line or (progress if callable(progress) else None)
    try:
        names, table, failures = model.sweep(
            names, values.ravel(), vary=text, sampling=sampling, progress=listener, **asked
        )
    finally:
        if line:
            line.clear()
    return Study(names, table, dict(failures))


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

    def __call__(self, done: float, of: float) -> None:
        print(f"\r{done:.0f} of {of:.0f} cases", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr, flush=True)
