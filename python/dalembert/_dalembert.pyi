"""Models, motions and functions; use them through `dalembert`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Function", "Model", "Motion", "__version__", "choices", "diagnose", "gallery"]

__version__: str

def diagnose(text: str, *, name: str = "model", markdown: bool = False) -> tuple[list[dict[str, Any]], str]: ...
def gallery() -> list[tuple[str, str]]: ...
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
    def restored(
        name: str, text: str, markdown: bool, folder: str | Path | None, overrides: Sequence[str]
    ) -> Model: ...
    def saved(self) -> tuple[str, str, bool, Path | None, list[str]]: ...
    def with_set(self, overrides: Sequence[str]) -> Model: ...
    def with_statements(self, statements: str) -> Model: ...
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
    def linearize(self, at: str | Sequence[tuple[str, float]] | None = None) -> dict[str, Any]: ...
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
    def sweep(
        self,
        names: Sequence[str],
        values: ArrayLike,
        *,
        vary: str | None = None,
        sampling: str | None = None,
        samples: int | None = None,
        seed: int = 0,
        observe: Sequence[str] = ...,
        end_time: float | None = None,
        tolerance: float | None = None,
        method: str | None = None,
        formulation: str | None = None,
        threads: int | None = None,
        progress: Callable[[float, float], object] | None = None,
    ) -> tuple[list[str], NDArray[np.float64], list[tuple[int, str]]]: ...

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
    def size(self) -> int: ...
    def __call__(
        self,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]: ...
