"""From SymPy's expressions to a model, and back to SymPy's matrices.

On the way in, a printer writes each expression in the language: functions of time are
coordinates, their derivatives have primes, free symbols are parameters. On the way back the
language's text is read by Python's own parser, whose tree is close enough, and numbers stay exact.
"""

from __future__ import annotations

import ast
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.physics import mechanics
from sympy.physics.mechanics import KanesMethod, LagrangesMethod, dynamicsymbols
from sympy.physics.mechanics import System as Assembly
from sympy.printing.str import StrPrinter

from ._answers import Answer
from .errors import ArgumentError

#: The older framework of joints, where SymPy still has it.
_JOINTS: Any = getattr(mechanics, "JointsMethod", ())

#: Names that belong to the language.
_TAKEN = frozenset(
    "t pi and or energy kinetic potential sin cos tan asin acos atan atan2 sinh cosh tanh exp log "
    "sqrt abs sign min max mod if sum product dot cross norm transpose Rx Ry Rz Rq axial "
    "multiplier reaction residual".split()
)

_FUNCTIONS = {
    sp.sin: "sin",
    sp.cos: "cos",
    sp.tan: "tan",
    sp.asin: "asin",
    sp.acos: "acos",
    sp.atan: "atan",
    sp.atan2: "atan2",
    sp.sinh: "sinh",
    sp.cosh: "cosh",
    sp.tanh: "tanh",
    sp.exp: "exp",
    sp.log: "log",
    sp.Abs: "abs",
    sp.sign: "sign",
    sp.Min: "min",
    sp.Max: "max",
}

_X = sp.Dummy("x")
#: tan(½ arcsin) of hyperbolas: x/(1 + √(1 + x²)), which is smooth and keeps its digits.
_HALF = _X / (1 + sp.sqrt(1 + _X**2))

#: What the language has no word for, in terms of what it has, where its values are real.
_REWRITTEN: dict[Any, Any] = {
    sp.sec: 1 / sp.cos(_X),
    sp.csc: 1 / sp.sin(_X),
    sp.cot: 1 / sp.tan(_X),
    sp.asec: sp.acos(1 / _X),
    sp.acsc: sp.asin(1 / _X),
    sp.acot: sp.atan(1 / _X),
    sp.sech: 1 / sp.cosh(_X),
    sp.csch: 1 / sp.sinh(_X),
    sp.coth: 1 / sp.tanh(_X),
    sp.asinh: sp.log((1 + _HALF) / (1 - _HALF)),
    sp.acosh: sp.log(_X + sp.sqrt(_X - 1) * sp.sqrt(_X + 1)),
    sp.atanh: sp.log((1 + _X) / (1 - _X)) / 2,
    sp.sinc: sp.Piecewise((sp.sin(_X) / _X, sp.Ne(_X, 0)), (1, True)),
}

#: What is written as it stands, beside functions.
_KNOWN = (
    sp.Add,
    sp.Mul,
    sp.Pow,
    sp.Symbol,
    sp.Function,
    sp.Max,
    sp.Min,
    sp.Derivative,
    sp.Rational,
    sp.Float,
    sp.NumberSymbol,
    sp.core.relational.Relational,
    sp.And,
    sp.Or,
    sp.UnevaluatedExpr,
)


class _Names:
    """A name of the language for each symbol and function of time."""

    def __init__(self) -> None:
        self.by_atom: dict[Any, str] = {}

    def of(self, atom: Any) -> str:
        if atom not in self.by_atom:
            name = "".join(map(_plain, unicodedata.normalize("NFC", _called(atom))))
            # A name begins with a letter.
            name = name if name[:1].isalpha() else f"s_{name.lstrip('_')}"
            while name in _TAKEN or name in self.by_atom.values():
                name += "_"
            self.by_atom[atom] = name
        return self.by_atom[atom]

    def meant(self, given: Any) -> Any:
        """What somebody means who gives a name: the one thing here that SymPy calls so, whatever it
        assumes of it."""
        if not isinstance(given, str):
            return sp.sympify(given)
        found = [atom for atom, name in self.by_atom.items() if given in (_called(atom), name)]
        if len(found) > 1:
            raise ArgumentError(f"more than one symbol is called `{given}`: give the symbol itself")
        return found[0] if found else sp.Symbol(given)


