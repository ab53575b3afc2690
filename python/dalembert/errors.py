"""What can go wrong: one exception for each kind, all of them an :class:`Error`.

The text of an exception is what ``dal`` prints: the message with the line of the model that is
to blame, underlined. ``diagnostics`` has the same as dictionaries, in the shape of
``dal check --json``.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "ArgumentError",
    "CertificateError",
    "Error",
    "InputError",
    "InternalError",
    "MissingValueError",
    "ModelError",
    "NoMotionError",
    "RunError",
    "StartError",
    "UnknownNameError",
]


class Error(Exception):
    """Something went wrong.

    ``diagnostics`` are the messages with their places: ``code``, ``severity``, ``message``,
    ``labels`` (``file``, ``line``, ``column``, …) and ``hints``. The list is empty where no line
    of a model is to blame.
    """

    diagnostics: list[dict[str, Any]]

    def __init__(self, text: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics or []

    def __str__(self) -> str:
        # As it is: a KeyError would show the text in quotes.
        return str(self.args[0]) if self.args else ""

    @property
    def code(self) -> str | None:
        """The code of the first message, which ``dal explain`` tells more about."""
        return self.diagnostics[0]["code"] if self.diagnostics else None


class ModelError(Error, ValueError):
    """The model has faults, or a formulation does not apply to it."""


class InputError(Error, OSError):
    """A text could not be read."""


class MissingValueError(Error, ValueError):
    """Parameters have no value; ``names`` are theirs."""

    names: list[str]


class StartError(Error, ValueError):
    """There is no consistent start."""


class RunError(Error, ArithmeticError):
    """A run did not begin or could not go on, or numbers could not be had."""


class NoMotionError(Error, ArithmeticError):
    """A state has no accelerations, or not one set of them."""


class CertificateError(Error, ArithmeticError):
    """A run is not what it should be; ``failed`` says what is above its bound."""

    failed: list[str]


class UnknownNameError(Error, KeyError):
    """Nothing has this ``name``; there are those of ``known``."""

    name: str
    known: list[str]


class ArgumentError(Error, ValueError):
    """An argument that cannot be taken."""


class InternalError(Error, RuntimeError):
    """A fault of this package. Please report it."""


_KINDS: dict[str, type[Error]] = {
    "argument": ArgumentError,
    "certificate": CertificateError,
    "failed": RunError,
    "input": InputError,
    "internal": InternalError,
    "missing": MissingValueError,
    "model": ModelError,
    "no motion": NoMotionError,
    "start": StartError,
    "unknown": UnknownNameError,
}


def _made(
    kind: str, text: str, *, fields: dict[str, Any], diagnostics: list[dict[str, Any]]
) -> Error:
    """The exception of a kind; the extension module calls this."""
    error = _KINDS[kind](text, diagnostics)
    for name, value in fields.items():
        if name != "code":
            setattr(error, name, value)
    return error
