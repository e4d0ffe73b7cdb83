"""What a user declares: an agent, and what it answers.

An `Agent` is a declaration, checked when it is made and never changed; runners (`runners/`) know how its kind is run.
The decorator `agent` turns `async def f(ctx)` into one. Its `version` changes when its source does.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from types import CodeType
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, get_args, overload

import msgspec

from runyard.agents.script import Script, parse
from runyard.agents.tools import Tool
from runyard.errors import Invalid

Kind = Literal["python", "scripted"]
WhileWaiting = Literal["hold", "yield"]
OnCodeChange = Literal["continue", "error"]
OnUnknown = Literal["ask", "fail"]


class Output(msgspec.Struct, frozen=True):
    """The answer of a run: its text, the ids of what it rests on, and anything else (JSON) by name."""

    text: str = ""
    sources: Sequence[str] = ()
    outputs: Mapping[str, Any] = {}


# `async def f(ctx: Context)`. Not spelled out: `context` imports this module, and nothing here imports in a circle.
AgentFunction: TypeAlias = Callable[[Any], Awaitable[Output | str | None]]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)


class Agent:
    """Who answers. A python agent has a function `fn`, a scripted one a `script` (see `script.py`).

    `while_waiting`: whether a run that waits for a person holds its lane. `on_unknown`: what happens to a `once` call
    that may or may not have taken effect. `max_seconds`: how long one execution may take; waiting for people does not
    count.
    """

    def __init__(
        self,
        name: str,
        *,
        kind: Kind = "python",
        fn: AgentFunction | None = None,
        script: Sequence[Mapping[str, Any]] = (),
        instructions: str = "",
        tools: Sequence[Tool[..., Any]] = (),
        while_waiting: WhileWaiting = "hold",
        on_code_change: OnCodeChange = "continue",
        on_unknown: OnUnknown = "ask",
        max_seconds: float | None = None,
    ) -> None:
        self.name = _checked_name(name)
        self.kind: Kind = _one_of("kind", kind, Kind)
        self.fn = fn
        self.script: Script = parse(script)
        self.instructions = instructions
        self.tools = _checked_tools(tools)
        self.while_waiting: WhileWaiting = _one_of("while_waiting", while_waiting, WhileWaiting)
        self.on_code_change: OnCodeChange = _one_of("on_code_change", on_code_change, OnCodeChange)
        self.on_unknown: OnUnknown = _one_of("on_unknown", on_unknown, OnUnknown)
        self.max_seconds = max_seconds
        if max_seconds is not None and max_seconds <= 0:
            raise Invalid("max_seconds must be more than 0.")
        if kind == "python":
            _check_function(fn)
        if (kind == "scripted") != bool(script):
            raise Invalid(f"Agent {name}: a scripted agent has a script, and only a scripted one does.")

    def __repr__(self) -> str:
        return f"Agent({self.name!r}, kind={self.kind!r})"

    @cached_property
    def version(self) -> str:
        """Twelve hex digits that change when the function's source (or the script) does."""
        source = msgspec.json.encode(self.script) if self.fn is None else _source(self.fn)
        return sha256(source).hexdigest()[:12]


class AgentOptions(TypedDict, total=False):
    name: str
    instructions: str
    tools: Sequence[Tool[..., Any]]
    while_waiting: WhileWaiting
    on_code_change: OnCodeChange
    on_unknown: OnUnknown
    max_seconds: float | None


@overload
def agent(fn: AgentFunction, /) -> Agent: ...
@overload
def agent(**options: Unpack[AgentOptions]) -> Callable[[AgentFunction], Agent]: ...
def agent(
    fn: AgentFunction | None = None, /, **options: Unpack[AgentOptions]
) -> Agent | Callable[[AgentFunction], Agent]:
    """Make an agent of an `async def f(ctx)`: `@agent`, or `@agent(name="...", while_waiting="yield")`."""

    def declare(fn: AgentFunction) -> Agent:
        _check_function(fn)
        rest = options.copy()
        name = rest.pop("name", None)
        return Agent(getattr(fn, "__name__", "") if name is None else name, fn=fn, **rest)  # type: ignore[misc]

    return declare if fn is None else declare(fn)


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Invalid("An agent's name has 1 to 64 letters, digits or any of - _ . and nothing else.")
    return name


def _checked_tools(tools: Sequence[Tool[..., Any]]) -> tuple[Tool[..., Any], ...]:
    if not all(isinstance(tool, Tool) for tool in tools):
        raise Invalid("The tools of an agent are functions decorated with @runyard.tool.")
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise Invalid("Two tools of an agent have the same name.")
    return tuple(tools)


def _check_function(fn: object) -> None:
    name = getattr(fn, "__name__", "the function")
    if not callable(fn):
        raise Invalid("A python agent needs a function: async def f(ctx).")
    if inspect.isasyncgenfunction(fn):
        raise Invalid(f"{name} yields; an agent writes with `await ctx.token(...)` and returns its output.")
    if not inspect.iscoroutinefunction(fn):
        raise Invalid(f"{name} is not async; an agent is an `async def f(ctx)`.")
    try:
        inspect.signature(fn).bind(None)
    except TypeError:
        raise Invalid(f"{name} must take exactly one argument, the context: async def {name}(ctx).") from None


def _one_of(option: str, value: Any, choices: Any) -> Any:
    if value not in get_args(choices):
        raise Invalid(f"{option} must be one of {', '.join(get_args(choices))}.")
    return value


def _source(fn: AgentFunction) -> bytes:
    try:
        return inspect.getsource(fn).encode()
    except (OSError, TypeError):
        # typed into a prompt: what it was compiled to will do
        return _code(getattr(fn, "__code__", None))


def _code(code: CodeType | None) -> bytes:
    if code is None:
        return b""
    inner = [_code(const) if isinstance(const, CodeType) else repr(const).encode() for const in code.co_consts]
    return b"\0".join([code.co_code, *(name.encode() for name in code.co_names), *inner])
