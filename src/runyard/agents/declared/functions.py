"""Checks of the functions of agents and nodes, and the bytes from which versions are made.

Functions are checked when they are declared, so that a mistake is one sentence at the start and not a failed run.
"""

import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any, Literal

from runyard.errors import Invalid

# The words of the errors, and what to do instead of yielding.
_WORDS = {
    "agent": ("A python agent", "an agent", "an agent writes with `await ctx.token(...)` and returns its output"),
    "node": ("A node", "a node", "a node returns its result"),
}


def check_function(fn: object, kind: Literal["agent", "node"]) -> None:
    """Raise Invalid unless `fn` is an `async def f(ctx)`."""
    some, one, instead = _WORDS[kind]
    name = getattr(fn, "__name__", "the function")
    if not callable(fn):
        raise Invalid(f"{some} needs a function: async def f(ctx).")
    if inspect.isasyncgenfunction(fn):
        raise Invalid(f"{name} yields; {instead}.")
    if not inspect.iscoroutinefunction(fn):
        raise Invalid(f"{name} is not async; {one} is an `async def f(ctx)`.")
    try:
        inspect.signature(fn).bind(None)
    except TypeError:
        raise Invalid(f"{name} must take exactly one argument, the context: async def {name}(ctx).") from None


def source(fn: Callable[..., Any]) -> bytes:
    """Return the source of a function, or its bytecode if there is no source."""
    try:
        return inspect.getsource(fn).encode()
    except (OSError, TypeError):
        # typed into a prompt
        return _code(getattr(fn, "__code__", None))


def _code(code: CodeType | None) -> bytes:
    if code is None:
        return b""
    inner = [_code(const) if isinstance(const, CodeType) else repr(const).encode() for const in code.co_consts]
    return b"\0".join([code.co_code, *(name.encode() for name in code.co_names), *inner])
