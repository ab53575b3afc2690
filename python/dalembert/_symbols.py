"""Models written with Python's operators, without text.

>>> b = Builder("pendulum")
>>> m, l, g = b.param("m", 1), b.param("l", 2), b.param("g", 9.81)
>>> x, y = b.coord("x"), b.coord("y")
>>> b.kinetic(m*(x.dot**2 + y.dot**2)/2)
>>> b.potential(m*g*y)
>>> b.constraint("rod", x**2 + y**2, l**2)
>>> b.start(x, 2)
>>> b.system()
<dalembert.System 'pendulum', coordinates x, y, constraints rod>

Bodies, joints, contacts and all else that has members are statements with symbols in them.

>>> b = Builder()
>>> m, r = b.param("m", 2), b.param("r", 0.5)
>>> b.add("gravity [0, -9.81]")
>>> wheel = b.part(f"body wheel: mass {m}, inertia {m*r**2/2}, free")
>>> floor = b.part(f"contact floor: ground normal [0, 1], {wheel} radius {r}, friction 0.3")
>>> b.start(wheel.r, [0, r])
>>> b.start(wheel.r[1].dot, 1)
>>> b.output("load", floor.force[2])
>>> float(round(b.system().simulate(1)["load"][-1], 9))
19.62
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _dalembert
from .errors import ArgumentError

if TYPE_CHECKING:
    from ._system import System

__all__ = ["Builder", "Part", "Symbol", "cos", "exp", "function", "log", "sin", "sqrt", "tan"]

#: What a statement such as `body w: …` declares.
_DECLARED = re.compile(r"\s*[a-z]+\s+([^\W\d]\w*(?:\[[^]]*\])?)\s*:")

#: A name that is no function's.
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*(?![\w(])")

_COMPARISON, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(6)


class Symbol:
    """An expression of the language, with operators. :class:`Builder` makes the first ones."""

    __slots__ = ("_rank", "text")
    # NumPy's numbers leave operators to this class.
    __array_ufunc__ = None

    def __init__(self, text: str, _rank: int = _ATOM) -> None:
        self.text = text
        self._rank = _rank

    def _within(self, rank: int) -> str:
        return self.text if self._rank >= rank else f"({self.text})"

    def _joined(self, sign: str, other: Symbol, rank: int) -> Symbol:
        # The right side of `-` and `/` is bracketed if it is of the same rank.
        right = other._within(rank + 1 if sign in "-/" else rank)
        return Symbol(f"{self._within(rank)}{sign}{right}", rank)

    def __add__(self, other: Term) -> Symbol:
        return self._joined(" + ", _term(other), _SUM)

    def __radd__(self, other: Term) -> Symbol:
        return _term(other) + self

    def __sub__(self, other: Term) -> Symbol:
        return Symbol(f"{self._within(_SUM)} - {_term(other)._within(_PRODUCT)}", _SUM)

    def __rsub__(self, other: Term) -> Symbol:
        return _term(other) - self

    def __mul__(self, other: Term) -> Symbol:
        return self._joined("*", _term(other), _PRODUCT)

    def __rmul__(self, other: Term) -> Symbol:
        return _term(other) * self

    def __truediv__(self, other: Term) -> Symbol:
        return self._joined("/", _term(other), _PRODUCT)

    def __rtruediv__(self, other: Term) -> Symbol:
        return _term(other) / self

    def __pow__(self, other: Term) -> Symbol:
        return Symbol(f"{self._within(_ATOM)}^{_term(other)._within(_ATOM)}", _POWER)

    def __rpow__(self, other: Term) -> Symbol:
        return _term(other) ** self

    def __neg__(self) -> Symbol:
        return Symbol(f"-{self._within(_POWER)}", _SIGN)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return function("abs", self)

    def __ge__(self, other: Term) -> Symbol:
        return _compared(self, ">=", _term(other))

    def __gt__(self, other: Term) -> Symbol:
        return _compared(self, ">", _term(other))

    # Python asks x whether x <= 3 for `3 >= x` too, and a contact is written that way.
    def __le__(self, other: Term) -> Symbol:
        return _compared(_term(other), ">=", self)

    def __lt__(self, other: Term) -> Symbol:
        return _compared(_term(other), ">", self)

    def __bool__(self) -> bool:
        # `a < b < c` would be `b < c` alone, and `if a < b` always true.
        raise TypeError("an expression is neither true nor false before there are numbers")

    def __getitem__(self, place: int | tuple[int, ...]) -> Symbol:
        """An entry, counted from 1 as in the language."""
        places = place if isinstance(place, tuple) else (place,)
        if not all(isinstance(at, numbers.Integral) and at >= 1 for at in places):
            raise IndexError(f"entries are counted from 1, and this is {place!r}")
        return Symbol(f"{self._within(_ATOM)}[{', '.join(map(str, places))}]")

    def __iter__(self) -> Iterator[Symbol]:
        raise TypeError("how many entries an expression has is known to its model only")

    def __format__(self, spec: str) -> str:
        # Within a statement it stays one term.
        text = self.text if self._rank == _COMPARISON else self._within(_ATOM)
        return format(text, spec)

    @property
    def dot(self) -> Symbol:
        """The time derivative."""
        return Symbol(f"{self._within(_ATOM)}'")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Symbol({self.text!r})"

    def latex(self) -> str:
        """The expression in LaTeX.

        >>> (Symbol("x").dot**2/2).latex()
        '\\\\frac{1}{2} \\\\dot{x}^{2}'
        """
        names = dict.fromkeys(_NAME.findall(self.text))
        known = [name for name in names if name not in ("t", "pi")]
        return _dalembert.typeset(self.text, known)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"


def _compared(left: Symbol, sign: str, right: Symbol) -> Symbol:
    return Symbol(f"{left._within(_SUM)} {sign} {right._within(_SUM)}", _COMPARISON)


class Part(Symbol):
    """What has members: a body, a joint, a contact. Its attributes are these."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Part:
        if name.startswith("_"):
            raise AttributeError(name)
        return Part(f"{self.text}.{name}")


