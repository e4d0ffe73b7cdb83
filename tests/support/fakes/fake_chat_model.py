"""A fake chat model for LangChain: it plays a list of turns, one for each message that it has said so far.

A turn has `text` (its pieces are streamed), `calls` (tool calls) and `usage`. The number of earlier messages of the
model in the conversation chooses the turn, so a node that runs again gets the same turn again, as a real model might.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult


class FakeChatModel(BaseChatModel):
    turns: list[dict[str, Any]]
    asked: Callable[[list[BaseMessage]], None] = lambda _: None

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn = self._turn(messages)
        calls = [{"name": name, "args": given, "id": call} for call, name, given in turn.get("calls", ())]
        said = AIMessage("".join(turn.get("text", ())), tool_calls=calls, usage_metadata=_usage(turn))
        return ChatResult(generations=[ChatGeneration(message=said)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        turn = self._turn(messages)
        for piece in turn.get("text", ()):
            yield await _announced_chunk(AIMessageChunk(content=piece), run_manager)
        for index, (call, name, given) in enumerate(turn.get("calls", ())):
            chunk = tool_call_chunk(name=name, args=json.dumps(given), id=call, index=index)
            yield await _announced_chunk(AIMessageChunk(content="", tool_call_chunks=[chunk]), run_manager)
        yield await _announced_chunk(AIMessageChunk(content="", usage_metadata=_usage(turn)), run_manager)

    def _turn(self, messages: list[BaseMessage]) -> dict[str, Any]:
        self.asked(messages)
        last_question = max(n for n, each in enumerate(messages) if isinstance(each, HumanMessage))
        return self.turns[sum(isinstance(each, AIMessage) for each in messages[last_question:])]


async def _announced_chunk(
    message: AIMessageChunk, run_manager: AsyncCallbackManagerForLLMRun | None
) -> ChatGenerationChunk:
    chunk = ChatGenerationChunk(message=message)
    await asyncio.sleep(0)  # other nodes get their turn
    if run_manager is not None:
        await run_manager.on_llm_new_token(str(message.content), chunk=chunk)
    return chunk


def _usage(turn: Mapping[str, Any]) -> Any:
    read, written = turn.get("usage", (1, 1))
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
