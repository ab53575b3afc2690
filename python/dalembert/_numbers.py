"""Numbers that are given: real ones, or it is said which are not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["finite", "laid_out", "names_of", "pairs", "real"]


def real(what: str, values: Any) -> NDArray[np.float64]:
    """An array of doubles. NumPy would take dates for days, and leave out imaginary parts and masks."""
    values = list(values) if isinstance(values, Iterator) else values
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufO" and not np.ma.is_masked(values):
            return array.astype(float, copy=False)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what} must be real numbers: {error}") from None
    found = "masked in part" if np.ma.is_masked(values) else f"of the type {array.dtype}"
    raise ArgumentError(f"{what} must be real numbers, and are {found}")


def laid_out(values: Any) -> NDArray[np.float64]:
    """The same in one piece; what the extension module reads."""
    return np.require(real("numbers", values), requirements=["C", "A"])


def finite(name: str, value: Any) -> float:
    """A number that is one."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must be a number, and is {value!r}") from None
    if not math.isfinite(number):
        raise ArgumentError(f"{name} must be a finite number, and is {number}")
    return number


def names_of(values: Any) -> Any:
    """What has names, as a dictionary: a ``pandas.Series`` too, whose order may be any. All else as it
    is."""
    if not isinstance(values, Mapping) and hasattr(values, "index") and hasattr(values, "to_dict"):
        own: dict[Any, Any] = values.to_dict()
        if own and all(isinstance(name, str) for name in own):
            return own
    return values


def pairs(values: Mapping[str, float] | None) -> list[tuple[str, float]]:
    """Names and finite numbers."""
    if values is None:
        return []
    values = names_of(values)
    if not isinstance(values, Mapping):
        raise ArgumentError(f"names and numbers are a dictionary, not {type(values).__name__}")
    return [(str(name), finite(str(name), value)) for name, value in values.items()]