Term = Union[Symbol, float, Sequence[Any]]


def _term(value: Term) -> Symbol:
    if isinstance(value, Symbol):
        return value
    if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value):
        return Symbol(f"[{', '.join(_term(entry).text for entry in value)}]")
    if isinstance(value, numbers.Integral):
        text = str(int(value))
    elif isinstance(value, numbers.Real):
        text = repr(float(value))
        if not math.isfinite(value):
            raise ValueError(f"the language has no number {text}")
    else:
        raise TypeError(f"{value!r} is no number and no Symbol")
    return Symbol(text, _SIGN if text.startswith("-") else _ATOM)


def function(name: str, *arguments: Term) -> Symbol:
    """A function of the language.

    >>> function("atan2", Symbol("y"), Symbol("x"))
    Symbol('atan2(y, x)')
    """
    return Symbol(f"{name}({', '.join(_term(a).text for a in arguments)})")


def sin(x: Term) -> Symbol:
    """The sine of an angle in radians."""
    return function("sin", x)


def cos(x: Term) -> Symbol:
    """The cosine of an angle in radians."""
    return function("cos", x)


def tan(x: Term) -> Symbol:
    """The tangent of an angle in radians."""
    return function("tan", x)


def sqrt(x: Term) -> Symbol:
    """The square root."""
    return function("sqrt", x)


def exp(x: Term) -> Symbol:
    """e to the power x."""
    return function("exp", x)


def log(x: Term) -> Symbol:
    """The natural logarithm."""
    return function("log", x)


class Builder:
    """Writes a model statement by statement; the statements are those of the language."""

    #: Time.
    t = Symbol("t")

    def __init__(self, title: str = "") -> None:
        self._lines = [f"system {title}"] if title else []

    def add(self, statement: str) -> None:
        """A statement as the language has it; symbols in an f-string stay together in it."""
        self._lines.append(statement)

    def part(self, statement: str) -> Part:
        """A statement that declares something with members, such as ``body``, ``joint``, ``contact``
        or ``friction``; gives what it declares.

        >>> b = Builder()
        >>> ball = b.part("body ball: mass 1, free")
        >>> ball.r[1].dot
        Symbol("ball.r[1]'")
        """
        found = _DECLARED.match(statement)
        if found is None:
            raise ArgumentError(f"a part is declared as `body NAME: …`, and not as `{statement}`")
        self.add(statement)
        return Part(found[1])

    def param(self, name: str, value: Term | None = None) -> Symbol:
        """A parameter."""
        self.add(f"param {name}" if value is None else f"param {name} = {_term(value)}")
        return Symbol(name)

    def coord(self, name: str) -> Symbol:
        """A coordinate."""
        self.add(f"coord {name}")
        return Symbol(name)

    def let(self, name: str, value: Term) -> Part:
        """A name for an expression."""
        self.add(f"let {name} = {_term(value)}")
        return Part(name)

    def input(self, name: str, value: Term | None = None) -> Symbol:
        """An input, and what a run takes for it if nothing else is given."""
        self.add(f"input {name}" if value is None else f"input {name} = {_term(value)}")
        return Symbol(name)

    def state(self, name: str, rate: Term) -> Symbol:
        """A state, a quantity with a rate and no mass; ``Symbol(name)`` stands for it in the rate.

        >>> b = Builder()
        >>> b.state("z", 1 - Symbol("z"))
        Symbol('z')
        """
        self.add(f"state {name}' = {_term(rate)}")
        return Symbol(name)

    def output(self, name: str, value: Term) -> None:
        """An output, a column of results and a row of C of linear equations."""
        self.add(f"output {name} = {_term(value)}")

    def kinetic(self, energy: Term) -> None:
        """A term of T."""
        self.add(f"kinetic {_term(energy)}")

    def potential(self, energy: Term) -> None:
        """A term of V."""
        self.add(f"potential {_term(energy)}")

    def lagrangian(self, terms: Term) -> None:
        """Further terms of L."""
        self.add(f"lagrangian {_term(terms)}")

    def dissipation(self, function: Term) -> None:
        """A term of Rayleigh's function R: the force −∂R/∂q̇."""
        self.add(f"dissipation {_term(function)}")

    def force(self, coordinate: Symbol, value: Term) -> None:
        """A generalized force on a coordinate."""
        self.add(f"force {coordinate}: {_term(value)}")

    def constraint(self, name: str, left: Term, right: Term = 0) -> None:
        """What always holds: left = right."""
        self.add(f"constraint {name}: {_term(left)} = {_term(right)}")

    def start(self, quantity: Symbol, value: Term) -> None:
        """What holds at the start."""
        self.add(f"start {quantity} = {_term(value)}")

    def observe(self, name: str, value: Term) -> None:
        """A further output."""
        self.add(f"observe {name} = {_term(value)}")

    @property
    def text(self) -> str:
        """The text of the model."""
        return "\n".join(self._lines) + "\n"

    def __repr__(self) -> str:
        return self.text

    def _repr_latex_(self) -> str:
        return self.system()._repr_latex_()

    def system(self) -> System:
        """The model; what is wrong with it is said at the statement."""
        from ._system import System

        return System(self.text)
