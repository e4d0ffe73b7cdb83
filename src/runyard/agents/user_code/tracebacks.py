"""The traceback of an error in an agent, a step or a tool, as text for its developer.

Frames of Runyard and of the standard library before the first frame of user code are left out. An error that never
passed through user code has no traceback. Values of variables are never included. The text is content: it goes into the
run's log (encrypted, redacted, for its owner only) and never into a log line.
"""

import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from runyard.domain.events import clean
from runyard.domain.redaction.no_redaction import NO_REDACTION

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

MOST_CHARS = 16_000
_OWN = str(Path(__file__).parents[2]) + "/"
_EXAMPLES = _OWN + "demo/"
_LIBRARY = tuple(str(Path(sysconfig.get_path(name))) + "/" for name in ("stdlib", "platstdlib"))
_INSTALLED = ("/site-packages/", "/dist-packages/")


def traceback_of(error: BaseException, redactor: "Redactor" = NO_REDACTION) -> str | None:
    """Format the traceback of `error` and its causes. Return None if no frame is user code.

    The text is redacted before it is shortened, so that a cut cannot hide part of a sensitive text."""
    try:
        while not _passed_through_an_agent(error):
            if error.__cause__ is None:
                return None
            error = error.__cause__
        found = traceback.TracebackException.from_exception(error)
        for each in _all_of(found, set()):
            each.stack = _from_the_agent_on(each.stack)
        text = clean("".join(found.format()).rstrip())
        return _shortened(redactor.text(text))
    except Exception:  # any method of a user's exception may raise; the run must still end with its own error
        return None


def _passed_through_an_agent(error: BaseException) -> bool:
    frames = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
    inside = isinstance(error, BaseExceptionGroup) and any(map(_passed_through_an_agent, error.exceptions))
    return inside or any(map(_is_of_an_agent, frames))


def _is_of_an_agent(filename: str) -> bool:
    if filename.startswith(_OWN):
        return filename.startswith(_EXAMPLES)
    is_library = filename.startswith(_LIBRARY) and not any(part in filename for part in _INSTALLED)
    return not is_library and not filename.startswith("<frozen ")


def _from_the_agent_on(stack: traceback.StackSummary) -> traceback.StackSummary:
    for number, frame in enumerate(stack):
        if _is_of_an_agent(frame.filename):
            return traceback.StackSummary.from_list(stack[number:])
    return stack


def _all_of(found: traceback.TracebackException, seen: set[int]) -> Iterator[traceback.TracebackException]:
    """Yield the error, its causes and the members of its groups."""
    if id(found) in seen:
        return
    seen.add(id(found))
    yield found
    for each in (found.__cause__, found.__context__, *(found.exceptions or ())):
        if each is not None:
            yield from _all_of(each, seen)


def _shortened(text: str) -> str:
    """Keep the first quarter and the last three quarters of the limit: the error itself is at the end."""
    if len(text) <= MOST_CHARS:
        return text
    left_out = len(text) - MOST_CHARS
    return f"{text[: MOST_CHARS // 4]}\n... {left_out} characters left out ...\n{text[-MOST_CHARS * 3 // 4 :]}"
