"""The part of a context that calls functions as recorded steps."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar, overload

from runyard.agents.context.current_run import CurrentRun
from runyard.agents.durable.recorded import RecordedCalls
from runyard.agents.tools.tool import Effects
from runyard.domain.events import clean
from runyard.errors import Invalid

P = ParamSpec("P")
R = TypeVar("R")


class Steps(CurrentRun):
    """The steps of an agent's context."""

    @property
    def _calls(self) -> RecordedCalls:
        raise NotImplementedError

    def _pause(self) -> None:
        raise NotImplementedError

    @overload
    async def step(self, name: str, fn: Callable[P, Awaitable[R]], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    async def step(
        self, name: str, fn: Callable[P, AsyncIterator[str] | Iterator[str]], /, *args: P.args, **kwargs: P.kwargs
    ) -> str: ...
    @overload
    async def step(self, name: str, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    async def step(self, name: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a function and record its result. After a crash the recorded result is used instead.

        A plain function runs in a thread. A step that had started when its worker died is called again: use
        `step_once` for a function that must not run twice. The result has the function's type if that is JSON; a
        dataclass comes back as a dict.

        Args:
            name: The name of the step in the log.
            fn: The function, plain or async.
            args: Its positional arguments.
            kwargs: Its keyword arguments.

        Raises:
            StepFailed: If the function raised, or its result is not JSON.
            NestedCall: If it is called inside another step or tool.
            Invalid: If the name is empty.

        Example:
            >>> async def price(item: str) -> float:
            ...     return 9.5
            >>> @runyard.agent
            ... async def shop(ctx: runyard.Context) -> str:
            ...     cost = await ctx.step("price", price, ctx.message.text)
            ...     return f"{cost:.2f}"
            >>> run_agent_sync(shop, "tea").text
            '9.50'
        """
        return await self._step(name, fn, args, kwargs, "idempotent")

    @overload
    async def step_once(self, name: str, fn: Callable[P, Awaitable[R]], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    async def step_once(
        self, name: str, fn: Callable[P, AsyncIterator[str] | Iterator[str]], /, *args: P.args, **kwargs: P.kwargs
    ) -> str: ...
    @overload
    async def step_once(self, name: str, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    async def step_once(self, name: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a function that must not run twice, and record its result.

        Like `step`, but the log says that the step starts before the function is called. If the worker dies in
        between, the agent's `on_unknown` decides: a person is asked whether to call it again, or the step fails.

        Args:
            name: The name of the step in the log.
            fn: The function, plain or async.
            args: Its positional arguments.
            kwargs: Its keyword arguments.

        Raises:
            StepFailed: If the function raised, or its result is not JSON.
            UnknownOutcome: If the step had started when its worker died, and it is not to be called again.
            NestedCall: If it is called inside another step or tool.
            Invalid: If the name is empty.

        Example:
            >>> def charge(order: str) -> str:
            ...     return f"charged {order}"
            >>> @runyard.agent
            ... async def cashier(ctx: runyard.Context) -> str:
            ...     return await ctx.step_once("charge", charge, ctx.message.text)
            >>> run_agent_sync(cashier, "A-17").text
            'charged A-17'
        """
        return await self._step(name, fn, args, kwargs, "once")

    async def _step(
        self, name: str, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], effects: Effects
    ) -> Any:
        self._go_on()
        if not name:
            raise Invalid("The step has no name. Pass one that says what it does.")
        self._pause()
        return await self._calls.step(clean(name), fn, args, kwargs, effects)
