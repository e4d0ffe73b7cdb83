"""The redactor of a server without redaction: it returns every text and value as it is.

Apart from `redactor.py`, so that a process without redaction does not import the library of patterns.
"""

from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

T = TypeVar("T")


class _NoRedaction:
    is_on = False

    def text(self, text: str) -> str:
        return text

    def value(self, value: T) -> T:
        return value


NO_REDACTION = cast("Redactor", _NoRedaction())
"""Use it for whole texts and values. Text that streams needs `is_on`: a stream of redacted text holds pieces back."""
