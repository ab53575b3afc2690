"""Linear equations, with arrays for matrices and spectra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._answers import Answer

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Linearization"]

_MATRICES = ("state", "mass", "damping", "stiffness", "A", "B", "C", "D")


class Linearization(Answer):
    """The linear equations ẋ = A x + B u, y = C x + D u of deviations from a state, in the shape of
    ``dal linearize --json``; ``eigenvalues``, ``matrices``, poles and zeros are arrays.

    ``A``, ``B``, ``C``, ``D`` and the ``names`` of x, ``inputs`` of the columns of B and ``outputs``
    of the rows of C are attributes.
    """

    def __getattr__(self, name: str) -> Any:
        if name not in self and name in self.get("matrices", {}):
            return self["matrices"][name]
        return super().__getattr__(name)

    @property
    def state_space(self) -> tuple[NDArray[np.float64], ...]:
        """A, B, C and D, as ``scipy.signal.StateSpace`` and ``control.ss`` take them.

        >>> s = dalembert.System("input F = 0; coord x; kinetic x'^2/2; potential 2*x^2;"
        ...                      "force x: F; output place = x")
        >>> from scipy import signal
        >>> np.round(abs(signal.StateSpace(*s.linearize().state_space).poles), 9)
        array([2., 2.])
        """
        matrices = self["matrices"]
        return matrices["A"], matrices["B"], matrices["C"], matrices["D"]


def answer(found: dict[str, Any]) -> Answer:
    """What is found with its lists of numbers as arrays."""
    if "points" in found:
        return Answer({**found, "points": [answer(point) for point in found["points"]]})
    if "equilibria" in found:
        return Answer({**found, "equilibria": [answer(one) for one in found["equilibria"]]})
    made = Linearization(found)
    if "monodromy" in made:
        made["monodromy"] = np.array(made["monodromy"], dtype=float)
        made["multipliers"] = _complex(made["multipliers"])
    if "eigenvalues" in made:
        made["eigenvalues"] = _complex(made["eigenvalues"])
    if "matrices" in made:
        matrices = made["matrices"]
        # A matrix without rows is a list without the length of these.
        width = {"C": len(matrices["names"]), "D": len(matrices.get("inputs", ()))}
        made["matrices"] = Answer(
            {
                name: _matrix(value, width.get(name)) if name in _MATRICES else value
                for name, value in matrices.items()
            }
        )
    if "control" in made:
        made["control"] = control = Answer(made["control"])
        for name in ("poles", "zeros"):
            control[name] = _complex(control[name])
        control["channels"] = [
            Answer({**channel, "zeros": _complex(channel["zeros"])})
            for channel in control["channels"]
        ]
    return made


def _complex(pairs: Any) -> Any:
    """Pairs of numbers; ``None`` stays what it is."""
    if pairs is None:
        return None
    return np.array([complex(*pair) for pair in pairs], dtype=complex)


def _matrix(rows: Any, width: int | None) -> Any:
    """A matrix, NaN where an entry is not known; ``None`` stays what it is."""
    if rows is None:
        return None
    made = np.array(rows, dtype=float)
    return made.reshape(0, width) if width is not None and not len(rows) else made
