"""Tools: typed Python functions that an agent may call, with a JSON schema made from the signature.

A tool declares what a second call would do. The default of `effects` is `once`, because a tool of unknown effects must
never be repeated silently after a crash. Parameters annotated `Context`, and a parameter `idempotency_key: str`, are
filled in and hidden from the schema.

Not its job: recording, approvals and repetition; `Context.call` does those. Called directly, a tool is its function.
"""

import asyncio
import copy
import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial, update_wrapper
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    ParamSpec,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

import msgspec

from runyard.agents.tools import docstrings
from runyard.agents.tools.rates import Rate
from runyard.agents.tools.schemas import converted, schema_of, without_values
from runyard.agents.user_code.current_call import CurrentExecution, set_current_call, stream_chunks
from runyard.agents.user_code.frames import calls_user_code
from runyard.agents.user_code.run_in_thread import run_in_thread
from runyard.errors import CalledTooOften, Invalid, InvalidInput, ToolError

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

Effects = Literal["none", "idempotent", "once"]
ApprovalRule: TypeAlias = Callable[[Mapping[str, Any]], bool]
ApprovalPolicy: TypeAlias = Literal["never", "always"] | ApprovalRule

KEY_PARAMETER = "idempotency_key"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)  # what model providers accept


class Tool(Generic[P, R_co]):
    """A function that agents may call. Make one with the decorator `runyard.tool`. Called directly, it is its function.

    `schema` is the JSON Schema of its input, and `description` the first paragraph of its docstring.

    Args:
        fn: The function: plain, async, or a generator of text that streams its output.
        name: The name of the tool: 1 to 64 letters, digits, `-` or `_`. The default is the name of the function.
        approval: `"never"`, `"always"`, or a function of the input that returns whether a person must approve.
        effects: What a second call would do: `"none"`, `"idempotent"` or `"once"`. A `"once"` tool is never repeated
            silently after a crash.
        timeout: The seconds after which the call is abandoned. The thread of a plain function cannot be stopped.
        rate_limit: How often one agent may call the tool for one owner, such as `"10/minute"`.

    Raises:
        Invalid: If an option is wrong, or a parameter cannot be described as JSON.

    Example:
        >>> @runyard.tool
        ... def add(a: int, b: int = 1) -> int:
        ...     "Add two numbers."
        ...     return a + b
        >>> add.description, add.schema["required"], add(2)
        ('Add two numbers.', ['a'], 3)
    """

    ends_turn: ClassVar[bool] = False  # whether a model's turn ends once it has called the tool
    fn: Callable[P, R_co]
    name: str
    description: str
    approval: ApprovalPolicy
    effects: Effects
    timeout: float | None
    rate: Rate | None
    schema: dict[str, Any]

    def __init__(
        self,
        fn: Callable[P, R_co],
        *,
        name: str | None = None,
        approval: ApprovalPolicy = "never",
        effects: Effects = "once",
        timeout: float | None = None,
        rate_limit: str | None = None,
    ) -> None:
        self.fn = fn
        self.name = _checked_name(getattr(fn, "__name__", "") if name is None else name)
        self.description, described = docstrings.read(fn.__doc__)
        self.approval = approval
        self.effects = effects
        self.timeout = timeout
        if effects not in get_args(Effects):
            raise Invalid(f"Tool {self.name}: effects must be one of {', '.join(get_args(Effects))}.")
        if not callable(approval) and approval not in ("never", "always"):
            raise Invalid(f"Tool {self.name}: approval must be never, always or a function of the input.")
        if timeout is not None and timeout <= 0:
            raise Invalid(f"Tool {self.name}: timeout must be more than 0 seconds.")
        self.rate = None if rate_limit is None else Rate(rate_limit)
        self._injected, self._input_type = _read_signature(fn, self.name, self.description)
        self.schema = schema_of(self._input_type, self.name)
        for name, text in (described | _annotated(fn)).items():
            if name in self.schema["properties"]:
                self.schema["properties"][name].setdefault("description", text)
        update_wrapper(self, fn)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        return self.fn(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    @property
    def takes_context(self) -> bool:
        """Whether the function has a parameter of type `Context`.

        Example:
            >>> @runyard.tool
            ... async def shout(ctx: runyard.Context, text: str) -> None:
            ...     await ctx.token(text.upper())
            >>> shout.takes_context
            True
        """
        return "context" in self._injected.values()

    @calls_user_code
    def needs_approval(self, given: Mapping[str, Any]) -> bool:
        """Return whether a person must approve a call with this input.

        Args:
            given: The input: a JSON object.

        Example:
            >>> @runyard.tool(approval=lambda given: given["amount"] > 100)
            ... def pay(amount: int) -> str:
            ...     return f"paid {amount}"
            >>> pay.needs_approval({"amount": 50}), pay.needs_approval({"amount": 500})
            (False, True)
        """
        if callable(self.approval):
            return bool(self.approval(given))
        return self.approval == "always"

    def by_name(self, args: tuple[Any, ...], given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return positional and named arguments as named ones. Parameters that Runyard fills in are left out."""
        if not args:
            return given
        names = self._input_type.__struct_fields__
        if len(args) > len(names):
            plural = "" if len(names) == 1 else "s"
            raise Invalid(f"The tool {self.name} takes {len(names)} argument{plural}, not {len(args)}.")
        placed = dict(zip(names, args, strict=False))
        for name in placed:
            if name in given:
                raise Invalid(f"The tool {self.name} gets {name} twice; pass it once.")
        return {**placed, **given}

    def in_order(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return an input with its fields in the order in which the tool declares them, and then all others.

        Args:
            given: The input: a JSON object.

        Example:
            >>> @runyard.tool
            ... def pay(to: str, amount: int) -> str:
            ...     return f"paid {amount} to {to}"
            >>> pay.in_order({"amount": 5, "to": "Ada"})
            {'to': 'Ada', 'amount': 5}
        """
        names = [name for name in self.schema.get("properties", {}) if name in given]
        return {name: given[name] for name in (*names, *given)}

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a JSON object as the function's typed arguments.

        Args:
            given: The JSON object.

        Raises:
            InvalidInput: If the object does not fit. The message names the place and repeats no value.

        Example:
            >>> @runyard.tool
            ... def pay(to: str, amount: int = 1) -> str:
            ...     return f"paid {amount} to {to}"
            >>> pay.check({"to": "Ada"})
            {'to': 'Ada'}
        """
        try:
            checked = converted(given, self._input_type)
        except msgspec.ValidationError as error:
            raise InvalidInput(f"The arguments of {self.name} do not fit: {without_values(str(error))}.") from None
        return {name: getattr(checked, name) for name in given}

    async def run(self, given: Mapping[str, Any], context: object, key: str) -> Any:
        """Call the function with a JSON object. Runners use it; an agent function uses `ctx.call`.

        Raises:
            TimeoutError: If the call takes longer than `timeout`.
            ToolError: If the function exits the process.
        """
        with set_current_call(self.name, key) as current:
            arguments = self.check(given)
            arguments |= {name: context if what == "context" else key for name, what in self._injected.items()}
            if self.rate is not None and current.execution is not None:
                await self._count(self.rate, current.execution)
            try:
                async with asyncio.timeout(self.timeout):
                    return await self._perform(arguments)
            except (SystemExit, KeyboardInterrupt) as error:
                # uncaught, it would end the event loop and with it every other run of this worker
                what = "called exit" if isinstance(error, SystemExit) else f"raised {type(error).__name__}"
                raise ToolError(f"The tool {what}.") from None

    async def _perform(self, arguments: dict[str, Any]) -> Any:
        return await call(self.fn, **arguments)

    async def _count(self, rate: Rate, execution: CurrentExecution) -> None:
        wait_ms = await execution.take_call(self.name, rate.most, rate.window_ms)
        if wait_ms:
            seconds = -(-wait_ms // 1000)
            raise CalledTooOften(
                f"{self.name} may be called {rate.words.replace('/', ' times a ')}; try again in {seconds} s."
            )


@calls_user_code
async def call(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Await an async function, or run a plain one in a thread. Stream the text that a generator yields as output."""
    if inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None)):  # noqa: B004
        return await fn(*args, **kwargs)
    if inspect.isasyncgenfunction(fn) or inspect.isgeneratorfunction(fn):
        return await stream_chunks(fn(*args, **kwargs))
    result = await run_in_thread(fn, *args, **kwargs)
    return await result if inspect.isawaitable(result) else result


