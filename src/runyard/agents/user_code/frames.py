"""Tell frames of user code (agents, tools, nodes and the libraries they call) from frames of Runyard.

A function of Runyard that calls user code is marked with `calls_user_code`. Walking a stack from its innermost frame,
the first frame of Runyard decides: if that function is marked, the frames above it are user code and may be
interrupted. If not, Runyard itself is running (a write, a commit, a read) and must not be interrupted.
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
    """Raised inside user code that blocks the event loop. Not an Exception, so that `except Exception` in that code
    does not catch it."""


def calls_user_code(function: F) -> F:
    """Mark a sync or async function whose direct callees are user code."""
    _marked.add(function.__code__)
    return function


def is_user_code(frame: FrameType | None) -> bool:
    """Return whether the stack with this innermost frame is in user code. A stack under a debugger is not."""
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
    """Return the current line as `file:number`; in user code, the innermost line that is not in a library."""
    innermost = frame
    while frame is not None and not _is_ours(frame):
        if not frame.f_code.co_filename.startswith(_LIBRARIES):
            return _place(frame)
        frame = frame.f_back
    return "unknown" if innermost is None else _place(innermost)


def _place(frame: FrameType) -> str:
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def _is_ours(frame: FrameType) -> bool:
    """Return whether the frame is Runyard's. The demo's agents count as user code."""
    name = str(frame.f_globals.get("__name__", ""))
    return (name == "runyard" or name.startswith("runyard.")) and not name.startswith("runyard.demo")
