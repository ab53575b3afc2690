"""A motion that was run, with NumPy arrays by name and SciPy's surface."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _dalembert
from ._answers import Answer
from ._numbers import real
from .errors import ArgumentError, Error, UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._system import System

    Numbers = NDArray[np.float64]

__all__ = ["Certificate", "Moment", "Result"]


class Certificate(Answer):
    """What was measured on a run, each number with what is allowed; ``verdict`` in words.

    The fields are those of ``certificate`` in ``dal run --json``, and ``bounds``: a list of
    ``name``, ``value``, ``bound``, ``holds``.
    """

    _motion: _dalembert.Motion | _Kept

    @property
    def holds(self) -> bool:
        """Whether every number is within its bound, and the error, if it was estimated, too."""
        return bool(self["verdict"].startswith("pass"))

    def check(self) -> None:
        """Raises a :class:`~dalembert.errors.CertificateError` if it does not hold."""
        self._motion.check()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored_certificate, (dict(self), _refusal(self._motion)))

    def __repr__(self) -> str:
        lines = [
            f"  {b['name']:<24} {b['value']:.1e}  of {b['bound']:.1e}{'' if b['holds'] else '  !'}"
            for b in self["bounds"]
        ]
        return "\n".join([f"verdict: {self['verdict']}", *lines])

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f"<tr><td style='text-align:left'>{html.escape(b['name'])}</td><td>{b['value']:.1e}</td>"
            f"<td>{b['bound']:.1e}</td><td>{'yes' if b['holds'] else 'no'}</td></tr>"
            for b in self["bounds"]
        )
        return (
            f"<table><caption>verdict: {html.escape(self['verdict'])}</caption>"
            f"<tr><th></th><th>largest</th><th>allowed</th><th>holds</th></tr>{rows}</table>"
        )


def _refusal(motion: _dalembert.Motion | _Kept) -> Error | None:
    try:
        motion.check()
    except Error as error:
        return error
    return None


def _restored_certificate(fields: dict[str, Any], refusal: Error | None) -> Certificate:
    own = Certificate(fields)
    own._motion = _Kept(refusal=refusal)
    return own


class _Kept:
    """A motion that was pickled: its samples, and what the run told. For states between samples
    and for its page it is run once more, which gives the same motion."""

    def __init__(
        self,
        columns: dict[str, Numbers] | None = None,
        states: Numbers | None = None,
        report: dict[str, Any] | None = None,
        evaluations: int = 0,
        refusal: Error | None = None,
        system: System | None = None,
        asked: dict[str, Any] | None = None,
    ) -> None:
        self._columns = columns or {}
        self._states = states
        self._report = report or {}
        self.evaluations = evaluations
        self._refusal = refusal
        self._system = system
        self._asked = asked or {}
        self._again: _dalembert.Motion | None = None

    @classmethod
    def of(cls, motion: _dalembert.Motion | _Kept, system: System, asked: dict[str, Any]) -> _Kept:
        columns = {name: motion.column(name) for name in motion.names()}
        about = (motion.report(), motion.evaluations, _refusal(motion))
        return cls(columns, motion.states(), *about, system, asked)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_again": None}

    @property
    def _run(self) -> _dalembert.Motion:
        if self._again is None:
            if self._system is None:
                raise ArgumentError("this certificate came without its motion")
            self._again = self._system._model.simulate(**self._asked)
        return self._again

    def names(self) -> list[str]:
        return list(self._columns)

    def column(self, name: str) -> Numbers:
        return self._columns[name] if name in self._columns else self._run.column(name)

    def states(self) -> Numbers:
        return self._run.states() if self._states is None else self._states

    def report(self) -> dict[str, Any]:
        return self._report

    def check(self) -> None:
        if self._refusal is not None:
            raise self._refusal

    def at(self, times: ArrayLike) -> Numbers:
        return self._run.at(times)

    def page(self, name: str, text: str) -> str:
        return self._run.page(name, text)


class Moment(Mapping[str, "Numbers"]):
    """States between samples: positions, states and velocities by name, of the shape of the times."""

    def __init__(self, names: list[str], t: Numbers, y: Numbers) -> None:
        self._names = names
        self.t = t
        #: Positions, then states, then velocities, along the first axis.
        self.y = y

    def __getitem__(self, name: str) -> Numbers:
        if name == "t":
            return self.t
        try:
            place: Numbers = self.y[self._names.index(name)]
        except ValueError:
            raise _unknown(name, self._names) from None
        return place

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Numbers:
        return np.array(self.y, dtype=dtype) if copy or dtype is not None else self.y

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={self[name]!r}" for name in self)
        return f"Moment(t={self.t!r}, {values})"


class Dense:
    """States at any time of a motion, as SciPy's ``OdeSolution`` gives them."""

    def __init__(self, result: Result) -> None:
        self._result = result
        whole = result._motion.column("t")
        self.t_min, self.t_max = float(whole.min()), float(whole.max())
        #: Where the motion begins and ends, which is the other way round if it goes back in time.
        self.t_first, self.t_last = float(whole[0]), float(whole[-1])

    def __call__(self, t: ArrayLike) -> Numbers:
        times = real("times", t)
        states: Numbers = self._result._motion.at(times.ravel())
        return states.reshape((states.shape[0], *times.shape))


