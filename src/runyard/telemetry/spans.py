"""Spans, counters and decisions of agents at work: ids, names, counts, durations and codes, never content.

A span without a parent is a root. A span that starts inside another (`inside`) is its child, also in tasks that start
there. The trace of a run has the run's id, so a run that another process continues stays in the same trace. A run that
a caller's trace caused belongs to that trace (`join`). `traceparent` passes a span on to a called service.

`app/factories.py` chooses the exporter: Sentry (`sentry.py`), OTLP (`otlp.py`), both, or a `Recorder` that keeps the
last spans in memory.
"""

import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from random import getrandbits
from typing import Protocol

from runyard.telemetry.harmless import safely

Attribute = str | int | float | bool
KEPT = 2_000
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}", re.ASCII)


class Span:
    """`trace` is an id of Runyard or 32 hex digits. `began` and `ended` are seconds since 1970. `outcome` is `ok` or a
    code. `caller` is the remote span above a root."""

    def __init__(
        self, name: str, trace: str, parent: "Span | None", began: float, attributes: dict[str, Attribute]
    ) -> None:
        self.name = name
        self.id = f"{getrandbits(64) or 1:016x}"
        self.caller: str | None = None
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

    @property
    def trace_id(self) -> str:
        return self.trace.replace("-", "")

    @property
    def parent_id(self) -> str | None:
        return self.caller if self.parent is None else self.parent.id

    @property
    def tree(self) -> "Sequence[Span]":
        """Of a root: itself and all below it, parents first."""
        return [self, *self.below]

    @property
    def traceparent(self) -> str:
        """The header of W3C Trace Context for a call that is made in this span."""
        return f"00-{self.trace_id}-{self.id}-01"

    def join(self, traceparent: str | None) -> None:
        """Join the caller's trace, before a span is started."""
        found = None if traceparent is None else _TRACEPARENT.fullmatch(traceparent)
        if found is not None:
            self.trace, self.caller = found[1], found[2]


def is_traceparent(header: str) -> bool:
    """Whether it says what W3C Trace Context wants it to say, and nothing more."""
    return _TRACEPARENT.fullmatch(header) is not None


class Exporter(Protocol):
    def ended(self, span: Span) -> None:
        """Everything below it has ended before. Never blocks; what it raises is counted and goes no further."""

    def count(self, name: str, attributes: dict[str, Attribute]) -> None: ...

    def log(self, name: str, attributes: dict[str, Attribute], span: Span | None) -> None:
        """A line; it belongs to the trace of this span, if there is one."""

    def close(self) -> None:
        """Send what is left."""


class Recorder:
    """Keeps the last spans in memory: for tests and without an exporter."""

    def __init__(self) -> None:
        self.spans: deque[Span] = deque(maxlen=KEPT)
        self.counts: Counter[tuple[str, ...]] = Counter()
        self.logs: deque[tuple[str, dict[str, Attribute]]] = deque(maxlen=KEPT)
        self.log_traces: deque[str | None] = deque(maxlen=KEPT)

    def ended(self, span: Span) -> None:
        if span.root is span:
            self.spans.extend(span.tree)

    def count(self, name: str, attributes: dict[str, Attribute]) -> None:
        self.counts[(name, *(str(value) for value in attributes.values()))] += 1

    def log(self, name: str, attributes: dict[str, Attribute], span: Span | None) -> None:
        self.logs.append((name, attributes))
        self.log_traces.append(None if span is None else span.trace_id)

    def close(self) -> None:
        pass


class Several:
    """All of these."""

    def __init__(self, exporters: Sequence[Exporter]) -> None:
        self._exporters = exporters

    def ended(self, span: Span) -> None:
        for exporter in self._exporters:
            safely(exporter.ended, span)

    def count(self, name: str, attributes: dict[str, Attribute]) -> None:
        for exporter in self._exporters:
            safely(exporter.count, name, attributes)

    def log(self, name: str, attributes: dict[str, Attribute], span: Span | None) -> None:
        for exporter in self._exporters:
            safely(exporter.log, name, attributes, span)

    def close(self) -> None:
        for exporter in self._exporters:
            safely(exporter.close)


_current: ContextVar[Span | None] = ContextVar("runyard_span", default=None)


class _Inside:
    """Makes a span the current one. Not a generator: every run has one."""

    __slots__ = ("_before", "_span")

    def __init__(self, span: Span) -> None:
        self._span = span

    def __enter__(self) -> None:
        self._before = _current.set(self._span)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._before)


class Tracer:
    def __init__(self, exporter: Exporter, now: Callable[[], float] = time.time) -> None:
        self.exporter = exporter
        self._now = now

    def root(self, name: str, trace: str, began: float | None = None, **attributes: Attribute) -> Span:
        return Span(name, trace, None, began or self._now(), attributes)

    def begin(self, name: str, trace: str, **attributes: Attribute) -> Span:
        """A child of what is under way here, or a root."""
        return Span(name, trace, _current.get(), self._now(), attributes)

    def child(self, parent: Span, name: str, ago: float = 0.0, **attributes: Attribute) -> Span:
        """`ago`: how many seconds ago it began."""
        return Span(name, parent.trace, parent, self._now() - ago, attributes)

    def end(self, span: Span, outcome: str = "ok") -> None:
        """What is still open below it ends with it."""
        now = self._now()
        if span.ended is not None:
            return
        open_below = [each for each in reversed(span.below) if each.ended is None]
        for each in [*open_below, span]:
            each.ended, each.outcome = now, outcome
            safely(self.exporter.ended, each)

    def inside(self, span: Span) -> "_Inside":
        """Spans that begin in this block are children of this span."""
        return _Inside(span)

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

    def past(
        self, name: str, trace: str, began: float, ended: float, outcome: str = "ok", **attributes: Attribute
    ) -> None:
        """A root that is over already."""
        made = Span(name, trace, None, began, attributes)
        made.ended, made.outcome = ended, outcome
        safely(self.exporter.ended, made)

    def count(self, name: str, **attributes: Attribute) -> None:
        safely(self.exporter.count, name, attributes)

    def log(self, name: str, span: Span | None = None, **attributes: Attribute) -> None:
        """A line in the trace of this span, or of what is under way here."""
        safely(self.exporter.log, name, attributes, span or _current.get())
