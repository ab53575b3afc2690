"""What the library tells, as dictionaries whose entries are attributes too."""

from __future__ import annotations

from typing import Any

__all__ = ["Answer", "Diagnostics"]


class Answer(dict[str, Any]):
    """A dictionary in the shape that docs/json.md documents; ``a.x`` is ``a["x"]``, and so it goes on
    inside.

    >>> found = Answer({"motion": "unique", "rank": {"jacobian": 1}, "events": [{"t": 0.5}]})
    >>> found.motion, found.rank.jacobian, found.events[0].t
    ('unique', 1, 0.5)
    """

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return _inside(self[name])
        # What was evaluated in one way only needs no list.
        results = self.get("results")
        if results is not None and len(results) == 1 and name in results[0]:
            return _inside(results[0][name])
        raise AttributeError(f"there is no {name!r}; there are {', '.join(self)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def _repr_html_(self) -> str:
        return _table(self)


def _inside(value: Any) -> Any:
    """Dictionaries in an answer, as answers."""
    if type(value) is dict:
        return Answer(value)
    if type(value) is list and value and all(type(item) is dict for item in value):
        return [Answer(item) for item in value]
    return value


def _table(value: Any) -> str:
    import html  # Its table of names takes a while, and nothing else needs it.

    if isinstance(value, dict):
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(str(name))}</th>"
            f"<td style='text-align:left'>{_table(item)}</td></tr>"
            for name, item in value.items()
        )
        return f"<table>{rows}</table>"
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return "".join(_table(item) for item in value)
    return html.escape(str(value))


class Diagnostics(list[dict[str, Any]]):
    """Messages about a model, in the shape of ``dal check --json``; as text, for people."""

    def __init__(self, messages: list[dict[str, Any]], text: str) -> None:
        super().__init__(messages)
        self.text = text

    @property
    def faults(self) -> list[dict[str, Any]]:
        """Those that keep the text from being a model."""
        return [message for message in self if message["severity"] == "error"]

    def __repr__(self) -> str:
        return self.text or "nothing to say"

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(repr(self))}</pre>"