def _called(atom: Any) -> str:
    return str(atom.func.__name__ if isinstance(atom, sp.Function) else atom.name)


def _plain(letter: str) -> str:
    """A letter as the language has it in names: dots above it are rates there, raised digits are
    exponents."""
    base, *marks = list(unicodedata.normalize("NFD", letter))
    if "\u0307" in marks or ("\u0308" in marks and base not in "aeiouyAEIOUY"):
        return f"{base}_dot"
    if letter.isdigit() and not letter.isdecimal():
        return str(unicodedata.digit(letter))
    return letter if letter.isalpha() or letter.isdecimal() else "_"


class _Printer(StrPrinter):
    """Writes an expression in the language."""

    def __init__(self, names: _Names, coordinates: list[Any], time: Any) -> None:
        super().__init__({"full_prec": True})
        self.names, self.coordinates, self.time = names, coordinates, time
        #: What stands for something else, by its text.
        self.stands: dict[Any, str] = {}
        #: Functions of time that are no coordinates.
        self.inputs: list[Any] = []

    def _print(self, expr: Any, **more: Any) -> str:
        if isinstance(expr, sp.Basic) and not isinstance(expr, _KNOWN):
            raise ArgumentError(_refusal(expr))
        return str(super()._print(expr, **more))

    def _print_Symbol(self, expr: Any) -> str:
        if expr in self.stands:
            return self.stands[expr]
        return "t" if expr == self.time else self.names.of(expr)

    _print_Dummy = _print_Symbol

    def _print_Function(self, expr: Any) -> str:
        if expr in self.coordinates:
            return self.names.of(expr)
        for kind, name in _FUNCTIONS.items():
            if isinstance(expr, kind):
                return f"{name}({', '.join(self._print(a) for a in expr.args)})"
        for kind, form in _REWRITTEN.items():
            if isinstance(expr, kind):
                return self._print(form.xreplace({_X: expr.args[0]}))
        if isinstance(expr, sp.core.function.AppliedUndef):
            return self._input(expr)
        raise ArgumentError(f"the language has no function {expr.func.__name__}")

    _print_Abs = _print_sign = _print_Min = _print_Max = _print_Function

    def _print_Mod(self, expr: Any) -> str:
        x, n = (self._print(a) for a in expr.args)
        return f"mod({x}, {n})"

    def _print_floor(self, expr: Any) -> str:
        x = self._print(expr.args[0])
        return f"({x} - mod({x}, 1))"

    def _print_ceiling(self, expr: Any) -> str:
        x = self._print(expr.args[0])
        return f"({x} + mod(-({x}), 1))"

    def _print_frac(self, expr: Any) -> str:
        return f"mod({self._print(expr.args[0])}, 1)"

    def _print_SingularityFunction(self, expr: Any) -> str:
        return self._print(expr.rewrite(sp.Piecewise))

    def _print_Heaviside(self, expr: Any) -> str:
        x, at_zero = (self._print(a) for a in expr.args)
        return f"if({x} > 0, 1, if({x} < 0, 0, {at_zero}))"

    def _print_Equality(self, expr: Any) -> str:
        left, right = (self._print(a) for a in expr.args)
        return f"{left} <= {right} and {left} >= {right}"

    def _print_Unequality(self, expr: Any) -> str:
        left, right = (self._print(a) for a in expr.args)
        return f"{left} < {right} or {left} > {right}"

    def _input(self, expr: Any) -> str:
        if expr.args != (self.time,):
            raise ArgumentError(
                f"{expr} is none of the coordinates, and no function of {self.time}, which would be "
                "an input"
            )
        if expr not in self.inputs:
            self.inputs.append(expr)
        return self.names.of(expr)

    def _print_Derivative(self, expr: Any) -> str:
        of = expr.expr
        is_rate = of in self.coordinates or isinstance(of, sp.core.function.AppliedUndef)
        if not is_rate or expr.variables != (self.time,) * len(expr.variables):
            raise ArgumentError(f"{expr} is no rate of a coordinate; `.doit()` may help")
        return str(self._print(of)) + "'" * len(expr.variables)

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        if expr.exp == sp.S.Half:
            return f"sqrt({self._print(expr.base)})"
        base = self.parenthesize(expr.base, sp.printing.precedence.PRECEDENCE["Func"], strict=True)
        exponent = self._print(expr.exp)
        plain = expr.exp.is_Symbol or (expr.exp.is_Integer and expr.exp >= 0)
        return f"{base}^{exponent if plain else f'({exponent})'}"

    def _print_Exp1(self, expr: Any) -> str:
        return "exp(1)"

    def _print_NumberSymbol(self, expr: Any) -> str:
        return repr(float(expr))

    _print_GoldenRatio = _print_TribonacciConstant = _print_NumberSymbol
    _print_EulerGamma = _print_Catalan = _print_NumberSymbol

    def _print_Float(self, expr: Any) -> str:
        return repr(float(expr)) if expr._prec <= 53 else str(sp.Rational(expr))

    def _print_Piecewise(self, expr: Any) -> str:
        *pairs, (last, condition) = expr.args
        if condition != sp.true:
            raise ArgumentError(f"{expr} has no value where no condition holds")
        text = self._print(last)
        for value, condition in reversed(pairs):
            text = f"if({self._condition(condition)}, {self._print(value)}, {text})"
        return text

    def _condition(self, expr: Any) -> str:
        """Comparisons, joined by `and` and `or` alone."""
        inside = {c: c.args[1].as_relational(c.args[0]) for c in expr.atoms(sp.Contains)}
        return self._print(sp.to_nnf(expr.xreplace(inside), simplify=False))

    def _print_And(self, expr: Any) -> str:
        return " and ".join(f"({self._print(a)})" for a in expr.args)

    def _print_Or(self, expr: Any) -> str:
        return " or ".join(f"({self._print(a)})" for a in expr.args)

    def emptyPrinter(self, expr: Any) -> str:
        raise ArgumentError(_refusal(expr))


