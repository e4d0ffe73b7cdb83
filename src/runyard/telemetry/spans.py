"""Spans, counters and decisions of agents at work: ids, names, counts, durations and codes, never content.

A span that has no parent is a root; when it ends, it goes to the exporter with all that lies below it. What is begun
inside of another (`inside`) is its child, also in tasks that are started there. All of a run has the trace of its id,
so that what another process goes on with is the same trace.

The exporter is chosen in wiring: Sentry (`sentry.py`), or a `Recorder` that keeps the last ones in memory.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

Attribute = str | int | float | bool
KEPT = 2_000


class Span:
    """`began` and `ended` are seconds since 1970. `outcome` is `ok` or a code."""

    def __init__(
        self, name: str, trace: str, parent: "Span | None", began: float, attributes: dict[str, Attribute]
    ) -> None:
        self.name = name
        self.trace: str = trace if parent is None else parent.trace
        self.parent = parent
        self.began = began
        self.ended: float | None = None
        self.outcome = "ok"
        self.attributes = attributes
        self.root: Span = self if parent is None else parent.root
        self.below: list[Span] = []  # of a root: all that is in it, parents first
        if parent is not None:
            self.root.below.append(self)

    def __repr__(self) -> str:
        return f"Span({self.name!r})"


class Exporter(Protocol):
    def export(self, spans: Sequence[Span]) -> None:
        """A root and all below it, parents first."""

    def count(self, name: str, attributes: dict[str, Attribute]) -> None: ...

    def log(self, name: str, attributes: dict[str, Attribute]) -> None: ...

    def close(self) -> None:
        """Send what is left."""


class Recorder:
    """Keeps the last ones, for tests and for whoever has no Sentry."""

    def __init__(self) -> None:
        self.spans: deque[Span] = deque(maxlen=KEPT)
        self.counts: Counter[tuple[str, ...]] = Counter()
        self.logs: deque[tuple[str, dict[str, Attribute]]] = deque(maxlen=KEPT)

    def export(self, spans: Sequence[Span]) -> None:
        self.spans.extend(spans)

    def count(self, name: str, attributes: dict[str, Attribute]) -> None:
        self.counts[(name, *(str(value) for value in attributes.values()))] += 1

    def log(self, name: str, attributes: dict[str, Attribute]) -> None:
        self.logs.append((name, attributes))

    def close(self) -> None:
        pass


_current: ContextVar[Span | None] = ContextVar("runyard_span", default=None)


class Tracer:
    def __init__(self, exporter: Exporter, now: Callable[[], float] = time.time) -> None:
        self.exporter = exporter
        self._now = now

    def root(self, name: str, trace: str, began: float | None = None, **attributes: Attribute) -> Span:
        return Span(name, trace, None, began or self._now(), attributes)

    def begin(self, name: str, trace: str, **attributes: Attribute) -> Span:
        """A child of what is under way here, or a root."""
        return Span(name, trace, _current.get(), self._now(), attributes)

    def child(self, parent: Span, name: str, **attributes: Attribute) -> Span:
        return Span(name, parent.trace, parent, self._now(), attributes)

    def end(self, span: Span, outcome: str = "ok") -> None:
        """What is still open below it ends with it."""
        now = self._now()
        if span.ended is not None:
            return
        for each in [span, *(below for below in span.below if below.ended is None)]:
            each.ended, each.outcome = now, outcome
        if span.root is span:
            self.exporter.export([span, *span.below])

    @contextmanager
    def inside(self, span: Span) -> Iterator[None]:
        """What is begun in here is a child of this span."""
        before = _current.set(span)
        try:
            yield
        finally:
            _current.reset(before)

    @contextmanager
    def span(self, name: str, trace: str, **attributes: Attribute) -> Iterator[Span]:
        """From here to the end of the block."""
        made = self.begin(name, trace, **attributes)
        try:
            yield made
        except BaseException as error:
            self.end(made, type(error).__name__)
            raise
        self.end(made)

    def count(self, name: str, **attributes: Attribute) -> None:
        self.exporter.count(name, attributes)

    def log(self, name: str, **attributes: Attribute) -> None:
        self.exporter.log(name, attributes)
