"""Play a scripted agent: the same events from the same data, without a key or a network.

After a crash the log says how many of the script's events it has. These events, and the pauses before them, are
skipped; nothing is withdrawn or repeated. Tokens without a pause need no await each; only back-pressure waits.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import assert_never

from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.script import Answer, Call, End, Entry, Fail, Mark, Pause, Thinking, Token, Tokens
from runyard.agents.execution import Canceled, Execution
from runyard.domain.events import EventType, ModelThinking, Payload, ToolFinished, ToolStarted, Trace, clean
from runyard.errors import AgentError

_PLAYED: tuple[EventType, ...] = ("model.token", "model.thinking", "tool.started", "tool.finished", "trace")

Sleep = Callable[[float], Awaitable[object]]


class ScriptedRunner:
    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        self._sleep = sleep

    async def __call__(self, agent: Agent, execution: Execution, /) -> Output:
        return await _Playing(execution, self._sleep).play(agent)


class _Playing:
    def __init__(self, execution: Execution, sleep: Sleep) -> None:
        self._execution = execution
        self._sleep = sleep
        counts = execution.state.counts
        self._skip = sum(counts.get(kind, 0) for kind in _PLAYED)
        self._calls: Counter[str] = Counter()
        self._written: list[str] = []
        self._answer = Answer()
        self._redaction = execution.redactor.stream()

    async def play(self, agent: Agent) -> Output:
        for entry in agent.script:
            if not isinstance(entry, Tokens | Token):
                await self._flush_text()
            await self._play(entry)
        await self._flush_text()
        answer = self._answer
        text = "".join(self._written) if answer.text is None else clean(answer.text)
        return Output(text, answer.sources, answer.outputs)

    async def _play(self, entry: Entry) -> None:
        match entry:
            case Tokens(tokens, every_ms):
                for token in tokens:
                    await self._token(token, every_ms)
            case Token(token):
                await self._token(token, 0)
            case Thinking(text):
                await self._emit(ModelThinking(self._whole(clean(text))))
            case Call(tool, given, output, ms):
                self._calls[tool] += 1
                call_id = f"{tool}#{self._calls[tool]}"
                await self._emit(ToolStarted(call_id, tool, given))
                await self._emit(ToolFinished(call_id, tool, output, None, ms), after_ms=ms)
            case Pause(ms):
                await self._pause(ms)
            case Mark(fn):
                await self._emit(Trace(fn))
            case Fail(code, message):
                self._go_on()
                raise _failure(code, message)
            case End(answer):
                self._answer = answer
            case never:
                assert_never(never)

    async def _token(self, text: str, after_ms: int) -> None:
        text = clean(text)
        ready = self._redaction.feed(text)
        if ready or not text:
            await self._say(ready, after_ms)
        else:
            await self._pause(after_ms)

    def _whole(self, text: str) -> str:
        return self._execution.redactor.text(text)

    async def _flush_text(self) -> None:
        """Write the text that redaction holds back, because a piece of text ends here."""
        rest = self._redaction.close()
        if rest:
            await self._say(rest, 0)

    async def _say(self, text: str, after_ms: int) -> None:
        self._written.append(text)
        if self._skip:
            self._skip -= 1
            return
        if after_ms:
            await self._pause(after_ms)
        self._go_on()
        self._execution.token(text)
        if self._execution.congested:
            await self._execution.drain()

    async def _emit(self, payload: Payload, after_ms: int = 0) -> None:
        if self._skip:
            self._skip -= 1
            return
        await self._pause(after_ms)
        self._go_on()
        self._execution.emit(payload)
        if self._execution.congested:
            await self._execution.drain()

    async def _pause(self, ms: int) -> None:
        if ms and not self._skip:
            self._go_on()
            await self._sleep(ms / 1000)

    def _go_on(self) -> None:
        if self._execution.cancelled:
            raise Canceled


def _failure(code: str, message: str) -> AgentError:
    """Return an AgentError with the script's code. Codes belong to classes, so this makes a class."""
    kind = type("ScriptedFailure", (AgentError,), {"code": code, "__doc__": "The script failed here."})
    error: AgentError = kind(message)
    return error
