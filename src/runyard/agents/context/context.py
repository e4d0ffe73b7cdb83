"""The context of an agent function: its message, a way to write, and recorded calls that a crash does not repeat.

After a crash or an approval the function is called again from the top. A finished step or tool is not called again: the
caller gets the recorded value or error, and text that is in the log is not written twice (`agents/durable/replay.py`,
`agents/durable/recorded.py`). So the function may decide by its message, its history and its results, not by time or
chance.

Limits: results are JSON; arguments of a step that are not JSON are compared by type; steps and tools do not nest. They
may write text through the context; the log notes which steps did. `search` is not recorded:
call it inside a step or a tool.
"""

from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar, overload

import msgspec

from runyard.agents.context.steps import Steps
from runyard.agents.context.waiting import Waiting
from runyard.agents.context.writing import Writing
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.remote import TROUBLES, failure, flat
from runyard.agents.durable.attaching import Attaching
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.recorded import RecordedCalls
from runyard.agents.durable.replay import Replay
from runyard.agents.execution import Execution
from runyard.agents.tools.tool import Tool
from runyard.contract.result import Result
from runyard.domain.content.parts import File
from runyard.domain.conversations.thread import Message
from runyard.errors import AgentError, Invalid, RemoteFailed, ToolFailed
from runyard.store import Hit

P = ParamSpec("P")
R = TypeVar("R")