def _refusal(expr: Any) -> str:
    if isinstance(expr, (sp.logic.boolalg.BooleanAtom, sp.logic.boolalg.Boolean)):
        return f"a number is needed, and this is a condition: {expr}"
    if getattr(expr, "is_number", False) and expr.is_Atom:
        return f"`{expr}` is no real number"
    if type(expr).__name__ == "Quantity":
        return f"`{expr}` is a unit: give plain numbers, all in one system of units"
    return f"the language has no {type(expr).__name__}: {expr}"


def to_text(
    coordinates: Any,
    *,
    kinetic: Any,
    potential: Any,
    lagrangian: Any,
    constraints: Any,
    forces: Any,
    parameters: Mapping[Any, float],
    start: Mapping[Any, float],
) -> str:
    """The text of a model that SymPy's expressions are."""
    is_long = False
    #: Speeds that are no rates of coordinates, in terms of these.
    speeds: dict[Any, Any] = {}
    for name, given in (("parameters", parameters), ("start", start)):
        if not isinstance(given, Mapping):
            raise ArgumentError(f"`{name}` is a dictionary, not {type(given).__name__}")
    kinetic, potential = _scalar("T", kinetic), _scalar("V", potential)
    if lagrangian is not None:
        lagrangian = _scalar("L", lagrangian)
        if kinetic != 0 or potential != 0:
            raise ArgumentError("`L` is T − V: give either L, or T and V")
    if isinstance(constraints, sp.Basic) and not isinstance(constraints, sp.MatrixBase):
        constraints = [constraints]  # One, that is.
    if isinstance(coordinates, sp.core.function.AppliedUndef):
        coordinates = [coordinates]
    if isinstance(coordinates, LagrangesMethod):
        coordinates, lagrangian, constraints, forces = _pieces(coordinates)
    elif isinstance(coordinates, (KanesMethod, Assembly, _JOINTS)):
        from . import _bodies

        coordinates, kinetic, constraints, forces, speeds = _bodies.pieces(coordinates)
        is_long = True
    if isinstance(coordinates, str) or not isinstance(coordinates, (Sequence, sp.MatrixBase, set)):
        raise ArgumentError(
            "coordinates are a list of `dynamicsymbols`, or a LagrangesMethod, a KanesMethod, a System "
            f"of SymPy's, and not {type(coordinates).__name__}"
        )
    coordinates = [sp.sympify(q) for q in coordinates]
    for q in coordinates:
        if not isinstance(q, sp.core.function.AppliedUndef) or len(q.args) != 1:
            raise ArgumentError(f"the coordinate {q} is no function of time; `dynamicsymbols` are")
    if not coordinates:
        raise ArgumentError("there are no coordinates")
    time = coordinates[0].args[0]
    names = _Names()
    printer = _Printer(names, coordinates, time)
    # A function of time that is no coordinate, a motor's torque say, is an input. It is what it is
    # said to be; what depends on the motion (a control) takes its place.
    said = {
        atom: sp.sympify(value).xreplace(speeds)
        for atom, value in parameters.items()
        if isinstance(atom, sp.core.function.AppliedUndef) and atom not in coordinates
    }
    moved = {atom: value for atom, value in said.items() if value.atoms(sp.core.function.AppliedUndef)}
    parameters = {atom: value for atom, value in parameters.items() if atom not in said}

    def whole(expr: Any) -> Any:
        return sp.sympify(expr).xreplace(moved).doit()

    def text(expr: Any) -> str:
        return str(printer.doprint(whole(expr)))

    coord_line = "coord " + ", ".join(names.of(q) for q in coordinates)
    lines = []
    if is_long:
        # What bodies are made of is the same in many places: it is named once.
        all_of_it = [whole(expr) for expr in (kinetic, *constraints, *forces)]
        shared, (kinetic, *rest) = _shared(all_of_it, printer, time)
        constraints, forces = rest[: len(constraints)], rest[len(constraints) :]
        for symbol, value in shared:
            written = text(value)
            printer.stands[symbol] = names.of(symbol)
            lines.append(f"let {names.of(symbol)} = {written}")
    if lagrangian is not None:
        lines.append(f"lagrangian {text(lagrangian)}")
    for word, energy in (("kinetic", kinetic), ("potential", potential)):
        if sp.sympify(energy) != 0:
            lines.append(f"{word} {text(energy)}")
    if not isinstance(constraints, Mapping):
        constraints = {f"c{at}": row for at, row in enumerate(constraints, 1)}
    for name, row in constraints.items():
        left, right = _sides(name, row)
        lines.append(f"constraint {name}: {text(left)} = {text(right)}")
    if forces is not None:
        for q, force in _by_coordinate(forces, coordinates, names):
            if sp.sympify(force) != 0:
                lines.append(f"force {text(q)}: {text(force)}")
    for quantity, value in start.items():
        left = quantity if isinstance(quantity, str) else text(sp.sympify(quantity).xreplace(speeds))
        lines.append(f"start {left} = {text(_number(quantity, value))}")
    for_inputs = {atom: text(value) for atom, value in said.items() if atom not in moved}
    driven = [
        f"input {names.of(u)} = {for_inputs[u]}" if u in for_inputs else f"input {names.of(u)}"
        for u in printer.inputs
    ]
    values = {names.of(names.meant(k)): _number(k, v) for k, v in parameters.items()}
    others = {*coordinates, *printer.stands, *printer.inputs, *said}
    symbols = {n: a for a, n in names.by_atom.items() if a not in others}
    header = [
        f"param {name} = {text(values[name])}" if name in values else f"param {name}"
        for name in symbols
    ]
    return "\n".join([*header, *driven, coord_line, *lines]) + "\n"


