"""A mechanical system: read, looked at, run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from . import _dalembert
from ._answers import Answer, Diagnostics
from ._numbers import finite, names_of, pairs, real
from ._result import Result
from .errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._inputs import Drive
    from ._sweep import Study, Values
    from ._symbols import Symbol

__all__ = ["System", "check", "gallery"]


_DISPLAYED = re.compile(r"\\\[.*?\\\]|\\begin\{align\*\}.*?\\end\{align\*\}", re.S)


def check(text: str) -> Diagnostics:
    """All that is to be said about a text, be it a model or not.

    >>> dalembert.check("coord x\\nkinetic m*x'^2/2").faults[0]["code"]
    'unknown-name'
    """
    return Diagnostics(*_dalembert.diagnose(text, markdown=_is_markdown(text)))


def gallery() -> dict[str, str]:
    """The built-in examples: names, for :meth:`System.from_gallery`, and titles.

    >>> dalembert.gallery()["four-bar"]
    'Four-bar linkage'
    """
    return dict(_dalembert.gallery())


def _is_markdown(text: str) -> bool:
    lines = (line.lstrip() for line in text.splitlines())
    return any(line.startswith(("```dal", "~~~dal")) for line in lines)


class System:
    """A mechanical system, as its text says.

    The text is a model of the language (``dal help language`` prints it on a page), or a
    Markdown page with such a model in its blocks. What is wrong with it is a
    :class:`~dalembert.errors.ModelError` that points at the line.

    >>> s = dalembert.System("coord x; kinetic x'^2/2; potential 2*x^2; start x = 1")
    >>> s.coordinates
    ['x']
    >>> s.evaluate({"x": 1}).accelerations
    {'x': -4.0}
    """

    _model: _dalembert.Model

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a model is a text, not {type(text).__name__}")
        self._model = _dalembert.Model.parse(text, markdown=_is_markdown(text))

    @classmethod
    def _of(cls, model: _dalembert.Model) -> System:
        system = cls.__new__(cls)
        system._model = model
        return system

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> System:
        """The model of a file: ``.dal``, or Markdown."""
        return cls._of(_dalembert.Model.open(os.fspath(path)))

    @classmethod
    def from_gallery(cls, name: str) -> System:
        """A built-in example; :func:`gallery` lists them.

        >>> dalembert.System.from_gallery("knife-edge").title
        'Knife-edge dumbbell'
        """
        return cls._of(_dalembert.Model.open(f"gallery:{name}"))

    @classmethod
    def from_sympy(
        cls,
        coordinates: Any,
        T: Any = 0,
        V: Any = 0,
        *,
        L: Any = None,
        constraints: Any = (),
        forces: Any = None,
        parameters: Mapping[Any, float] | None = None,
        start: Mapping[Any, float] | None = None,
    ) -> System:
        """A model from SymPy's expressions.

        ``coordinates`` are ``dynamicsymbols``; T, V (or the whole L) and the constraints are
        expressions in them, in their derivatives, in the time and in symbols, which become
        parameters. Constraints are expressions that vanish, or equations; a dictionary gives
        them names. ``forces`` are generalized forces by coordinate. A ``LagrangesMethod``, a
        ``KanesMethod`` or SymPy's own ``System`` in place of the coordinates brings all of this
        itself.

        >>> import sympy as sp
        >>> from sympy.physics.mechanics import dynamicsymbols
        >>> (x, y), (m, g, l) = dynamicsymbols("x y"), sp.symbols("m g l")
        >>> s = dalembert.System.from_sympy(
        ...     [x, y],
        ...     T=m*(x.diff()**2 + y.diff()**2)/2,
        ...     V=m*g*y,
        ...     constraints={"rod": x**2 + y**2 - l**2},
        ...     parameters={m: 1, g: 9.81, l: 2},
        ...     start={x: 2},
        ... )
        >>> s.constraints
        ['rod']
        """
        from . import _sympy

        text = _sympy.to_text(
            coordinates,
            kinetic=T,
            potential=V,
            lagrangian=L,
            constraints=constraints,
            forces=forces,
            parameters=parameters or {},
            start=start or {},
        )
        return cls(text)

    def to_sympy(self, formulation: str | None = None) -> Answer:
        """The equations as SymPy's matrices: ``M``, ``Q``, ``C``, ``A``, ``b`` of
        M v̇ = Q + C + Aᵀλ and A v̇ = b, the unknowns ``q``, ``v`` and ``multipliers``, the
        energies (``T``, ``V``, ``L`` or ``H``), and ``equations``: the column of all that
        vanishes. What a formulation has beside these is there by its letter, ``J_r`` and ``H_r``
        of the reduced bracket say.

        Coordinates are ``dynamicsymbols``, velocities their derivatives.

        >>> s = dalembert.System("param m; coord x, y; kinetic m/2*(x'^2 + y'^2);"
        ...                      "constraint line: y = x")
        >>> s.to_sympy().M
        Matrix([
        [m, 0],
        [0, m]])
        """
        from . import _sympy

        return _sympy.from_equations(self._model.equations(formulation), self._parts)

    @cached_property
    def _parts(self) -> dict[str, Any]:
        return self._model.parts()

    @property
    def text(self) -> str:
        """The text of the model."""
        return self._model.text

    @property
    def title(self) -> str:
        """Its title; empty if it has none."""
        return self._model.title

    @property
    def coordinates(self) -> list[str]:
        """The names of the coordinates, in the order of states."""
        return list(self._parts["positions"])

    @property
    def velocities(self) -> list[str]:
        """The names of their rates."""
        return list(self._parts["velocities"])

    @property
    def states(self) -> list[str]:
        """The names of the states, quantities with a rate and no mass."""
        return list(self._parts["states"])

    @property
    def state_names(self) -> list[str]:
        """The names of all that a state is made of, in the order of ``Result.y``: positions, then
        states, then velocities."""
        return self.coordinates + self.states + self.velocities

    @property
    def inputs(self) -> dict[str, str | None]:
        """The inputs, and what a run takes for them; ``None`` where nothing is said.

        >>> s = dalembert.System("input F = sin(t); coord x; kinetic x'^2/2; force x: F")
        >>> s.inputs
        {'F': 'sin(t)'}
        """
        return dict(self._parts["inputs"])

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs; results have them as columns."""
        return list(self._parts["outputs"])

    @property
    def parameters(self) -> dict[str, float | None]:
        """The parameters and their values; ``None`` where one has none."""
        return dict(self._parts["parameters"])

    @property
    def constraints(self) -> list[str]:
        """The names of the constraint rows."""
        return [constraint["name"] for constraint in self._parts["constraints"]]

    @property
    def observables(self) -> list[str]:
        """The names of the further outputs."""
        return list(self._parts["observes"])

    @property
    def events(self) -> list[str]:
        """The names of the events."""
        return list(self._parts["events"])

    def set(self, values: Mapping[str, float | str] | None = None, /, **more: float | str) -> System:
        """The same system with other values of parameters, or of the start.

        Values are numbers, or texts of the language. Names that are no Python names go into a
        dictionary.

        >>> s = dalembert.System("param k = 1; coord x; kinetic x'^2/2; potential k*x^2/2")
        >>> s.set(k=4).parameters
        {'k': 4.0}
        >>> s.set({"x'": "1/3"}).evaluate().state["x'"]
        0.3333333333333333
        """
        given = {**(values or {}), **more}
        return System._of(self._model.with_set([f"{name}={_value(v)}" for name, v in given.items()]))

    def with_inputs(
        self, values: Mapping[str, Drive] | None = None, /, **more: Drive
    ) -> System:
        """The same system with other values for its inputs.

        An input is a formula (``"2*sin(t)"``), a number, samples ``(times, values)``, with words of
        a table behind them if lines between the points are not meant (``(times, values, "cubic")``),
        or a function of time. A function is called wherever a run is, with times in any order, and
        nothing but its values is known: where it would have to be differentiated, in a constraint
        on positions say, its derivatives go with it, ``(f, df, ddf)``. What it raises comes out of
        the call into the library.

        >>> s = dalembert.System("input F; coord x; kinetic x'^2/2; force x: F")
        >>> s.with_inputs(F="cos(t)").inputs
        {'F': 'cos(t)'}
        >>> by_function = s.with_inputs(F=np.cos).simulate(1)
        >>> bool(abs(by_function["x"][-1] - (1 - np.cos(1))) < 1e-9)
        True
        """
        from . import _inputs

        given = {**(values or {}), **more}
        return System._of(_inputs.driven(self._model, given, list(self._parts["inputs"])))

    def _driven(self, inputs: Mapping[str, Drive] | None) -> System:
        return self.with_inputs(inputs) if inputs else self

    def check(self) -> Diagnostics:
        """Warnings and notes; an empty list if there is nothing to say."""
        return Diagnostics(*self._model.check())

    def equations(self, formulation: str | None = None) -> str:
        """The equations of motion as text, by a formulation."""
        return self._model.document("text", formulation)

    def latex(self, formulation: str | None = None) -> str:
        """The same in LaTeX."""
        return self._model.document("latex", formulation)

    def evaluate(
        self,
        state: Mapping[str, float | str] | ArrayLike | None = None,
        *,
        formulation: str | None = None,
        elimination: str | None = None,
        inputs: Mapping[str, Drive] | None = None,
    ) -> Answer:
        """Accelerations, constraint forces, multipliers and verdict at a state.

        The state has names and values (those not named are 0), or is an array of positions and
        velocities; without one it is the start. ``"all"`` evaluates by every formulation or
        elimination. The answer has the shape of ``dal eval --json``, with arrays as its
        ``terms``; with one formulation its ``results[0]`` are attributes of the answer too.
        ``inputs`` are as in :meth:`with_inputs`.

        >>> s = dalembert.System("coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y;"
        ...                      "constraint line: y = x")
        >>> a = s.evaluate({"x": 1, "y": 1})
        >>> a.motion, a.multipliers
        ('unique', {'line': 4.905})
        """
        at = None if state is None else self._state(state)
        return Answer(
            self._driven(inputs)._model.evaluate(at, formulation=formulation, elimination=elimination)
        )

    def _state(
        self, state: Mapping[str, float | str] | ArrayLike
    ) -> str | list[tuple[str, float]]:
        state = names_of(state)
        if not isinstance(state, Mapping):
            numbers, names = real("a state", state), self.state_names
            if numbers.shape != (len(names),):
                raise ArgumentError(
                    f"a state has shape ({len(names)},): {', '.join(names)}; "
                    f"this one has {numbers.shape}"
                )
            state = dict(zip(names, numbers.tolist()))
        # What is not named is 0.
        state = state or {self.coordinates[0]: 0.0}
        if not any(isinstance(value, str) for value in state.values()):
            return pairs(state)  # type: ignore[arg-type]
        return ", ".join(f"{name}={_value(value)}" for name, value in state.items())

    def analyze(self) -> Answer:
        """What is true of the system, in the shape of ``dal analyze --json``.

        >>> dalembert.System.from_gallery("knife-edge").analyze().rank
        1
        """
        return Answer(self._model.analyze())

    def linearize(
        self,
        state: Mapping[str, float | str] | ArrayLike | None = None,
        *,
        here: bool = False,
        along: ArrayLike | None = None,
        period: float | None = None,
        within: Mapping[str, tuple[float, float]] | None = None,
        guesses: int = 200,
        symbolic: bool = False,
        inputs: Mapping[str, Drive] | None = None,
    ) -> Answer:
        """The equilibrium or steady motion near a state or the start, and the linear equations
        ẋ = A x + B u, y = C x + D u about it, a :class:`Linearization`; ``inputs`` are as in
        :meth:`with_inputs`.

        With ``symbolic`` A, B, C and D are there as formulas in the parameters too, in ``symbols``.
        With ``here`` the equations are those about the state as it is, steady or not. ``along`` are
        times of the run, and ``points`` of the answer the equations about the states there. With
        ``period`` they are followed for one: Floquet's ``multipliers``, the ``monodromy``. And
        ``within`` is a box, by coordinates and states, whose ``equilibria`` are looked for from so
        many ``guesses``.

        >>> s = dalembert.System("input F = 0; coord x; kinetic x'^2/2; potential 2*x^2;"
        ...                      "force x: F; output place = x")
        >>> found = s.linearize()
        >>> found.eigenvalues
        array([0.+2.j, 0.-2.j])
        >>> found.A, found.B
        (array([[ 0.,  1.],
               [-4.,  0.]]), array([[0.],
               [1.]]))
        """
        from . import _linear

        at = None if state is None else self._state(state)
        _positive(guesses=guesses)
        sides = None
        if within is not None:
            sides = [
                (str(name), finite(str(name), low), finite(str(name), high))
                for name, (low, high) in within.items()
            ]
        found = self._driven(inputs)._model.linearize(
            at, here=here, along=along, period=period, within=sides, guesses=guesses,
            symbolic=symbolic,
        )
        return _linear.answer(found)

    def function(
        self,
        name: str = "acceleration",
        parameters: Mapping[str, float] | None = None,
        *,
        inputs: Mapping[str, Drive] | None = None,
    ) -> _dalembert.Function:
        """A term of the equations as a fast function of time and state.

        ``acceleration``, ``mass``, ``force``, ``nonideal``, ``jacobian`` or ``bias``:
        ``f(t, q, v)`` or ``f(t, y)`` with y = (q, v); k states are columns, of shape (n, k).
        ``out=`` takes the answer without a new array. The accelerations of a y are its rates
        (v, q̈), so that the function is what ``solve_ivp`` and its like want. Where a system has
        states they stand behind the positions, in q as in y. ``inputs`` are as in
        :meth:`with_inputs`.

        >>> s = dalembert.System("coord x; kinetic x'^2/2; potential 2*x^2")
        >>> f = s.function("acceleration")
        >>> f(0, [1.0], [0.0])
        array([-4.])
        >>> f(0, [1.0, 0.0])
        array([ 0., -4.])
        """
        return self._driven(inputs)._model.function(name, pairs(parameters))

    def simulate(
        self,
        t_end: float | Sequence[float] | NDArray[np.float64] | None = None,
        *,
        tol: float | None = None,
        method: str | None = None,
        formulation: str | None = None,
        t_eval: ArrayLike | None = None,
        every: float | None = None,
        events: bool | Sequence[str] = True,
        observe: Sequence[str] | Mapping[str, str | Symbol] = (),
        verify: bool = True,
        start: Mapping[str, float] | None = None,
        parameters: Mapping[str, float] | None = None,
        inputs: Mapping[str, Drive] | None = None,
        step: float | None = None,
        max_step: float | None = None,
        max_steps: int | None = None,
        elimination: str | None = None,
        stabilize: str | None = None,
        dense: bool = True,
        partial: bool = False,
        progress: Callable[[float, float], object] | None = None,
    ) -> Result:
        """Runs the system to a time, or over a span of time.

        What is not said is as the model's ``run`` statement has it, else as ``dal run`` does it:
        1000 samples, tolerance 1e-9, an integrator that suits the motion, and a second run that
        the first is compared with (``verify``).

        ``t_eval`` are the times of the samples, ``every`` the interval between them. ``start``
        and ``parameters`` are other numbers than the model's, ``inputs`` what is taken for its
        inputs, as in :meth:`with_inputs`. ``events`` are further ones, as
        the language writes them behind the word (``"low: y = 0 falling -> stop"``); with
        ``False`` none happen. ``observe`` are further columns of the result: names of what the model
        has (``"floor.mode"`` and ``"floor.force"`` of a contact), or expressions by name. A run that cannot go on raises; with ``partial`` it is given up to
        there. ``progress(done, of)`` is called a few times a second. Ctrl-C ends the run.

        >>> s = dalembert.System("coord x; kinetic x'^2/2; potential x^2/2; start x = 1")
        >>> r = s.simulate(1, t_eval=[0, 0.5, 1])
        >>> bool(abs(r["x"] - np.cos(r.t)).max() < 1e-8)
        True
        >>> r = s.simulate(1, observe={"square": "x^2 + x'^2"})
        >>> bool(abs(r["square"] - 1).max() < 1e-8)
        True
        """
        system = self._driven(inputs)
        if observe:
            system = System._of(system._model.with_statements(_observed(observe)))
        events = [events] if isinstance(events, str) else events
        if not isinstance(events, bool):
            if not all(isinstance(event, str) for event in events):
                raise ArgumentError("events are texts here; `dalembert.solve_ivp` takes functions")
            system = System._of(
                system._model.with_statements("\n".join(f"event {event}" for event in events))
            )
        first: float | None = None
        last: Any = t_end
        if _is_list(t_end):
            if len(t_end) != 2:
                raise ArgumentError(f"a span of time has two ends, not {len(t_end)}")
            first, last = t_end
        if progress is not None and not callable(progress):
            raise ArgumentError(f"`progress` is a function, and not {type(progress).__name__}")
        _positive(max_steps=max_steps)
        times = None if t_eval is None else real("`t_eval`", t_eval)
        if times is not None and times.ndim != 1:
            raise ArgumentError(f"`t_eval` must have one axis, and has shape {times.shape}")
        asked: dict[str, Any] = dict(
            start_time=first,
            end_time=last,
            tolerance=tol,
            every=every,
            times=times,
            step=step,
            longest=max_step,
            most_steps=max_steps,
            method=method,
            formulation=formulation,
            elimination=elimination,
            stabilize=stabilize,
            events=events is not False,
            verify=verify,
            dense=dense,
            partial=partial,
            parameters=pairs(parameters),
            start=pairs(start),
        )
        motion = system._model.simulate(**asked, progress=progress)
        return Result(motion, system, asked, times if every is None else None, parameters)

    def sweep(
        self,
        vary: Mapping[str, Values] | str,
        *,
        t_end: float | None = None,
        tol: float | None = None,
        method: str | None = None,
        formulation: str | None = None,
        observe: Sequence[str] = (),
        sampling: str | None = None,
        samples: int | None = None,
        seed: int = 0,
        threads: int | None = None,
        progress: bool | Callable[[float, float], object] = False,
        out: str | os.PathLike[str] | None = None,
        resume: bool = False,
        part: int | None = None,
        trajectories: bool = False,
        every: float | None = None,
        compute: bool = True,
        inputs: Mapping[str, Drive] | None = None,
    ) -> Study:
        """Runs many cases on all cores: parameters and start values varied, the end of each kept.

        ``vary`` has names and values, every value with every other; or it is a text as
        ``dal sweep --vary`` takes it (``"m = 1..2:0.1, x ~ normal(0, 0.1)"``), with ``samples``,
        ``sampling`` and ``seed`` where there is no end of values. A table of cases is a
        dictionary of columns with ``sampling="table"``. ``observe`` chooses what is kept of the
        end. ``progress=True`` shows a bar.

        With ``out`` the study is a folder of Parquet files, the same that ``dal sweep`` makes, with
        ``part`` cases in a file and with ``trajectories`` at times ``every`` so far apart if they
        are asked for. What is finished is kept whatever happens (Ctrl-C, a killed process), and
        ``resume=True`` goes on with what is left. ``compute=False`` only makes the folder, for
        :func:`dalembert.work` to compute its parts on a cluster. ``inputs`` are as in
        :meth:`with_inputs`, but for functions.

        >>> s = dalembert.System("param k = 1; coord x; kinetic x'^2/2; potential k*x^2/2;"
        ...                      "start x = 1")
        >>> study = s.sweep({"k": [1, 4, 9]}, t_end=1, observe=["x"])
        >>> bool(abs(study["x"] - np.cos([1, 2, 3])).max() < 1e-7)
        True
        """
        from . import _sweep

        _positive(samples=samples, threads=threads, part=part)
        if t_end is not None:
            finite("`t_end`", t_end)
        return _sweep.run(
            self._driven(inputs)._model,
            vary,
            end_time=t_end,
            tolerance=tol,
            method=method,
            formulation=formulation,
            observe=[observe] if isinstance(observe, str) else list(observe),
            sampling=sampling,
            samples=samples,
            seed=seed,
            threads=threads,
            progress=progress,
            out=out,
            resume=resume,
            part=part,
            trajectories=trajectories,
            every=every,
            compute=compute,
        )

    def __repr__(self) -> str:
        title = f"{self.title!r}, " if self.title else ""
        rows = f", constraints {', '.join(self.constraints)}" if self.constraints else ""
        return f"<dalembert.System {title}coordinates {', '.join(self.coordinates)}{rows}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self._model.saved(),))

    def _repr_html_(self) -> str:
        return self._model.document("html", None)

    def _repr_latex_(self) -> str:
        # A notebook typesets formulas, not sections and sentences.
        return "\n".join(_DISPLAYED.findall(self._model.document("latex", None)))


def _restored(saved: Any) -> System:
    return System._of(_dalembert.Model.restored(saved))


def _restored_function(
    saved: Any, name: str, parameters: list[tuple[str, float]]
) -> _dalembert.Function:
    return _dalembert.Model.restored(saved).function(name, parameters)


def _value(value: float | str) -> str:
    return value if isinstance(value, str) else repr(finite("a value", value))


def _observed(observe: Sequence[str] | Mapping[str, str | Symbol]) -> str:
    if isinstance(observe, str):
        observe = [observe]
    if isinstance(observe, Mapping):
        return "\n".join(f"observe {name} = {value}" for name, value in observe.items())
    return "\n".join(f"observe {name}" for name in observe)


def _is_list(value: Any) -> TypeGuard[Sequence[Any] | NDArray[Any]]:
    """Whether it has items; a text has none, nor has an array of no axes."""
    if isinstance(value, (float, int, str)) or value is None:
        return False
    return isinstance(value, (tuple, list, Sequence)) or bool(
        isinstance(value, np.ndarray) and value.ndim
    )


def _positive(**counts: int | None) -> None:
    for name, count in counts.items():
        if count is not None and count < 1:
            raise ArgumentError(f"`{name}` is at least 1, and not {count}")
