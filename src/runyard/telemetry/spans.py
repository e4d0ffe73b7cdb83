"""Spans, counters and decisions of agents at work: ids, names, counts, durations and codes, never content.

A span without a parent is a root. A span that starts while another is current (`inside`) is its child, also in tasks
that start there. The trace of a run has the run's id, so a run that another process continues stays in the same trace.
If a caller sends the header `traceparent`, the run belongs to the caller's trace (`join`). `Span.traceparent` is the
header for a called service. ADR 56 says why these are not the spans of OpenTelemetry's SDK.

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
    """One timed operation.

    `trace` is an id of Runyard or 32 hex digits. `began` and `ended` are seconds since 1970. `outcome` is `ok` or a
    code. `caller` is the id of the remote span above a root."""

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
        self.below: list[Span] = []  # of a root: all its descendants, parents first
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
        """Return a root and all its descendants, parents first."""
        return [self, *self.below]

    @property
    def traceparent(self) -> str:
        """Return the header of W3C Trace Context for a call that is made in this span."""
        return f"00-{self.trace_id}-{self.id}-01"

    def join(self, traceparent: str | None) -> None:
        """Join the caller's trace. Call it before the first child starts; an invalid header is ignored."""
        found = None if traceparent is None else _TRACEPARENT.fullmatch(traceparent)
        if found is not None:
            self.trace, self.caller = found[1], found[2]


def is_traceparent(header: str) -> bool:
    """Return whether a header is a valid `traceparent` of W3C Trace Context."""
    return _TRACEPARENT.fullmatch(header) is not None


class Exporter(Protocol):
    """Sends spans, counters and decisions to a backend. No method blocks; the tracer counts exceptions and drops
    them."""

    def ended(self, span: Span) -> None:
        """Take a span that has ended. All its descendants have ended before."""

    def count(self, name: str, attributes: dict[str, Attribute]) -> None:
        """Add 1 to a counter."""

    def log(self, name: str, attributes: dict[str, Attribute], span: Span | None) -> None:
        """Take a log line. It belongs to the trace of `span`, if there is one."""

    def close(self) -> None:
        """Send the spans, counts and lines that are not sent yet."""


class Recorder:
    """An exporter that keeps the last spans and lines in memory. For tests, and if no exporter is set."""

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
    """Pass every call to several exporters."""

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
    """Makes a span the current one for a block. A class, because a generator costs more and every run uses it."""

    __slots__ = ("_before", "_span")

    def __init__(self, span: Span) -> None:
        self._span = span

    def __enter__(self) -> None:
        self._before = _current.set(self._span)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._before)


class Tracer:
    """Makes spans and passes them to an exporter when they end."""

    def __init__(self, exporter: Exporter, now: Callable[[], float] = time.time) -> None:
        self.exporter = exporter
        self._now = now

    def root(self, name: str, trace: str, began: float | None = None, **attributes: Attribute) -> Span:
        """Start a root. It does not become the current span."""
        return Span(name, trace, None, began or self._now(), attributes)

    def begin(self, name: str, trace: str, **attributes: Attribute) -> Span:
        """Start a child of the current span, or a root if there is none."""
        return Span(name, trace, _current.get(), self._now(), attributes)

    def child(self, parent: Span, name: str, ago: float = 0.0, **attributes: Attribute) -> Span:
        """Start a child of `parent`. `ago`: how many seconds ago it began."""
        return Span(name, parent.trace, parent, self._now() - ago, attributes)

    def end(self, span: Span, outcome: str = "ok") -> None:
        """End a span and its open descendants. Ending it again has no effect."""
        now = self._now()
        if span.ended is not None:
            return
        open_below = [each for each in reversed(span.below) if each.ended is None]
        for each in [*open_below, span]:
            each.ended, each.outcome = now, outcome
            safely(self.exporter.ended, each)

    def inside(self, span: Span) -> "_Inside":
        """Make a span the current one for a `with` block: spans that begin there are its children."""
        return _Inside(span)

    @contextmanager
    def span(self, name: str, trace: str, **attributes: Attribute) -> Iterator[Span]:
        """Start a span that ends with the `with` block. It does not become the current span."""
        made = self.begin(name, trace, **attributes)
        try:
            yield made
        except BaseException as error:
            self.end(made, type(error).__name__)
            raise
        self.end(made)

    def ended_root(
        self, name: str, trace: str, began: float, ended: float, outcome: str = "ok", **attributes: Attribute
    ) -> None:
        """Export a root that has ended already."""
        made = Span(name, trace, None, began, attributes)
        made.ended, made.outcome = ended, outcome
        safely(self.exporter.ended, made)

    def count(self, name: str, **attributes: Attribute) -> None:
        """Add 1 to a counter."""
        safely(self.exporter.count, name, attributes)

    def log(self, name: str, span: Span | None = None, **attributes: Attribute) -> None:
        """Log a line in the trace of this span, or of the current one."""
        safely(self.exporter.log, name, attributes, span or _current.get())