def _shared(expressions: list[Any], printer: _Printer, time: Any) -> tuple[Any, Any]:
    """What occurs more than once, under names, and the expressions in terms of it. Functions of
    time and their rates are one word each, as `let` may name part of none."""
    slots: dict[Any, Any] = {}
    known = {atom for q in printer.coordinates for atom in (q.diff(time), q)}
    kinds = (sp.Derivative, sp.core.function.AppliedUndef)
    found = {atom for expr in expressions for atom in expr.atoms(*kinds)} - known
    # Rates before what they are rates of.
    for atom in sorted(known | found, key=lambda x: (not isinstance(x, sp.Derivative), str(x))):
        slots[atom] = sp.Dummy()
        printer.stands[slots[atom]] = str(printer.doprint(atom))
    plain = [expr.xreplace(slots) for expr in expressions]
    shared, rest = sp.cse(plain, symbols=sp.numbered_symbols("w", cls=sp.Dummy))
    return shared, rest


def _scalar(name: str, energy: Any) -> Any:
    """An energy; vᵀM v is a matrix of one entry to SymPy."""
    if isinstance(energy, sp.MatrixBase):
        if energy.shape != (1, 1):
            raise ArgumentError(f"an energy is one expression, not a matrix of {energy.shape}")
        return energy[0]
    if energy is None or isinstance(energy, str):
        what = "a text" if energy else "nothing"
        raise ArgumentError(f"`{name}` is an expression of SymPy's, and not {what}")
    return sp.sympify(energy)


