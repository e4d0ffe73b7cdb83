"""Tell whether a stack is in user code, which may be interrupted, or in Runyard, which may not."""

import sys
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

from runyard.agents.user_code.frames import calls_user_code, is_user_code, place_of

found: list[tuple[bool, str]] = []


def look() -> None:
    frame = sys._getframe()
    found.append((is_user_code(frame), place_of(frame)))


def of_runyard(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same function, as if a module of Runyard defined it."""
    return FunctionType(function.__code__, {**function.__globals__, "__name__": "runyard.engine.some"})


def calls(function: Callable[[], None]) -> None:
    function()


def calls_a_user(function: Callable[[], None]) -> None:
    function()


marked = calls_user_code(of_runyard(calls_a_user))
unmarked = of_runyard(calls)


def seen(call: Callable[[], object]) -> tuple[bool, str]:
    found.clear()
    call()
    return found[0]


def test_code_above_a_marked_function_is_a_users() -> None:
    is_users, place = seen(lambda: marked(look))
    assert is_users
    assert place.startswith("test_user_code.py:")


def test_code_above_another_function_of_runyard_is_not() -> None:
    assert not seen(lambda: unmarked(look))[0]
    assert not seen(lambda: marked(lambda: unmarked(look)))[0], "a write that a user's code asked for"


def test_a_marked_function_itself_is_not_a_users() -> None:
    @calls_user_code
    def at_work() -> FrameType:
        return sys._getframe()

    frame = FunctionType(at_work.__code__, {"sys": sys, "__name__": "runyard.engine.some"})()
    assert not is_user_code(frame)


def test_code_under_a_debugger_is_not_interrupted() -> None:
    debugger = FunctionType(calls.__code__, {"__name__": "bdb"})
    assert not seen(lambda: marked(lambda: debugger(look)))[0]
