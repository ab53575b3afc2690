"""What a run takes for inputs: formulas, numbers, samples, functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ._numbers import real
from .errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from . import _dalembert

    #: A formula of t and parameters; a number; a function of time, or one with derivatives behind
    #: it; times and values, and the words that a table of them has.
    Drive: TypeAlias = (
        str
        | float
        | Callable[[float], float]
        | Sequence[Callable[[float], float]]
        | tuple[ArrayLike, ArrayLike]
        | tuple[ArrayLike, ArrayLike, str]
    )

_WORDS = ("linear", "monotone", "cubic", "hold", "extend", "repeat")


def driven(
    model: _dalembert.Model, inputs: Mapping[str, Drive], known: Sequence[str]
) -> _dalembert.Model:
    """The model with these inputs, of those that it has."""
    texts: list[str] = []
    statements: list[str] = []
    functions: list[tuple[str, list[Callable[[float], float]]]] = []
    for name, drive in inputs.items():
        if name not in known:
            have = f"there are {', '.join(known)}" if known else "the model has no `input`"
            error = UnknownNameError(f"no input is called `{name}`; {have}")
            error.name, error.known = name, list(known)
            raise error
        if isinstance(drive, str):
            texts.append(f"{name}={drive}")
        elif callable(drive):
            functions.append((name, [drive]))
        elif isinstance(drive, (tuple, list)) and drive and all(callable(f) for f in drive):
            functions.append((name, list(drive)))
        elif isinstance(drive, (tuple, list)) and len(drive) in (2, 3):
            table = _unused(name, model.text + "".join(statements))
            statements.append(f"table {table} = {_points(name, *drive)}")
            texts.append(f"{name}={table}(t)")
        else:
            texts.append(f"{name}={_number(name, drive)!r}")
    return model.with_inputs(texts, "\n".join(statements), functions)


def _unused(name: str, text: str) -> str:
    """A name for the samples of an input that nothing has."""
    own = "samples_" + "".join(c if c.isalnum() and c.isascii() else "_" for c in name)
    at, found = 1, own
    while found in text:
        at += 1
        found = f"{own}_{at}"
    return found


def _points(name: str, times: ArrayLike, values: ArrayLike, words: Any = "") -> str:
    """Samples as the language writes a table."""
    t, y = (real(f"samples of `{name}`", x) for x in (times, values))
    if t.ndim != 1 or t.shape != y.shape or len(t) < 2:
        raise ArgumentError(
            f"samples of `{name}` are times and values, two or more of each, and have shapes "
            f"{t.shape} and {y.shape}"
        )
    if not (np.isfinite(t).all() and np.isfinite(y).all() and (np.diff(t) > 0).all()):
        raise ArgumentError(f"samples of `{name}` are finite, at times that rise")
    options = str(words).replace(",", " ").split()
    if wrong := [word for word in options if word not in _WORDS]:
        raise ArgumentError(f"samples have no option `{wrong[0]}`; there are {', '.join(_WORDS)}")
    if not {"hold", "extend", "repeat"} & set(options):
        options.append("hold")
    points = ", ".join(f"[{a!r}, {b!r}]" for a, b in zip(t.tolist(), y.tolist()))
    return f"[{points}], {', '.join(options)}"


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"input `{name}` is a formula, a number, a function, or samples (times, values), and "
            f"not {type(value).__name__}"
        ) from None
    if not math.isfinite(number):
        raise ArgumentError(f"input `{name}` must be finite, and is {number}")
    return number
