"""Which frames of a stack are code of a user: an agent's, a tool's, a node's, and the libraries that these call.

A function of Runyard that calls such code is marked with `calls_user_code`. Walking a stack from its innermost frame,
the first frame of Runyard says which it is: if that function is marked, the code above it belongs to a user and may be
interrupted; if not, Runyard itself is at work (a write, a commit, a read) and must not be.
"""

from collections.abc import Callable
from pathlib import Path
from sysconfig import get_paths
from types import CodeType, FrameType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_marked: set[CodeType] = set()
_DEBUGGERS = frozenset({"bdb", "pdb", "pydevd", "debugpy", "_pydevd_bundle", "IPython"})
_paths = get_paths()
_LIBRARIES = tuple({_paths["stdlib"], _paths["platstdlib"], _paths["purelib"], _paths["platlib"], "<frozen"})


class Interrupted(BaseException):
    """Raised inside code of a user that blocks the event loop. Not an Exception, so that `except Exception` in that
    code lets it pass."""


def calls_user_code(function: F) -> F:
    """Mark a function, plain or async, whose direct callees are code of a user."""
    _marked.add(function.__code__)
    return function


def is_user_code(frame: FrameType | None) -> bool:
    """Whether a stack whose innermost frame this is stands in code of a user. One that is being debugged does not."""
    above = 0
    found = False
    while frame is not None:
        root = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if root in _DEBUGGERS:
            return False
        if not found and _is_ours(frame):
            found = above > 0 and frame.f_code in _marked
            if not found:
                return False
        above += 1
        frame = frame.f_back
    return found


def place_of(frame: FrameType | None) -> str:
    """The line at work: a file's name and a number. Of user code the innermost line that is not in a library."""
    innermost = frame
    while frame is not None and not _is_ours(frame):
        if not frame.f_code.co_filename.startswith(_LIBRARIES):
            return _place(frame)
        frame = frame.f_back
    return "unknown" if innermost is None else _place(innermost)


def _place(frame: FrameType) -> str:
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def _is_ours(frame: FrameType) -> bool:
    """The demo's agents are a user's: they live in this package only so that there is something to see."""
    name = str(frame.f_globals.get("__name__", ""))
    return (name == "runyard" or name.startswith("runyard.")) and not name.startswith("runyard.demo")
