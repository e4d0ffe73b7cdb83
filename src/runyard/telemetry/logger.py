"""The logger that every module uses.

structlog takes longer to import than a command of the command line takes to run, so it is loaded with the first line
that is written (ADR 30).
"""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple


class _Pending(NamedTuple):
    level: int
    configure: Callable[[], None]


_pending: _Pending | None = None


def get_logger() -> Any:
    """Return a structlog logger."""
    return _LAZY


def configure_at_first_line(level: str, configure: Callable[[], None]) -> None:
    """Call a function before the first line of this level or above is written, by Runyard or by a library.

    Lines below this level are dropped."""
    global _pending
    number = logging.getLevelNamesMapping()[level.upper()]
    _pending = _Pending(number, configure)
    logging.basicConfig(handlers=[_Configuring()], level=max(number, logging.WARNING), force=True)


class _LazyLogger:
    def __getattr__(self, name: str) -> Any:
        if _pending is not None:
            level = logging.ERROR if name == "exception" else logging.getLevelNamesMapping().get(name.upper())
            if level is not None and level < _pending.level:
                return _drop
            _configure()
        return getattr(_structlog(), name)


class _Configuring(logging.Handler):
    """Handles the first record of a library: configures logging, which replaces this handler, and passes it on."""

    def emit(self, record: logging.LogRecord) -> None:
        _configure()
        logging.getLogger().handle(record)


def _drop(*values: object, **more: object) -> None: ...


def _configure() -> None:
    global _pending
    pending, _pending = _pending, None
    if pending is not None:
        pending.configure()


@cache
def _structlog() -> Any:
    import structlog

    return structlog.get_logger()


_LAZY = _LazyLogger()