class Context(Writing, Steps, Waiting, Attaching):
    """The first argument of an agent function. Runners make one for each execution.

    Every method except `cancelled` ends the function if a cancel was requested. Use the context in the thread of the
    agent only.

    Raises:
        WrongThread: By every method, if it is called in another thread than the agent's.

    Example:
        >>> def price(item: str) -> float:
        ...     return 9.5
        >>> @runyard.agent
        ... async def shop(ctx: runyard.Context) -> str:
        ...     cost = await ctx.step("price", price, item=ctx.message.text)
        ...     return f"{ctx.message.text} costs {cost:.2f}"
        >>> run_agent_sync(shop, "tea").text
        'tea costs 9.50'
    """

    runyard_injects: ClassVar[str] = "context"  # how `tools` knows a parameter of this type

    def __init__(self, agent: Agent, execution: Execution, parking: Parking, replay: Replay | None = None) -> None:
        super().__init__(execution, parking, replay)
        self._tools = {tool.name: tool for tool in agent.tools}
        self._on_unknown = agent.on_unknown
        self.attached: list[File] = []

    @cached_property
    def _calls(self) -> RecordedCalls:
        return RecordedCalls(
            self._execution, self._replay, self._parking, self._on_unknown, self._written.append, self.flush_text
        )

    # --- the message and its thread --------------------------------------------------------------------------------

    @property
    def message(self) -> Message:
        """The message that the run answers.

        Raises:
            AgentError: If a task caused the run and not a message.

        Example:
            >>> @runyard.agent
            ... async def shout(ctx: runyard.Context) -> str:
            ...     return ctx.message.text.upper()
            >>> run_agent_sync(shout, "tea").text
            'TEA'
        """
        message = self._execution.message
        if message is None:
            raise AgentError("No message caused this run. Read ctx.task instead.")
        return message

    @property
    def thread_id(self) -> str | None:
        """The id of the thread that the run belongs to, or None.

        Example:
            >>> @runyard.agent
            ... async def where(ctx: runyard.Context) -> str:
            ...     return "a task" if ctx.thread_id is None else "a chat"
            >>> run_agent_sync(where, "Where am I?").text
            'a chat'
        """
        return self._execution.run.thread_id

    def idempotency_key(self, label: str) -> str:
        """Return a key that is the same in every attempt of this run and differs between runs.

        Args:
            label: A name for the action, such as `"mail"`.

        Example:
            >>> def send(text: str, key: str) -> str:
            ...     return f"sent {text}"  # a service that gets the same key again does nothing
            >>> @runyard.agent
            ... async def mailer(ctx: runyard.Context) -> str:
            ...     return await ctx.step("send", send, ctx.message.text, ctx.idempotency_key("mail"))
            >>> run_agent_sync(mailer, "greetings").text
            'sent greetings'
        """
        return f"{self.run_id}:{label}"

    async def history(self, limit: int = 20) -> Sequence[Message]:
        """Return the messages that came before on this branch of the thread, oldest first.

        Args:
            limit: The number of exchanges (a message and its answer) to return at most.

        Example:
            >>> @runyard.agent
            ... async def parrot(ctx: runyard.Context) -> str:
            ...     earlier = await ctx.history()
            ...     return " | ".join(message.text for message in earlier)
            >>> run_agent_sync(parrot, "What was said?", history=[("Hi", "Hello")]).text
            'Hi | Hello'
        """
        self._go_on()
        with self._parking.working():
            return await self._execution.history(limit)

    async def new_messages(self) -> Sequence[Message]:
        """Return the messages that users sent to this run since it began or since the last call, oldest first.

        A message reaches a run that is under way if it is posted with `while_running` set to `"steer"`. The result is
        recorded like that of a step. A message that the function does not read starts the next run of the thread.

        Raises:
            NestedCall: If it is called inside a step or a tool.

        Example:
            >>> @runyard.agent
            ... async def counter(ctx: runyard.Context) -> str:
            ...     words = [ctx.message.text]
            ...     words += [message.text for message in await ctx.new_messages()]
            ...     return f"{len(words)} messages"
            >>> run_agent_sync(counter, "one").text
            '1 messages'
        """
        self._go_on()
        self._pause()
        return await self._calls.new_messages()

    async def search(self, collection: str, query: str, limit: int = 5) -> Sequence[Hit]:
        """Return the documents of a collection that contain any word of the query, best first.

        The result is not recorded. Call it inside a step or a tool if the agent decides by it.

        Args:
            collection: The name of a `Documents` collection of the app.
            query: The words to look for.
            limit: The number of documents to return at most.

        Example:
            >>> books = runyard.Documents("books", [{"id": "b1", "title": "Tea", "text": "All about tea."}])
            >>> @runyard.agent
            ... async def librarian(ctx: runyard.Context) -> str:
            ...     hits = await ctx.search("books", ctx.message.text)
            ...     return hits[0].title
            >>> run_agent_sync(librarian, "tea", documents=[books]).text
            'Tea'
        """
        self._go_on()
        with self._parking.working():
            return await self._execution.search(collection, query, limit)

    # --- recorded calls --------------------------------------------------------------------------------------------

    @overload
    async def call(
        self, tool: Tool[Concatenate["Context", P], Awaitable[R]], /, *args: P.args, **given: P.kwargs
    ) -> R: ...
    @overload
    async def call(self, tool: Tool[Concatenate["Context", P], R], /, *args: P.args, **given: P.kwargs) -> R: ...
    @overload
    async def call(self, tool: Tool[P, Awaitable[R]], /, *args: P.args, **given: P.kwargs) -> R: ...
    @overload
    async def call(
        self, tool: Tool[P, AsyncIterator[str] | Iterator[str]], /, *args: P.args, **given: P.kwargs
    ) -> str: ...
    @overload
    async def call(self, tool: Tool[P, R], /, *args: P.args, **given: P.kwargs) -> R: ...
    @overload
    async def call(self, tool: str, /, **given: Any) -> Any: ...
    async def call(self, tool: Tool[..., Any] | str, /, *args: Any, **given: Any) -> Any:
        """Call a tool and record its output. If the tool needs an approval, wait for a person first.

        A `Context` and an `idempotency_key` of the tool are filled in: leave them out. For type checkers, declare the
        context as the first parameter and give the key a default (`idempotency_key: str = ""`).

        Args:
            tool: The tool, or the name of one of the agent's tools.
            args: The positional arguments of the tool. They are JSON.
            given: The arguments of the tool by name. They are JSON.

        Raises:
            Rejected: If a person rejected the call.
            ToolFailed: If the tool raised or timed out.
            UnknownOutcome: If a tool with effects `"once"` had started when its worker died, and it is not to be
                called again.
            Invalid: If the tool or its arguments are wrong.
            NestedCall: If it is called inside a step or a tool.

        Example:
            >>> @runyard.tool(effects="none")
            ... def price(item: str) -> float:
            ...     return 9.5
            >>> @runyard.agent
            ... async def shop(ctx: runyard.Context) -> str:
            ...     return f"{await ctx.call(price, item=ctx.message.text):.2f}"
            >>> run_agent_sync(shop, "tea").text
            '9.50'
        """
        self._go_on()
        found = self._tools.get(tool) if isinstance(tool, str) else tool
        if not isinstance(found, Tool):
            raise Invalid(
                "There is no such tool: decorate a function with @runyard.tool, or list it in the agent's tools."
            )
        self._pause()
        return await self._calls.tool(found, found.by_name(args, given), self)

    async def call_agent(self, agent: Agent, /, **inputs: Any) -> dict[str, Any]:
        """Give a task to a remote agent and record its outputs.

        Args:
            agent: An agent made with `runyard.remote`.
            inputs: The inputs of the task, by name. Values are JSON.

        Returns:
            The outputs of the task, with `grounding`, `warnings` and `artifacts` among them.

        Raises:
            RemoteFailed: If the remote agent gave no outputs. Subclasses say why.
            Invalid: If the agent is not a remote agent.
            UnknownOutcome: If an agent with effects `"once"` was being called when the worker died, and is not to be
                called again.
            NestedCall: If it is called inside a step or a tool.

        Example:
            >>> archive = runyard.remote("archive", url="https://archive.example.org", task_type="SEARCH")
            >>> @runyard.agent
            ... async def librarian(ctx: runyard.Context) -> str:
            ...     found = await ctx.call_agent(archive, query=ctx.message.text)
            ...     return found["title"]
            >>> run_agent_sync(librarian, "tea").text
            'About tea'
        """
        self._go_on()
        if agent.remote is None:
            raise Invalid("Only a remote agent can be called; make one with runyard.remote.")
        try:
            answer = await self._calls.tool(agent.remote.tool, {"inputs": inputs}, self)
        except ToolFailed as error:
            raise TROUBLES.get(error.error, RemoteFailed)() from error
        found = msgspec.convert(answer, Result)
        if found.error is not None:
            raise failure(found.error)
        return flat(found)
