"""The current tool call: how a tool reaches its run and streams output without being given either.

The engine sets the current execution (`set_current_execution`), a tool sets the current call (`set_current_call`). Both
are context variables, so tools that run concurrently do not mix. A call that has ended by cancel or timeout cannot
write any more: code that is still running after that, such as a thread, gets a CancelledError.

Every call writes one log line, `tool.finished`: names, milliseconds and a code, never content.
"""

import asyncio
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import Context, ContextVar
from pathlib import Path
from typing import Any, Protocol

from runyard.agents.user_code.frames import calls_user_code
from runyard.agents.user_code.run_in_thread import run_in_thread
from runyard.domain.content.parts import File
from runyard.domain.events import Payload, ToolOutput, clean
from runyard.domain.runs.run import Run
from runyard.domain.state.run_state import State
from runyard.errors import AgentError, RunyardError
from runyard.store import Hit
from runyard.telemetry.logger import get_logger

log = get_logger()


class CurrentExecution(Protocol):
    """The part of `execution.Execution` that a tool uses."""

    @property
    def run(self) -> Run: ...

    @property
    def state(self) -> State: ...

    @property
    def congested(self) -> bool: ...

    def emit(self, payload: Payload) -> object: ...

    def fail(self, error: AgentError) -> None:
        """End the run with this error, whatever its agent does next. Only the first call has an effect."""

    async def drain(self) -> None: ...

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]: ...

    async def take_call(self, tool: str, most: int, window_ms: int) -> int: ...

    async def attach_file(self, name: str, kind: str, data: bytes) -> File: ...

    def now_ms(self) -> int: ...

    def traceparent(self, call_id: str) -> str:
        """Return the W3C Trace Context header for requests that this call sends to other services."""


class Call:
    """One call of a tool. `execution` is None outside a run, for example in a test of the tool."""

    def __init__(self, execution: CurrentExecution | None, key: str) -> None:
        self.execution = execution
        self.call_id = key if execution is None else key.removeprefix(f"{execution.run.id}:")
        self.open = True
        self._loop = asyncio.get_running_loop()

    @property
    def elsewhere(self) -> bool:
        """Whether the caller is in another thread than the call."""
        try:
            return asyncio.get_running_loop() is not self._loop
        except RuntimeError:
            return True

    def write(self, text: str) -> None:
        if not self.open:
            raise asyncio.CancelledError
        if self.execution is not None and text:
            self.execution.emit(ToolOutput(self.call_id, clean(text)))

    async def drain(self) -> None:
        if self.execution is not None and self.execution.congested:
            await self.execution.drain()

    async def _write_and_drain(self, text: str) -> None:
        self.write(text)
        await self.drain()

    def write_from_thread(self, text: str) -> None:
        asyncio.run_coroutine_threadsafe(self._write_and_drain(text), self._loop).result()


_execution: ContextVar[CurrentExecution | None] = ContextVar("runyard_execution", default=None)
_call: ContextVar[Call | None] = ContextVar("runyard_call", default=None)
_workspaces: ContextVar[Path] = ContextVar("runyard_workspaces", default=Path(".runyard/workspaces"))


class set_current_execution:  # noqa: N801 - used like a function
    """Set the current execution for tools called in this block. Its thread's files are below `workspaces`."""

    __slots__ = ("_before", "_execution", "_workspaces")

    def __init__(self, execution: CurrentExecution, workspaces: Path) -> None:
        self._execution = execution
        self._workspaces = workspaces

    def __enter__(self) -> None:
        self._before = _execution.set(self._execution), _workspaces.set(self._workspaces)

    def __exit__(self, *_: object) -> None:
        _execution.reset(self._before[0])
        _workspaces.reset(self._before[1])


current_execution = _execution.get  # without an own frame: every new task of the process asks


def execution_in(context: Context) -> CurrentExecution | None:
    """Return the execution that a task with this context belongs to."""
    return context.get(_execution)


def current_call() -> Call | None:
    return _call.get()


def workspaces() -> Path:
    return _workspaces.get()


@contextmanager
def set_current_call(tool: str, key: str) -> Iterator[Call]:
    """Set the current call while the block runs, and log how it ended."""
    execution = _execution.get()
    call = Call(execution, key)
    before = _call.set(call)
    began = time.monotonic()
    outcome = "ok"
    try:
        yield call
    except BaseException as error:
        outcome = error_code(error)
        raise
    finally:
        call.open = False
        _call.reset(before)
        ms = round((time.monotonic() - began) * 1000)
        ids = {} if execution is None else {"run_id": execution.run.id}
        log.info("tool.finished", tool=tool, ms=ms, outcome=outcome, **ids)


def stream_output(text: str) -> "Written":
    """Stream a piece of output of the tool that is running to the clients that follow the run.

    In an async tool write `await stream_output("...")`; the await waits only while the database is far behind. In a
    plain function leave the `await` out. Outside of a tool call the function does nothing, so that a tool can be called
    directly.

    Args:
        text: The piece of output. Clients get it as a `tool.output` event.

    Raises:
        TypeError: If `text` is not a str.

    Example:
        >>> @runyard.tool
        ... async def train(epochs: int) -> str:
        ...     for epoch in range(epochs):
        ...         await runyard.stream_output(f"epoch {epoch} ")
        ...     return "trained"
        >>> asyncio.run(train(2))
        'trained'
    """
    if not isinstance(text, str):
        raise TypeError(f"output is text, not {type(text).__name__}")
    call = _call.get()
    if call is None:
        return Written(None)
    if call.elsewhere:
        call.write_from_thread(text)
        return Written(None)
    call.write(text)
    return Written(call)


class Written:
    """The return value of `stream_output`: the text is written; await this to let the database catch up."""

    def __init__(self, call: Call | None) -> None:
        self._call = call

    def __await__(self) -> Generator[Any, None, None]:
        if self._call is not None:
            yield from self._call.drain().__await__()


@calls_user_code
async def stream_chunks(chunks: Any) -> str:
    """Write each piece that a generator yields. Return all pieces joined, as the tool's result."""
    parts: list[str] = []
    if hasattr(chunks, "__aiter__"):
        async for chunk in chunks:
            await stream_output(chunk)
            parts.append(chunk)
        return "".join(parts)

    def iterate() -> None:
        for chunk in chunks:
            stream_output(chunk)
            parts.append(chunk)

    await run_in_thread(iterate)
    return "".join(parts)


def error_code(error: BaseException) -> str:
    """Return a code for the error that can be logged: it holds no content."""
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, asyncio.CancelledError):
        return "canceled"
    return error.code if isinstance(error, RunyardError) else type(error).__name__