class Forces(Mapping[str, "Numbers"]):
    """The force of each constraint on the coordinates, Aᵀλ of its rows: shape (n, samples)."""

    def __init__(self, result: Result) -> None:
        self._result = result
        rows: dict[str, list[int]] = {}
        for at, constraint in enumerate(result.system._parts["constraints"]):
            rows.setdefault(constraint["label"], []).append(at)
            if constraint["name"] != constraint["label"]:
                rows[constraint["name"]] = [at]
        self._rows = rows

    def __getitem__(self, name: str) -> Numbers:
        if name not in self._rows:
            raise _unknown(name, list(self._rows))
        jacobian, multipliers = self._result._jacobian, self._result._multipliers
        rows = self._rows[name]
        forces: Numbers = np.einsum("rik,rk->ik", jacobian[rows], multipliers[rows])
        return forces

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class Result:
    """A motion that was run.

    ``r["x"]``, ``r["x'"]``, ``r["x''"]``, ``r["multiplier(rod)"]``, ``r["reaction(x)"]``,
    ``r["energy"]`` and the model's own outputs are arrays over the samples. ``r(t)`` gives
    states at any time. ``t``, ``y``, ``sol``, ``t_events``, ``status``, ``message``, ``success``
    and ``nfev`` are what they are for ``scipy.integrate.solve_ivp``.

    >>> s = dalembert.System("coord x; kinetic x'^2/2; potential x^2/2; start x = 1; run t = 0..2")
    >>> r = s.simulate()
    >>> r.y.shape, r.status
    ((2, 1001), 0)
    >>> bool(abs(r(0.3)["x"] - np.cos(0.3)) < 1e-8)
    True
    """

    def __init__(
        self,
        motion: _dalembert.Motion | _Kept,
        system: System,
        asked: dict[str, Any],
        times: Numbers | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        self._motion = motion
        self.system = system
        self._asked = asked
        self._times = times
        self._parameters = parameters
        self._columns: dict[str, Numbers] = {}
        #: Times of functions that were watched from outside, and whether one of them is the end.
        self._watched: tuple[list[Numbers], bool] | None = None
        #: The samples that were asked for; ``None`` if all were.
        self._kept: Any = None
        if times is not None:
            seen = motion.column("t")
            self._kept = np.isin(seen, times)
            if missing := set(times.tolist()) - set(seen.tolist()):
                end = float(seen[-1]) if len(seen) else float("nan")
                if self.status == 0:
                    raise ArgumentError(f"`t_eval` has {min(missing)}, which is not in the motion")
                # It ended before.
                self._kept |= seen == end

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return self._motion.names()

    def __getitem__(self, name: str) -> Numbers:
        if name not in self._columns:
            column = self._motion.column(name)
            self._columns[name] = column if self._kept is None else column[self._kept]
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] is not None
        except (KeyError, ArgumentError):
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.t)

    @property
    def t(self) -> Numbers:
        """The times of the samples. An event that resets the state has two, before and after."""
        return self["t"]

    @cached_property
    def y(self) -> Numbers:
        """Positions, then states, then velocities, as ``system.state_names`` names them: shape
        (2n, samples) where there are no states."""
        states = self._motion.states()
        return states if self._kept is None else states[:, self._kept]

    @property
    def energy(self) -> Numbers:
        """The energy H = q̇·p − L at the samples."""
        return self["energy"]

    @property
    def forces(self) -> Forces:
        """The force of each constraint on the coordinates: ``r.forces["rod"]`` has shape
        (n, samples). It is Aᵀλ of the constraint's rows; NaN where λ is not unique."""
        return Forces(self)

    @cached_property
    def _jacobian(self) -> Numbers:
        jacobian = self.system.function("jacobian", self._parameters)
        places = jacobian.places
        return jacobian(self.t, self.y[:places], self.y[places:])

    @cached_property
    def _multipliers(self) -> Numbers:
        return np.array([self[f"multiplier({name})"] for name in self.system.constraints])

    @property
    def sol(self) -> Dense:
        """States at any time: ``sol(t)`` has shape (2n, …)."""
        return Dense(self)

    def __call__(self, t: ArrayLike) -> Moment:
        """The states at times of the motion, by name."""
        times = real("times", t)
        return Moment(self.system.state_names, times, self.sol(times))

    @cached_property
    def report(self) -> Answer:
        """All that the run tells of itself, in the shape of ``dal run --json``."""
        return Answer(self._motion.report())

    @cached_property
    def certificate(self) -> Certificate:
        """What was measured on the way, and what is allowed."""
        report = self.report
        own = Certificate(report["certificate"])
        own.update(verdict=report["verdict"], bounds=report["bounds"])
        own._motion = self._motion
        return own

    @property
    def error(self) -> Answer | None:
        """How far off the run may be (``relative``, ``bound``, ``end``, …); ``None`` if that was
        not asked for or could not be told."""
        found = self.report["error_estimate"]
        return Answer(found) if found is not None else None

    @property
    def events(self) -> list[Answer]:
        """The events that happened, in order: ``t``, ``name``, ``action``, …"""
        return [Answer(event) for event in self.report["events"]]

    @property
    def phases(self) -> Answer | None:
        """What contacts and dry friction did: the ``count`` of phases, ``impacts``, the ``changes``
        with ``t``, ``of`` and ``change`` (``closes``, ``opens``, ``sticks``, ``slips``); ``None``
        where there are none. ``observe=["floor.mode", "floor.force"]`` of a run has the phase and the
        load at each sample."""
        found = self.report.get("phases")
        return Answer(found) if found is not None else None

    @property
    def t_events(self) -> list[Numbers]:
        """The times of each event of the model; of each function, where `solve_ivp` was given
        some."""
        if self._watched is not None:
            return self._watched[0]
        log = self.report["events"]
        return [
            np.array([event["t"] for event in log if event["name"] == name])
            for name in self.system.events
        ]

    @property
    def y_events(self) -> list[Numbers]:
        """The states at these times, a row for each; before the event, if it changes them."""
        return [self.sol(times).T for times in self.t_events]

    def _happened(self, times: list[Numbers], ends: bool) -> None:
        self._watched = (times, ends)

    @property
    def status(self) -> int:
        """0: it came to its time; 1: an event or friction was its end; −1: it could not go on."""
        if self._watched is not None and self._watched[1]:
            return 1
        how = self.report["end"]["how"]
        return {"finished": 0, "failed": -1, "interrupted": -1}.get(how, 1)

    @property
    def message(self) -> str:
        """The same in words."""
        if self._watched is not None and self._watched[1]:
            return _ENDS["event"]
        report = self.report
        how: str = report["end"]["how"]
        words: str | None = report.get("stopped") or report["end_words"]
        return words or _ENDS.get(how, how)

    @property
    def success(self) -> bool:
        """Whether it came to an end of its own."""
        return self.status >= 0

    @property
    def nfev(self) -> int:
        """Evaluations of the rates."""
        return self._motion.evaluations

    def to_pandas(self) -> Any:
        """All columns as a ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame({name: self[name] for name in self.names}, copy=False)

    def to_arrow(self) -> Any:
        """All columns as a ``pyarrow.Table``, which takes the arrays over without a copy. What is
        not unique is NaN."""
        import pyarrow

        return pyarrow.table({name: pyarrow.array(self[name]) for name in self.names})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> tuple[Any, ...]:
        kept = _Kept.of(self._motion, self.system, self._asked)
        made = (kept, self.system, self._asked, self._times, self._parameters)
        return (Result, made, {"_watched": self._watched})

    def __repr__(self) -> str:
        verdict = self.report["verdict"]
        return f"<dalembert.Result {len(self)} samples, {self.message}; verdict: {verdict}>"

    def __str__(self) -> str:
        return str(self.report["text"])

    def page(self, path: str | os.PathLike[str] | None = None) -> str:
        """The page of the motion, one HTML file without anything beside it: the drawing, plots,
        sliders, certificate and equations. It is written to a path if one is given.

        >>> s = dalembert.System("coord x; kinetic x'^2/2; potential x^2/2; start x = 1")
        >>> s.simulate(1).page().startswith("<!")
        True
        """
        text = self._motion.page(self.system.title or "model", self.system.text)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return text

    def _repr_html_(self) -> str:
        import html

        page = html.escape(self.page())
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'


_ENDS = {
    "event": "an event is its end",
    "finished": "the motion came to its time",
    "sticks": "the motion sticks",
}


def _unknown(name: str, known: list[str]) -> UnknownNameError:
    error = UnknownNameError(f"nothing is called `{name}` here; there are {', '.join(known)}")
    error.name, error.known = name, known
    return error