def _sides(name: Any, row: Any) -> tuple[Any, Any]:
    """Both sides of a constraint; what vanishes is one."""
    if isinstance(row, str):
        raise ArgumentError(f"constraint `{name}` is an expression of SymPy's, and not a text")
    row = sp.sympify(row)
    if isinstance(row, sp.Equality):
        return row.lhs, row.rhs
    if row == sp.true:  # Eq(x, x).
        return sp.S.Zero, sp.S.Zero
    if row == sp.false:
        raise ArgumentError(f"constraint `{name}` never holds: SymPy made `False` of it")
    if isinstance(row, sp.core.relational.Relational):
        raise ArgumentError(
            f"a constraint is an equation, and `{name}` is not: {row}. What may touch and leave again "
            "is a `contact` of the language"
        )
    return row, sp.S.Zero


def _by_coordinate(forces: Any, coordinates: list[Any], names: _Names) -> list[tuple[Any, Any]]:
    """Generalized forces with their coordinates."""
    if isinstance(forces, Mapping):
        return [(names.meant(q), force) for q, force in forces.items()]
    if not isinstance(forces, (Sequence, sp.MatrixBase)) or len(forces) != len(coordinates):
        count = f"{len(forces)}" if hasattr(forces, "__len__") else "one that is no list"
        raise ArgumentError(
            f"`forces` are one for each of the {len(coordinates)} coordinates, or a dictionary by "
            f"coordinate, and here are {count}"
        )
    return list(zip(coordinates, forces))


