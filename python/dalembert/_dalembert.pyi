"""Models, motions and functions; use them through `dalembert`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Function",
    "Model",
    "Motion",
    "Study",
    "__version__",
    "choices",
    "diagnose",
    "gallery",
    "parts_left",
    "typeset",
]

__version__: str

_Saved: TypeAlias = tuple[
    str,
    str,
    bool,
    Path | None,
    list[str],
    list[str],
    list[tuple[str, list[Callable[[float], float]]]],
]

def diagnose(text: str, *, name: str = "model", markdown: bool = False) -> tuple[list[dict[str, Any]], str]: ...
def gallery() -> list[tuple[str, str]]: ...
def typeset(text: str, names: Sequence[str]) -> str: ...
def parts_left(folder: str | Path) -> list[int]: ...
def choices() -> tuple[list[str], list[str], list[str]]: ...

@final
class Model:
    @staticmethod
    def parse(
        text: str, *, name: str = "model", markdown: bool = False, folder: str | Path | None = None
    ) -> Model: ...
    @staticmethod
    def open(place: str) -> Model: ...
    @staticmethod
    def restored(saved: _Saved) -> Model: ...
    def saved(self) -> _Saved: ...
    def with_set(self, overrides: Sequence[str]) -> Model: ...
    def with_statements(self, statements: str) -> Model: ...
    def with_inputs(
        self,
        texts: Sequence[str],
        statements: str,
        functions: Sequence[tuple[str, Sequence[Callable[[float], float]]]],
    ) -> Model: ...
    @property
    def text(self) -> str: ...
    @property
    def title(self) -> str: ...
    def check(self) -> tuple[list[dict[str, Any]], str]: ...
    def parts(self) -> dict[str, Any]: ...
    def document(self, kind: str, formulation: str | None) -> str: ...
    def equations(self, formulation: str | None) -> dict[str, Any]: ...
    def evaluate(
        self,
        at: str | Sequence[tuple[str, float]] | None = None,
        *,
        formulation: str | None = None, elimination: str | None = None
    ) -> dict[str, Any]: ...
    def analyze(self) -> dict[str, Any]: ...
    def linearize(
        self,
        at: str | Sequence[tuple[str, float]] | None = None,
        *,
        here: bool = False,
        along: ArrayLike | None = None,
        period: float | None = None,
        within: Sequence[tuple[str, float, float]] | None = None,
        guesses: int = 200,
        symbolic: bool = False,
    ) -> dict[str, Any]: ...
    def function(self, name: str, parameters: Sequence[tuple[str, float]] = ...) -> Function: ...
    def simulate(
        self,
        start_time: float | None = None,
        end_time: float | None = None,
        *,
        tolerance: float | None = None,
        every: float | None = None,
        times: ArrayLike | None = None,
        step: float | None = None,
        longest: float | None = None,
        most_steps: int | None = None,
        method: str | None = None,
        formulation: str | None = None,
        elimination: str | None = None,
        stabilize: str | None = None,
        events: bool = True,
        verify: bool = True,
        dense: bool = True,
        partial: bool = False,
        parameters: Sequence[tuple[str, float]] = ...,
        start: Sequence[tuple[str, float]] = ...,
        progress: Callable[[float, float], object] | None = None,
    ) -> Motion: ...
    def study(
        self,
        names: Sequence[str],
        values: ArrayLike,
        *,
        vary: str | None = None,
        sampling: str | None = None,
        samples: int | None = None,
        seed: int = 0,
        observe: Sequence[str] = ...,
        trajectories: bool = False,
        end_time: float | None = None,
        every: float | None = None,
        tolerance: float | None = None,
        method: str | None = None,
        formulation: str | None = None,
        part: int | None = None,
    ) -> Study: ...

@final
class Study:
    @staticmethod
    def open(folder: str | Path) -> Study: ...
    @property
    def names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def begin(self, folder: str | Path, resume: bool) -> None: ...
    def compute(
        self,
        *,
        threads: int | None = None,
        progress: Callable[[float, float], object] | None = None,
    ) -> tuple[list[str], NDArray[np.float64], list[tuple[int, str]]]: ...
    def run(
        self,
        folder: str | Path,
        *,
        resume: bool = False,
        threads: int | None = None,
        progress: Callable[[float, float], object] | None = None,
    ) -> dict[str, Any]: ...
    def work(
        self,
        folder: str | Path,
        part: int,
        *,
        threads: int = 1,
        progress: Callable[[float, float], object] | None = None,
    ) -> dict[str, Any]: ...
    def summary(self, folder: str | Path) -> dict[str, Any]: ...

@final
class Motion:
    def names(self) -> list[str]: ...
    def column(self, name: str) -> NDArray[np.float64]: ...
    def states(self) -> NDArray[np.float64]: ...
    def at(self, times: ArrayLike) -> NDArray[np.float64]: ...
    def report(self) -> dict[str, Any]: ...
    def page(self, name: str, text: str) -> str: ...
    def check(self) -> None: ...
    @property
    def evaluations(self) -> int: ...
    def __len__(self) -> int: ...

@final
class Function:
    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> list[int]: ...
    @property
    def size(self) -> int: ...
    @property
    def places(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __call__(
        self,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]: ...
