"""Log lines: each has a stable `action`, and ids, names, counts, durations and codes. Never content, never the text of
an exception.

Messages of libraries may contain content, so only their source and the class of the exception are kept. Tracebacks
that Python would print itself (a crashed thread, a failed destructor) become log lines, too.

A line that cannot be written is dropped: `harmless.Lines` never raises and never blocks.
"""

import logging
import sys
import threading
from types import TracebackType
from typing import Any, Literal

import structlog

from runyard.telemetry.harmless import Lines, failures

Format = Literal["console", "json"]


def configure(format: Format, level: str) -> None:
    """Send all log lines, of Runyard and of libraries, to stderr in one format."""
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
    lines = Lines(sys.stderr, lambda count: _rendered(render, "log.lines_lost", lines=count))
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[_no_exception, *shared, render],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(lines),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )
    contain()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=render, foreign_pre_chain=[_foreign, *shared]))
    logging.basicConfig(handlers=[handler], level=max(number, logging.WARNING), force=True)
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # a handler that fails would print a traceback to the stream that failed


def contain() -> None:
    """Make loggers never raise, however structlog is configured. Calling it again changes nothing."""
    kind = structlog.get_config()["wrapper_class"]
    if not issubclass(kind, _Harmless):
        structlog.configure(wrapper_class=type("HarmlessLogger", (_Harmless, kind), {}))


class _Harmless:
    def _proxy_to_logger(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super()._proxy_to_logger(*args, **kwargs)  # type: ignore[misc]
        except Exception:
            failures["log"] += 1


def catch_tracebacks() -> None:
    """Log tracebacks that Python itself would print. Only for processes that are servers."""
    threading.excepthook = _thread_died
    sys.unraisablehook = _not_raised


def _rendered(render: structlog.typing.Processor, action: str, **values: Any) -> str:
    stamped = structlog.processors.TimeStamper(fmt="iso", utc=True)(None, "", {"level": "warning", **values})
    return str(render(None, "", {**stamped, "action": action}))


def _no_exception(logger: Any, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Replace an exception by the name of its class."""
    failure = event.pop("exc_info", None)
    if failure:
        event.setdefault("error", _class_of(failure))
    return event


def _foreign(logger: Any, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Keep only the source of a library's log record."""
    record: logging.LogRecord = event["_record"]
    kept: dict[str, Any] = {name: event[name] for name in ("_record", "_from_structlog") if name in event}
    kept |= {"event": "library.logged", "logger": record.name, "where": f"{record.module}:{record.lineno}"}
    if record.exc_info and record.exc_info[0] is not None:
        kept["error"] = record.exc_info[0].__name__
    record.exc_info = record.exc_text = record.stack_info = None
    return kept


def _class_of(failure: object) -> str:
    match failure:
        case BaseException():
            return type(failure).__name__
        case (kind, *_) if isinstance(kind, type):
            return kind.__name__
        case _:
            found = sys.exc_info()[0]
            return "unknown" if found is None else found.__name__


def _thread_died(args: threading.ExceptHookArgs) -> None:
    structlog.get_logger().error("thread.crashed", error=args.exc_type.__name__, where=_place(args.exc_traceback))


def _not_raised(args: "sys.UnraisableHookArgs") -> None:
    structlog.get_logger().error("exception.ignored", error=args.exc_type.__name__, where=_place(args.exc_traceback))


def _place(traceback: TracebackType | None) -> str:
    """Return the file name and line that raised."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return "unknown"
    return f"{traceback.tb_frame.f_code.co_filename.rpartition('/')[2]}:{traceback.tb_lineno}"
