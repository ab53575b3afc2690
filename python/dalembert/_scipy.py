"""SciPy's ``solve_ivp``, for systems: the same call, and a result with the same names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _dalembert
from ._numbers import finite, names_of, real
from ._result import Result
from .errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._inputs import Drive
    from ._system import System

    Numbers = NDArray[np.float64]

__all__ = ["solve_ivp"]

#: SciPy's methods, and what takes their place: explicit ones leave the choice open.
_METHODS = {"RK45": "auto", "RK23": "auto", "LSODA": "auto", "BDF": "radau", "Radau": "radau"}
_METHODS["DOP853"] = "dop853"

#: What tells SciPy how to evaluate rates that it knows nothing of; equations are known here.
_NEEDLESS = frozenset(
    "vectorized jac jac_sparsity lband uband first_step min_step dense_output".split()
)

#: Tolerances below this are those of rounding.
_SMALLEST = 1e-14

#: Between two samples a function of a state is looked at this many times a step.
_LOOKS = 4


def solve_ivp(
    fun: System | _dalembert.Function,
    t_span: Sequence[float],
    y0: ArrayLike | None = None,
    method: str | None = None,
    t_eval: ArrayLike | None = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    *,
    rtol: float | None = None,
    atol: ArrayLike | None = None,
    max_step: float | None = None,
    parameters: Mapping[str, float] | None = None,
    inputs: Mapping[str, Drive] | None = None,
    **more: Any,
) -> Result:
    """A motion by the call that ``scipy.integrate.solve_ivp`` has.

    ``fun`` is a system, or what ``system.function()`` gave; ``y0`` is a state in the order of
    ``system.state_names``, the start of the model if it is not given. Constraints hold all along,
    which rates alone do not bring about. SciPy's names of methods are taken for what comes next to
    them, and ours are taken too. ``rtol`` and ``atol`` give a tolerance relative to the size of each
    component: the smaller of the two. ``events`` are functions ``g(t, y)`` with ``terminal`` and
    ``direction``, or events in words as :meth:`System.simulate` takes them; a zero at the very start
    is none. ``dense_output``,
    ``vectorized``, ``jac`` and ``first_step`` are taken and have no effect: ``sol`` is always there,
    and the equations are known. ``args`` are refused: ``parameters`` have names.

    >>> s = dalembert.System("coord x; kinetic x'^2/2; potential x^2/2")
    >>> def low(t, y):
    ...     return y[0] + 0.5
    >>> low.terminal = True
    >>> r = dalembert.solve_ivp(s, (0, 10), [1.0, 0.0], events=low, rtol=1e-10)
    >>> r.status, bool(abs(r.t_events[0][0] - 2*np.pi/3) < 1e-8), r.y_events[0].shape
    (1, True, (1, 2))
    """
    system, own = _system(fun)
    if args is not None and len(args):
        raise ArgumentError("`args` have no names here: give `parameters` as a dictionary")
    if unknown := sorted(set(more) - _NEEDLESS):
        raise ArgumentError(f"`solve_ivp` has no option `{unknown[0]}` for a system")
    span = [float(t) for t in t_span]
    if len(span) != 2:
        raise ArgumentError(f"a span of time has two ends, not {len(span)}")
    given = [events] if callable(events) or isinstance(events, str) else list(events or [])
    words = [event for event in given if isinstance(event, str)]
    asked: dict[str, Any] = dict(
        tol=_tolerance(rtol, atol),
        method=_METHODS.get(method, method) if method is not None else None,
        t_eval=None if t_eval is None else _times(t_eval, span),
        max_step=None if max_step is None or np.isinf(max_step) else max_step,
        events=words or True,
        start=None if y0 is None else _start(system, y0),
        parameters={**own, **(parameters or {})} or None,
        inputs=inputs,
    )
    functions = [event for event in given if not isinstance(event, str)]
    if not functions:
        return system.simulate(span, **asked)
    for g in functions:
        if not callable(g):
            raise ArgumentError(f"an event is a function g(t, y) or a text, not {type(g).__name__}")
    # It may end by one of them before it comes to where it cannot go on.
    found = system.simulate(span, **asked, partial=True)
    zeros = [_zeros(found, g) for g in functions]
    stop = _stop(functions, zeros, span[1] >= span[0])
    if stop is None and not found.success:
        return system.simulate(span, **asked)
    if stop is not None and stop != float(found.sol.t_last):
        inside = asked["t_eval"]
        if inside is not None:
            times = np.asarray(inside, dtype=float)
            asked["t_eval"] = times[(times <= stop) if span[1] >= span[0] else (times >= stop)]
        found = system.simulate([span[0], stop], **asked)
    if stop is not None:
        zeros = [z[(z <= stop) if span[1] >= span[0] else (z >= stop)] for z in zeros]
    found._happened(zeros, stop is not None)
    return found


def _system(fun: Any) -> tuple[System, dict[str, float]]:
    from ._system import System

    if isinstance(fun, System):
        return fun, {}
    if isinstance(fun, _dalembert.Function) and fun.name == "acceleration":
        _, (saved, _, parameters) = fun.__reduce__()
        return System._of(_dalembert.Model.restored(saved)), dict(parameters)
    raise ArgumentError(
        "this `solve_ivp` moves a System, or its function of accelerations; "
        "`scipy.integrate.solve_ivp` takes any function"
    )


def _tolerance(rtol: float | None, atol: ArrayLike | None) -> float | None:
    given = [] if rtol is None else [float(rtol)]
    if not all(0 < r < np.inf for r in given):
        raise ArgumentError(f"`rtol` is a positive number, not {rtol!r}")
    if atol is not None:
        # An absolute one of 0 asks for nothing.
        given += [x for x in np.ravel(np.asarray(atol, dtype=float)).tolist() if x > 0]
    return max(min(given), _SMALLEST) if given else None


def _times(t_eval: ArrayLike, span: Sequence[float]) -> Numbers:
    """The times asked for, in the order in which the motion comes to them."""
    times = real("`t_eval`", t_eval)
    if times.ndim != 1:
        raise ArgumentError(f"`t_eval` must have one axis, and has shape {times.shape}")
    low, high = sorted(span)
    if len(times) and not (low <= times.min() and times.max() <= high):
        raise ArgumentError(f"`t_eval` has times outside of the span from {span[0]} to {span[1]}")
    steps = np.diff(times) if span[1] >= span[0] else -np.diff(times)
    if not (steps > 0).all():
        raise ArgumentError("the times of `t_eval` must follow each other as the motion goes")
    return times


def _start(system: System, y0: ArrayLike) -> dict[str, float]:
    y0 = names_of(y0)
    if isinstance(y0, Mapping):
        return {str(name): finite(str(name), value) for name, value in y0.items()}
    numbers, names = real("`y0`", y0), system.state_names
    if numbers.shape != (len(names),):
        raise ArgumentError(
            f"`y0` has shape ({len(names)},): {', '.join(names)}; this one has {numbers.shape}"
        )
    return dict(zip(names, numbers.tolist()))


def _zeros(motion: Result, g: Callable[[float, Numbers], float]) -> Numbers:
    """Where a function of the state is zero, with a change of sign in its direction."""
    sol, direction = motion.sol, float(getattr(g, "direction", 0) or 0)
    count = _LOOKS * max(int(motion.report["steps"]), 50)
    times = np.linspace(sol.t_first, sol.t_last, count + 1)
    states = sol(times)
    values = np.array([float(g(t, states[:, k].copy())) for k, t in enumerate(times)])
    found = []
    for k in range(count):
        a, b = values[k], values[k + 1]
        # A zero at the very beginning is where it starts from, and no event.
        is_zero = a != 0 and (b == 0 or (a < 0) != (b < 0))
        if not is_zero or (direction and (b - a) * direction < 0):
            continue
        at = lambda t: float(g(t, sol(t)))
        found.append(times[k + 1] if b == 0 else _between(at, times[k], times[k + 1], a, b))
    return np.array(found)


def _between(
    at: Callable[[float], float], a: float, b: float, value_a: float, value_b: float
) -> float:
    """A zero in between, to the last digit, by Illinois' rule and halving in turn."""
    for turn in range(200):
        middle = (a + b) / 2
        if turn % 3 < 2:
            secant = b - value_b * (b - a) / (value_b - value_a)
            middle = secant if min(a, b) < secant < max(a, b) else middle
        if middle in (a, b) or abs(b - a) <= 4 * np.spacing(max(abs(a), abs(b))):
            break
        value = at(middle)
        if value == 0:
            return float(middle)
        if (value < 0) == (value_b < 0):
            b, value_b = middle, value
        else:
            a, value_a = middle, value
    return float(b)


def _stop(functions: Sequence[Any], zeros: Sequence[Numbers], forwards: bool) -> float | None:
    """When the first event that is terminal ends the motion; a number says which of its times."""
    ends = []
    for g, times in zip(functions, zeros):
        count = int(getattr(g, "terminal", 0) or 0)
        if 0 < count <= len(times):
            ends.append(float(times[count - 1]))
    return (min(ends) if forwards else max(ends)) if ends else None