def _number(name: Any, value: Any) -> Any:
    """A value of a parameter or of the start: a number, or an expression of parameters."""
    if value is None:
        raise ArgumentError(f"the value of `{name}` is a number, and not {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ArgumentError(f"the value of `{name}` must be finite, and is {value}")
    return value


def _pieces(method: Any) -> tuple[Any, Any, Any, Any]:
    """What a LagrangesMethod was made of."""
    if method.eom is None:
        method.form_lagranges_equations()
    positions = list(method._hol_coneqs)
    rates = list(method.coneqs)[len(positions) :]
    return list(method.q), method._L[0], positions + rates, list(method._term4)


class Equations(Answer):
    """The equations of motion as SymPy's matrices, ``M``, ``Q``, ``C``, ``A``, ``b`` and what a
    formulation has beside them; typeset in a notebook."""

    def __getattr__(self, name: str) -> Any:
        if name not in self and name in self.get("intermediate", {}):
            return self["intermediate"][name]
        return super().__getattr__(name)

    def _repr_latex_(self) -> str:
        rows = [f"{name} &= {sp.latex(self[name])}" for name in ("M", "Q", "C", "A", "b")]
        rows += [f"{name} &= {sp.latex(self[name])}" for name in "TVLH" if name in self]
        return "$\\displaystyle\\begin{aligned}" + r" \\ ".join(rows) + "\\end{aligned}$"


def from_equations(equations: dict[str, Any], parts: dict[str, Any]) -> Equations:
    """The matrices of a derivation, in the shape of ``dal derive --format json``."""
    time = dynamicsymbols._t
    known: dict[str, Any] = {"t": time, "pi": sp.pi}
    for name in parts["positions"]:
        known[name] = sp.Function(name)(time)
    for name in [*equations["v"], *parts["momenta"]]:
        if not name.endswith("'"):
            known.setdefault(name, sp.Function(name)(time))
    for name in parts["parameters"]:
        known[name] = sp.Symbol(name)

    def read(text: str | None) -> Any:
        if text is None:
            raise ArgumentError("the equations are too long to be written out")
        return _Reader(known, time).read(text)

    def column(list: Any) -> Any:
        return sp.Matrix([read(text) for text in list]) if list else sp.zeros(0, 1)

    def matrix(sparse: Any) -> Any:
        full = sp.zeros(sparse["rows"], sparse["columns"])
        for row, at, text in sparse["entries"]:
            full[row, at] = read(text)
        return full

    def quantity(value: Any) -> Any:
        if isinstance(value, dict):
            return matrix(value)
        return column(value) if isinstance(value, list) else read(value)

    energies = {letter: read(text) for letter, text in equations["energy"].items()}
    if "T" in energies:
        energies.setdefault("L", energies["T"] - energies.get("V", 0))
    v = column(equations["v"])
    M, A = matrix(equations["metric"]), matrix(equations["jacobian"])
    Q, C, b = (column(equations[key]) for key in ("force", "nonideal", "drift"))
    names = [c["name"] for c in equations["constraints"]]
    names = names if len(names) == A.rows else [str(row + 1) for row in range(A.rows)]
    multipliers = sp.Matrix(A.rows, 1, [sp.Symbol(f"lambda_{name}") for name in names])
    # With their rates, all that vanishes.
    rates = v.diff(time)
    whole = M * rates - Q - C - A.T * multipliers if A.rows else M * rates - Q - C
    return Equations(
        q=column(equations["q"]),
        v=v,
        t=time,
        M=M,
        Q=Q,
        C=C,
        A=A,
        b=b,
        multipliers=multipliers,
        equations=whole.col_join(A * rates - b) if A.rows else whole,
        kinematics=column(equations["kinematics"]),
        constraints=column([c["residual"] for c in equations["constraints"]]),
        intermediate={k: quantity(v) for k, v in equations["intermediate"].items()},
        **energies,
    )


_BACK = {name: kind for kind, name in _FUNCTIONS.items()} | {"sqrt": sp.sqrt}
_WORD = r"[^\W\d]\w*(?:\[[\d, ]+\])?"
_NAME = rf"{_WORD}(?:\.{_WORD})*'*"
_NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_TOKEN = re.compile(rf"(?P<name>{_NAME})|(?P<number>{_NUMBER})|\^")


class _Reader:
    """Reads a text of the language into SymPy's expressions."""

    def __init__(self, known: dict[str, Any], time: Any) -> None:
        self.known, self.time = known, time
        self.values: list[Any] = []

    def read(self, text: str) -> Any:
        plain = _TOKEN.sub(self.token, text)
        try:
            return self.visit(ast.parse(plain, mode="eval").body)
        except SyntaxError:
            raise ArgumentError(f"no expression of SymPy's: {text}") from None

    def keep(self, value: Any) -> str:
        self.values.append(value)
        return f"_v{len(self.values) - 1}_"

    def token(self, found: re.Match[str]) -> str:
        if found["number"]:
            return self.keep(sp.Rational(found["number"]))
        return self.name(found) if found["name"] else "**"

    def name(self, found: re.Match[str]) -> str:
        word = found["name"]
        after = found.string[found.end() :].lstrip()
        if word in ("and", "or") or after.startswith("("):
            return "if_" if word == "if" else word
        base = word.rstrip("'")
        if base not in self.known:
            # An unknown of the solution, a multiplier say.
            return self.keep(sp.Symbol(word))
        value = self.known[base]
        return self.keep(value.diff(self.time, len(word) - len(base)) if word != base else value)

    def visit(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name):
                return self.values[int(name[2:-1])]
            case ast.BinOp(left=a, op=op, right=b):
                left, right = self.visit(a), self.visit(b)
                match op:
                    case ast.Add():
                        return left + right
                    case ast.Sub():
                        return left - right
                    case ast.Mult():
                        return left * right
                    case ast.Div():
                        return left / right
                    case ast.Pow():
                        return left**right
            case ast.UnaryOp(op=ast.USub(), operand=a):
                return -self.visit(a)
            case ast.BoolOp(op=op, values=list):
                kind = sp.And if isinstance(op, ast.And) else sp.Or
                return kind(*(self.visit(a) for a in list))
            case ast.Compare(left=a, ops=[op], comparators=[b]):
                kinds = {ast.Lt: sp.Lt, ast.Gt: sp.Gt, ast.LtE: sp.Le, ast.GtE: sp.Ge}
                return kinds[type(op)](self.visit(a), self.visit(b))
            case ast.Call(func=ast.Name(id="if_"), args=[condition, a, b]):
                return sp.Piecewise(
                    (self.visit(a), self.visit(condition)), (self.visit(b), True)
                )
            case ast.Call(func=ast.Name(id=name), args=list):
                kind = _BACK.get(name) or sp.Function(name)
                return kind(*(self.visit(a) for a in list))
        raise ArgumentError(f"no expression of SymPy's: {ast.unparse(node)}")
