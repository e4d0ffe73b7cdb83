"""Telemetry that fails in every call: `logger`, `tracer` and `metrics`, for a pod of the flow tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import prometheus_client
import structlog

from runyard.app import process as wiring
from runyard.telemetry import logs


def fail(*_: Any, **__: Any) -> NoReturn:
    raise OSError("on purpose")


class BrokenExporter:
    ended = count = log = close = staticmethod(fail)


def _logger() -> None:
    configure = logs.configure

    def broken(*args: Any) -> None:
        configure(*args)
        structlog.configure(processors=[fail])

    logs.configure = broken  # type: ignore[assignment]


def _tracer() -> None:
    wiring.open_exporter = lambda settings: BrokenExporter()  # type: ignore[attr-defined]


def _metrics() -> None:
    prometheus_client.Counter.inc = fail  # type: ignore[method-assign]
    prometheus_client.Histogram.observe = fail  # type: ignore[method-assign]
    prometheus_client.Gauge.set = fail  # type: ignore[method-assign]


BROKEN: dict[str, Callable[[], None]] = {"logger": _logger, "tracer": _tracer, "metrics": _metrics}
