"""Tools: plain typed Python functions that an agent may call, with a JSON schema made from the signature.

A tool says what calling it twice would do. `effects` is `once` unless declared otherwise: a tool about which nothing is
known must never be repeated silently after a crash, and declaring `none` or `idempotent` is one word. Parameters
annotated `Context`, and a parameter `idempotency_key: str`, are filled in and hidden from the schema.

Not its job: recording, approvals and repetition; `Context.call` does those. Called directly, a tool is its function.
"""

import asyncio
import copy
import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial, update_wrapper
from typing import (
    Any,
    Generic,
    Literal,
    ParamSpec,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    get_args,
    get_type_hints,
    overload,
)

import msgspec

from runyard.errors import Invalid

P = ParamSpec("P")
R = TypeVar("R")

Effects = Literal["none", "idempotent", "once"]
ApprovalRule: TypeAlias = Callable[[Mapping[str, Any]], bool]
ApprovalPolicy: TypeAlias = Literal["never", "always"] | ApprovalRule

KEY_PARAMETER = "idempotency_key"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)  # what model providers accept


class Tool(Generic[P, R]):
    """A function with a name, a schema and a declaration of what it does to the world.

    `approval`: `never`, `always`, or a rule that gets the input and says whether a person must be asked. `timeout`:
    seconds after which the call is given up; a sync function runs in a thread, and its thread cannot be stopped.
    """

    def __init__(
        self,
        fn: Callable[P, R],
        *,
        name: str | None = None,
        approval: ApprovalPolicy = "never",
        effects: Effects = "once",
        timeout: float | None = None,
    ) -> None:
        self.fn = fn
        self.name = _checked_name(getattr(fn, "__name__", "") if name is None else name)
        self.description = inspect.cleandoc(fn.__doc__ or "")
        self.approval = approval
        self.effects = effects
        self.timeout = timeout
        if effects not in get_args(Effects):
            raise Invalid(f"Tool {self.name}: effects must be one of {', '.join(get_args(Effects))}.")
        if not callable(approval) and approval not in ("never", "always"):
            raise Invalid(f"Tool {self.name}: approval must be never, always or a function of the input.")
        if timeout is not None and timeout <= 0:
            raise Invalid(f"Tool {self.name}: timeout must be more than 0 seconds.")
        self._injected, self._input_type = _read_signature(fn, self.name, self.description)
        self.schema = _schema(self._input_type, self.name)
        update_wrapper(self, fn)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.fn(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    @property
    def takes_context(self) -> bool:
        return "context" in self._injected.values()

    def needs_approval(self, given: Mapping[str, Any]) -> bool:
        """Whether a person must agree to this call."""
        if callable(self.approval):
            return bool(self.approval(given))
        return self.approval == "always"

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object `given` as the function's arguments; Invalid, without echoing a value, if it does not fit."""
        try:
            checked = msgspec.convert(given, self._input_type)
        except msgspec.ValidationError as error:
            raise Invalid(f"The arguments of {self.name} do not fit: {_without_values(str(error))}.") from None
        return {name: getattr(checked, name) for name in given}

    async def run(self, given: Mapping[str, Any], context: object, key: str) -> Any:
        """Call the function with the JSON object `given`. TimeoutError when its time is up."""
        arguments = self.arguments(given)
        arguments |= {name: context if what == "context" else key for name, what in self._injected.items()}
        async with asyncio.timeout(self.timeout):
            return await call(self.fn, **arguments)


async def call(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Await an async function, or run a sync one in a thread so that the event loop goes on."""
    if inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None)):  # noqa: B004
        return await fn(*args, **kwargs)
    result = await asyncio.to_thread(fn, *args, **kwargs)
    return await result if inspect.isawaitable(result) else result


class ToolOptions(TypedDict, total=False):
    name: str
    approval: ApprovalPolicy
    effects: Effects
    timeout: float | None


@overload
def tool(fn: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(fn: Callable[P, R] | None = None, /, **options: Unpack[ToolOptions]) -> Any:
    """Make a tool of a function: `@tool`, or `@tool(approval="always", effects="idempotent", timeout=10)`."""
    if fn is not None:
        return Tool(fn)
    return partial(Tool, **options)


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Invalid("A tool's name has 1 to 64 letters, digits or any of - _ and nothing else.")
    return name


def _read_signature(
    fn: Callable[..., Any], name: str, description: str
) -> tuple[dict[str, Literal["context", "key"]], type[msgspec.Struct]]:
    """Which parameters are filled in by us, and a struct of the others."""
    try:
        hints = get_type_hints(fn, include_extras=True)
    except (NameError, TypeError):
        raise Invalid(f"Tool {name}: an annotation names a type that cannot be found.") from None
    injected: dict[str, Literal["context", "key"]] = {}
    fields: list[tuple[str, Any, Any]] = []
    for parameter in inspect.signature(fn).parameters.values():
        kind = hints.get(parameter.name, Any)
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise Invalid(f"Tool {name}: {parameter.name} cannot be passed by name; use plain parameters.")
        if getattr(kind, "runyard_injects", None) == "context":
            injected[parameter.name] = "context"
        elif parameter.name == KEY_PARAMETER:
            injected[parameter.name] = "key"
        else:
            fields.append((parameter.name, kind, _field(parameter.default)))
    try:
        struct = msgspec.defstruct(
            name, fields, kw_only=True, forbid_unknown_fields=True, namespace={"__doc__": description or None}
        )
    except (TypeError, ValueError):
        raise Invalid(f"Tool {name}: its parameters cannot be described as JSON.") from None
    return injected, struct


def _field(default: Any) -> Any:
    if default is inspect.Parameter.empty:
        return msgspec.field()
    if isinstance(default, list | dict | set | bytearray):
        return msgspec.field(default_factory=partial(copy.copy, default))
    return msgspec.field(default=default)


def _schema(struct: type[msgspec.Struct], name: str) -> dict[str, Any]:
    """The struct's JSON schema with the object itself on top, as model providers want it."""
    try:
        schema = msgspec.json.schema(struct)
    except (TypeError, ValueError):
        raise Invalid(f"Tool {name}: its parameters cannot be described as JSON.") from None
    others = dict(schema.get("$defs", {}))
    top = dict(others.pop(struct.__name__, schema))
    top.pop("title", None)
    return top | ({"$defs": others} if others else {})


def _without_values(message: str) -> str:
    """msgspec's words where they name only types and our own fields; otherwise just the place."""
    if message.startswith(("Expected `", "Object missing required field")):
        return message[0].lower() + message[1:]
    if message.startswith("Object contains unknown field"):
        return "there is a field that the tool does not have"
    _, found, place = message.partition(" - at ")
    return f"wrong value at {place}" if found else "wrong value"
