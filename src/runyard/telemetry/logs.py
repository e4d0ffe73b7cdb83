"""Log lines: one stable `action` each, ids, names, counts, durations and codes. Never content, never an exception's
text."""

import logging
import sys
from typing import Literal

import structlog

Format = Literal["console", "json"]


def configure(format: Format, level: str) -> None:
    """Send everything, ours and the libraries', to stderr in one format."""
    render = (
        structlog.processors.JSONRenderer()
        if format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), event_key="action")
    )
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.EventRenamer("action"),
    ]
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*shared, render],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(processor=render, foreign_pre_chain=[*shared, _no_traceback])
    )
    logging.basicConfig(handlers=[handler], level=max(number, logging.WARNING), force=True)


def _no_traceback(logger: logging.Logger, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """A traceback shows arguments and messages of exceptions; its class is all that may be logged."""
    failure = event.pop("exc_info", None)
    record: logging.LogRecord | None = event.get("_record")
    if record is not None and record.exc_info and record.exc_info[0] is not None:
        event["error"] = record.exc_info[0].__name__
        record.exc_info = record.exc_text = None
    elif failure:
        event["error"] = "unknown"
    return event
