"""The part of a context that writes: text and reasoning of the answer, and marks for debugging.

Text that is in the log already, from an attempt before a crash, is not written twice."""

from contextlib import suppress

from runyard.agents.context.current_run import CurrentRun
from runyard.agents.durable.parking import Parking
from runyard.agents.durable.redaction_buffer import RedactionBuffer
from runyard.agents.durable.replay import Replay
from runyard.agents.durable.tool_call import current_recorded_call
from runyard.agents.execution import Execution
from runyard.domain.events import ModelThinking, Trace, clean
from runyard.errors import Unavailable, WriteRefused


class Writing(CurrentRun):
    """The writing part of an agent's context."""

    def __init__(self, execution: Execution, parking: Parking, replay: Replay | None) -> None:
        super().__init__(execution, parking)
        self._replay = replay or Replay(execution.state)
        self._written: list[str] = []
        self._buffer: RedactionBuffer | None = RedactionBuffer(execution.redactor) if execution.redactor.is_on else None

    async def token(self, text: str) -> None:
        """Write a piece of the answer. Waits only while the database is far behind.

        Args:
            text: The piece of text. Clients get it at once.

        Raises:
            TypeError: If `text` is not a str.

        Example:
            >>> @runyard.agent
            ... async def greeter(ctx: runyard.Context) -> None:
            ...     for piece in ("Good ", "morning"):
            ...         await ctx.token(piece)
            >>> run_agent_sync(greeter, "Hi").text
            'Good morning'
        """
        if not isinstance(text, str):
            raise TypeError(f"a token is text, not {type(text).__name__}")
        self._go_on()
        if (call := current_recorded_call.get()) is not None:
            call.wrote = True
        text = clean(text)
        if self._say(text if self._buffer is None else self._buffer.text(text)) and self._execution.congested:
            await self._drain()

    def _say(self, text: str) -> bool:
        """Write text that is not in the log yet. Return whether there was any."""
        self._written.append(text)
        replayed = self._replay.text
        fresh = text if replayed.is_used_up else replayed.fresh(text, self._replay.live)
        if fresh:
            self._execution.token(fresh)
        return bool(fresh)

    async def thinking(self, text: str) -> None:
        """Write a piece of reasoning. Clients show it apart from the answer.

        Args:
            text: The piece of text.

        Raises:
            TypeError: If `text` is not a str.

        Example:
            >>> @runyard.agent
            ... async def thinker(ctx: runyard.Context) -> str:
            ...     await ctx.thinking("Six times seven.")
            ...     return "42"
            >>> result = run_agent_sync(thinker, "6 * 7?")
            >>> result.thinking, result.text
            ('Six times seven.', '42')
        """
        if not isinstance(text, str):
            raise TypeError(f"thinking is text, not {type(text).__name__}")
        self._go_on()
        if (call := current_recorded_call.get()) is not None:
            call.wrote = True
        text = clean(text)
        if self._think(text if self._buffer is None else self._buffer.thinking(text)) and self._execution.congested:
            await self._drain()

    def _think(self, text: str) -> bool:
        replayed = self._replay.thinking
        fresh = text if replayed.is_used_up else replayed.fresh(text, self._replay.live)
        if fresh:
            self._execution.emit(ModelThinking(fresh))
        return bool(fresh)

    def flush_text(self) -> None:
        """Write the text that redaction holds back. The runner calls it where a piece of text ends.

        If the log accepts no more, the next commit raises."""
        if self._buffer is not None:
            text, thinking = self._buffer.rest()
            with suppress(WriteRefused, Unavailable):
                self._say(text)
                self._think(thinking)

    def _pause(self) -> None:
        """Write the held text before a call, unless another task is writing it just now."""
        if self._buffer is not None and self._buffer.is_mine:
            self.flush_text()

    async def trace(self, fn_name: str) -> None:
        """Leave a mark in the log for debugging.

        Args:
            fn_name: A stable name, such as `"plan.ready"`. Never put content into it.

        Example:
            >>> @runyard.agent
            ... async def planner(ctx: runyard.Context) -> str:
            ...     await ctx.trace("plan.ready")
            ...     return "Done."
            >>> [event.payload.fn for event in run_agent_sync(planner, "Plan.").events if event.type == "trace"]
            ['plan.ready']
        """
        self._go_on()
        if self._replay.live:
            self._execution.emit(Trace(clean(fn_name)))
            if self._execution.congested:
                await self._drain()

    def written(self) -> str:
        """Return all tokens so far, including those of earlier attempts.

        Example:
            >>> @runyard.agent
            ... async def counter(ctx: runyard.Context) -> runyard.Output:
            ...     await ctx.token("Hello")
            ...     return runyard.Output(outputs={"characters": len(ctx.written())})
            >>> run_agent_sync(counter, "Hi").outputs
            {'characters': 5}
        """
        return "".join(self._written)

    async def _drain(self) -> None:
        with self._parking.working():
            await self._execution.drain()
