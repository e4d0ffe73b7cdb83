"""The redactor of a server without redaction: it returns every text and value as it is.

Apart from `redactor.py`, so that a process without redaction does not import the library of patterns.
"""

from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

T = TypeVar("T")


class _NoStream:
    def feed(self, text: str) -> str:
        return text

    def close(self) -> str:
        return ""


class _NoRedaction:
    is_on = False

    def stream(self) -> _NoStream:
        return _NoStream()

    def text(self, text: str) -> str:
        return text

    def value(self, value: T) -> T:
        return value


NO_REDACTION = cast("Redactor", _NoRedaction())
"""Use it like any redactor. `Writing` (tokens and reasoning of a context) and `RunHandle` (events) ask `is_on` and keep
None instead of a buffer, because they run for every token and event: a null object would add a function call to the
twelve of `Context.token`, in a server that redacts nothing."""
