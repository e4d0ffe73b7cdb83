"""The client.

`follow` returns every event of a run once and in order even if connections break, because the log is durable and a seq
says where to continue. Requests that create something carry an Idempotency-Key, so the client may send them again after
a lost response, and does. Errors are Runyard's own (`runyard.errors`).
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

import httpx2

from runyard.base.ids import new_id
from runyard.base.sse import Parser
from runyard.client.agents import AgentCalls
from runyard.client.annotations import AnnotationCalls
from runyard.client.answers import output_in, typed
from runyard.client.connection import LONGEST_PAUSE, Connection, back_off, given, segment
from runyard.client.conversations import ConversationCalls
from runyard.client.files import FileCalls, content_of
from runyard.client.operators import OperatorCalls
from runyard.client.runs import RunCalls
from runyard.client.waits import WaitCalls
from runyard.client.wire import LogEvent, Made, decode_event, read
from runyard.errors import Unavailable

if TYPE_CHECKING:
    from runyard.agents.tools.tool import Tool

DEFAULT_URL = "http://127.0.0.1:8000"
WhileRunning = Literal["queue", "steer", "interrupt", "reject"]
T = TypeVar("T")


class Client(RunCalls, WaitCalls, ConversationCalls, AnnotationCalls, AgentCalls, FileCalls, OperatorCalls):
    """A client of a Runyard server. Use it as an async context manager.

    Args:
        url: The address of the server.
        api_key: The key that `runyard keys create` printed, if the server requires keys.
        transport: A replacement for the network, for tests.
        attempts: How many failures in a row end a request or a stream.
        back_off: The seconds to wait after so many failures in a row.

    Raises:
        Invalid: If the API key has impossible characters.
        Unavailable: By every method, if the server cannot be reached.
        KeyRequired: By every method, if the server requires an API key.
        ScopeMissing: By every method, if the API key lacks the scope.
        RunyardError: By every method, if another program than a Runyard server answers.
        NotFound: By every method that gets an id, if the caller owns nothing with that id.

    Example:
        >>> async def ask(question: str) -> str:
        ...     async with runyard.Client("http://127.0.0.1:8000") as client:
        ...         thread_id = await client.create_thread(agent="greeter")
        ...         run_id = await client.post(thread_id, question)
        ...         async for event in client.follow(run_id):
        ...             if event.type == "run.output":
        ...                 return event.data["text"]
        ...     return ""
        >>> asyncio.run(ask("Ada"))
        'Hello Ada'
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        api_key: str | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        attempts: int = 10,
        back_off: Callable[[int], float] = back_off,
    ) -> None:
        self._connection = Connection(url, api_key, transport, attempts, back_off)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections. `async with` does it.

        Example:
            >>> client = runyard.Client("http://127.0.0.1:8000")
            >>> await client.check()
            >>> await client.close()
        """
        await self._connection.close()

    async def check(self) -> None:
        """Return if the server answers and its database is reachable.

        Raises:
            Unavailable: If not.

        Example:
            >>> await client.check()
        """
        await self._connection.send("GET", "/health")

    # --- threads and runs

    async def create_thread(self, agent: str | None = None, user_id: str | None = None) -> str:
        """Create a thread and return its id.

        Args:
            agent: The agent that answers in the thread. The default is the server's.
            user_id: The name of the person, for display.

        Raises:
            Invalid: If the server has no agent of that name.

        Example:
            >>> thread_id = await client.create_thread(agent="greeter", user_id="ada")
            >>> [message async for message in client.runs(thread_id=thread_id)]
            []
        """
        body = given({"agent": agent, "user_id": user_id})
        return read(await self._connection.send("POST", "/api/threads", body, key=new_id()), Made).thread_id

    async def post(
        self,
        thread_id: str,
        text: str,
        agent: str | None = None,
        idempotency_key: str | None = None,
        *,
        tools: "Sequence[Tool[..., Any]]" = (),
        while_running: WhileRunning = "queue",
        files: Sequence[str] = (),
        parts: Sequence[Mapping[str, Any]] = (),
    ) -> str:
        """Post a message and return the id of the run that answers it.

        Args:
            thread_id: The id of the thread.
            text: The message.
            agent: The agent that answers, if it is not the thread's.
            idempotency_key: A key that the caller chooses. The same key never starts a second run.
            tools: Tools that the caller offers to the agent's model, made with `runyard.client_tool`. A call of one is
                a wait; send its result with `answer_wait`.
            while_running: What happens if a run of the thread has not ended. `"queue"`: the message is answered after
                it. `"steer"`: that run gets the message while it continues, and its id is returned. `"interrupt"`: that
                run is canceled, and the next one answers both messages. `"reject"`: RunActive.
            files: The ids of uploaded files that belong to the message.
            parts: The content as parts, instead of `text` (docs/files.md).

        Raises:
            KeyReused: If the key was used for a different message.
            RunActive: If a run of the thread has not ended, and `while_running` is `"reject"`.
            TooLarge: If the message is too long.

        Example:
            >>> run_id = await client.post(thread_id, "Ada")
            >>> async for event in client.follow(run_id):
            ...     if event.type == "run.output":
            ...         print(event.data["text"])
            Hello Ada
        """
        offered = [{"name": t.name, "description": t.description, "input_schema": t.schema} for t in tools]
        requested = None if while_running == "queue" else while_running
        said = content_of(text, parts, files)
        body = given({**said, "agent": agent, "tools": offered or None, "while_running": requested})
        key, path = idempotency_key or new_id(), f"/api/threads/{segment(thread_id)}/messages"
        return read(await self._connection.send("POST", path, body, key=key), Made).run_id

    @overload
    async def answer(self, thread_id: str, text: str, agent: str | None = None) -> str: ...
    @overload
    async def answer(self, thread_id: str, text: str, agent: str | None = None, *, as_type: type[T]) -> T: ...
    async def answer(
        self, thread_id: str, text: str, agent: str | None = None, *, as_type: type[Any] | None = None
    ) -> Any:
        """Post a message, wait until the run has ended, and return its answer.

        Args:
            thread_id: The id of the thread.
            text: The message.
            agent: The agent that answers, if it is not the thread's.
            as_type: The type of the answer, for agents with a structured one. The default is the text.

        Raises:
            AgentError: If the run failed or was canceled.
            Invalid: If the answer does not fit the type.

        Example:
            >>> await client.answer(thread_id, "Ada")
            'Hello Ada'
        """
        run_id = await self.post(thread_id, text, agent)
        async with aclosing(self.follow(run_id)) as events:
            output = await output_in(events)
        return output.get("text", "") if as_type is None else typed(output, as_type)

    async def follow(self, run_id: str, after: int = 0) -> AsyncGenerator[LogEvent, None]:
        """Return the events of a run, each once and in order, until the run has ended.

        A broken connection is reopened after the last seq.

        Args:
            run_id: The id of the run.
            after: Only events with a higher seq.

        Raises:
            Unavailable: After `attempts` failures in a row. An event, or a heartbeat on a connection that has lasted,
                resets the count.

        Example:
            >>> async for event in client.follow(run_id, after=1):
            ...     if event.type == "run.output":
            ...         print(event.data["text"])
            Hello Ada
        """
        clock = asyncio.get_running_loop().time
        cursor, failures, had_ended = after, 0, False
        while True:
            opened, before = clock(), cursor
            try:
                async with aclosing(self._log(run_id, cursor)) as events:
                    async for event in events:
                        if event is None:
                            failures = 0 if clock() - opened > LONGEST_PAUSE else failures
                            continue
                        cursor, failures = event.seq, 0
                        yield event
                        if event.type == "run.finished":
                            return
                # A clean end without the last event: nothing is left if the run had ended before the request.
                if had_ended and cursor == before:
                    return
                had_ended = (await self.run(run_id)).has_ended
                if had_ended:
                    continue
                trouble = Unavailable(
                    f"The server at {self._connection.url} ended the stream before the run had ended."
                )
            except Unavailable as error:
                trouble = error
            failures += 1
            if failures >= self._connection.attempts:
                raise trouble
            await self._connection.pause(failures)

    async def _log(self, run_id: str, cursor: int) -> AsyncGenerator[LogEvent | None, None]:
        """Return the events of one connection, None for a heartbeat; Unavailable if it breaks or skips an event."""
        parser = Parser()
        async with self._connection.stream(f"/api/runs/{segment(run_id)}/log", cursor) as response:
            async for chunk in response.aiter_bytes():
                frames = parser.feed(chunk)
                if not frames:
                    yield None
                for frame in frames:
                    event = decode_event(frame.data)
                    if event.seq > cursor + 1:
                        raise Unavailable(f"The server at {self._connection.url} left out an event.")
                    if event.seq == cursor + 1:
                        cursor = event.seq
                        yield event