class ToolOptions(TypedDict, total=False):
    """The options of a tool, as for `Tool`."""

    name: str
    approval: ApprovalPolicy
    effects: Effects
    timeout: float | None
    rate_limit: str | None


@overload
def tool(fn: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(fn: Callable[P, R] | None = None, /, **options: Unpack[ToolOptions]) -> Any:
    """Make a tool of a function. Use it as `@tool` or as `@tool(option=...)`.

    Parameters annotated `Context`, and a parameter `idempotency_key: str = ""`, are filled in.

    Args:
        fn: The function: plain, async, or a generator of text. Its docstring describes the tool to the model.
        options: The options of `Tool`: `name`, `approval`, `effects`, `timeout` and `rate_limit`.

    Raises:
        Invalid: If an option is wrong, or a parameter cannot be described as JSON.

    Example:
        >>> @runyard.tool(approval="always", effects="once", timeout=10)
        ... async def refund(order: str, idempotency_key: str = "") -> str:
        ...     return f"refunded {order}"
        >>> @runyard.agent
        ... async def support(ctx: runyard.Context) -> str:
        ...     try:
        ...         return await ctx.call(refund, order=ctx.message.text)
        ...     except runyard.Rejected as error:
        ...         return f"not refunded: {error.reason}"
        >>> run_agent_sync(support, "A-17", decisions={"refund": Decision(False, reason="too late")}).text
        'not refunded: too late'
    """
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
    """Return the parameters that Runyard fills in, and a struct of the others."""
    try:
        hints = get_type_hints(fn, include_extras=True)
    except (NameError, TypeError):
        raise Invalid(
            f"Tool {name}: an annotation names a type that cannot be found; import it in the tool's module."
        ) from None
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


def _annotated(fn: Callable[..., Any]) -> dict[str, str]:
    """Return the descriptions that are written beside types: `city: Annotated[str, "where to look"]`."""
    hints = get_type_hints(fn, include_extras=True)
    texts = {
        name: [m for m in get_args(hint)[1:] if isinstance(m, str)]
        for name, hint in hints.items()
        if get_origin(hint) is Annotated
    }
    return {name: found[0] for name, found in texts.items() if found}
