"""The waits that an agent function asks for: approvals, questions, other agents, time and events.

While it waits, the run uses no worker, no memory and no connection. It continues with the answer, in any process."""

from typing import Any, TypeVar, overload

from msgspec import UNSET

from runyard.agents.context.current_run import CurrentRun
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.durable.recorded import RecordedCalls
from runyard.domain.content.parts import Content
from runyard.domain.conversations.thread import Message
from runyard.domain.events import clean
from runyard.domain.task import Budget
from runyard.errors import Invalid

T = TypeVar("T")


class Waiting(CurrentRun):
    """The waits of an agent's context."""

    @property
    def _calls(self) -> RecordedCalls:
        raise NotImplementedError

    def _pause(self) -> None:
        raise NotImplementedError

    async def request_approval(self, question: str, /, **details: Any) -> bool:
        """Ask a person and return whether they approved. The run leaves its worker until they decide.

        Args:
            question: The question.
            details: More facts for the person, by name. Values are JSON.

        Returns:
            True if a person approved, False if they rejected or the approval expired.

        Raises:
            NestedCall: If it is called inside a step or a tool.

        Example:
            >>> @runyard.agent
            ... async def cleaner(ctx: runyard.Context) -> str:
            ...     if await ctx.request_approval("Delete the folder?", folder="/tmp/old"):
            ...         return "Deleted."
            ...     return "Kept."
            >>> run_agent_sync(cleaner, "Clean up.", decisions={"Delete the folder?": False}).text
            'Kept.'
        """
        self._go_on()
        self._pause()
        return await self._calls.approve(question, details)

    @overload
    async def ask(self, question: str, answer: type[T], *, timeout: float | None = None, default: T = ...) -> T: ...
    @overload
    async def ask(
        self, question: str, answer: dict[str, Any], *, timeout: float | None = None, default: Any = ...
    ) -> Any: ...
    @overload
    async def ask(self, question: str, *, timeout: float | None = None, default: str = ...) -> str: ...
    async def ask(self, question: str, answer: Any = str, *, timeout: float | None = None, default: Any = UNSET) -> Any:
        """Ask a person for a value and return it. The run leaves its worker until they answer.

        Args:
            question: The question.
            answer: The type of the answer: a pydantic model, a msgspec struct, a dataclass, a type such as `int`, or a
                JSON Schema. An answer that does not fit is refused.
            timeout: The seconds to wait. Without it, the run waits as long as it takes.
            default: The value if no answer comes in time.

        Returns:
            The answer, of that type.

        Raises:
            AnswerTimedOut: If no answer comes in time and there is no default.
            Invalid: If the type cannot be described as a JSON Schema, or the timeout is negative.
            NestedCall: If it is called inside a step or a tool.

        Example:
            >>> @runyard.agent
            ... async def airline(ctx: runyard.Context) -> str:
            ...     row = await ctx.ask("Which row?", int)
            ...     return f"Row {row} is yours."
            >>> run_agent_sync(airline, "A seat, please.", answers={"Which row?": 12}).text
            'Row 12 is yours.'
        """
        self._go_on()
        self._pause()
        return await self._calls.waits.ask(clean(question), answer, timeout, default)

    async def run(
        self,
        agent: Agent | str,
        message: Content | Message,
        /,
        *,
        timeout: float | None = None,
        max_usd: float | None = None,
    ) -> Output:
        """Run another agent of the app and return its output. Several run side by side with `asyncio.gather`.

        The other agent works in a child run with its own log. A cancel of this run cancels it. Its usage counts as
        this run's, and it gets at most what is left of this run's budget.

        Args:
            agent: The agent, or its name. The app must declare it.
            message: The message for it: a text, or a list of texts, files and data, such as
                `["What is this?", *ctx.message.files]`. `ctx.message` passes on the whole message.
            timeout: The seconds that the child run may take.
            max_usd: How much the child run may spend.

        Raises:
            ChildFailed: If the child run failed or was canceled.
            AnswerTimedOut: If it did not end in time.
            NotFound: If the message has a file that does not exist.
            TooManyChildren: If this run has started too many child runs, or they are nested too deep.
            Invalid: If the app declares no such agent.
            NestedCall: If it is called inside a step or a tool.

        Example:
            >>> @runyard.agent
            ... async def editor(ctx: runyard.Context) -> str:
            ...     found = await ctx.run("researcher", ctx.message.text)
            ...     return f"Edited: {found.text}"
            >>> @runyard.agent
            ... async def researcher(ctx: runyard.Context) -> str:
            ...     return f"facts about {ctx.message.text}"
            >>> run_agent_sync(editor, "tea", agents=[researcher]).text
            'Edited: facts about tea'
        """
        self._go_on()
        self._pause()
        content = (message.content or message.text) if isinstance(message, Message) else message
        return await self._calls.waits.run(agent, content, timeout, Budget(max_usd=max_usd))

    async def sleep(self, seconds: float = 0, *, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        """Wait for a time. The run leaves its worker and continues when the time is over, also after restarts.

        Args:
            seconds: Seconds to wait.
            minutes: Minutes to wait in addition.
            hours: Hours to wait in addition.
            days: Days to wait in addition.

        Raises:
            Invalid: If the time is negative.
            NestedCall: If it is called inside a step or a tool.

        Example:
            >>> @runyard.agent
            ... async def reminder(ctx: runyard.Context) -> str:
            ...     await ctx.sleep(days=7)  # a test does not wait
            ...     return "A week has passed."
            >>> run_agent_sync(reminder, "Remind me.").text
            'A week has passed.'
        """
        self._go_on()
        self._pause()
        await self._calls.waits.sleep(seconds + 60 * (minutes + 60 * (hours + 24 * days)))

    async def wait_for(
        self, event: str, /, key: str | None = None, *, timeout: float | None = None, default: Any = UNSET
    ) -> Any:
        """Wait for an event of another system and return its data.

        Events come over `POST /api/events`, also before the run waits for them.

        Args:
            event: The name of the event, such as `"order.paid"`.
            key: Which one, such as the id of an order. The event must have the same key.
            timeout: The seconds to wait. Without it, the run waits as long as it takes.
            default: The value if the event does not come in time.

        Raises:
            AnswerTimedOut: If the event does not come in time and there is no default.
            Invalid: If the event has no name, or the timeout is negative.
            NestedCall: If it is called inside a step or a tool.

        Example:
            >>> @runyard.agent
            ... async def shop(ctx: runyard.Context) -> str:
            ...     order = await ctx.wait_for("order.paid", key="A-17")
            ...     return f"Paid by {order['by']}."
            >>> run_agent_sync(shop, "Ship A-17.", answers={"order.paid": {"by": "card"}}).text
            'Paid by card.'
        """
        self._go_on()
        if not event:
            raise Invalid('The event has no name. Pass one, such as "order.paid".')
        self._pause()
        return await self._calls.waits.wait_for(clean(event), None if key is None else clean(key), timeout, default)
