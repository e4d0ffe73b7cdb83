"""Reports of nodes and chat models while a graph runs, through LangChain's callbacks.

Callbacks arrive where they happen: the text of a model before the end of its node. A stream of LangGraph is a queue
that its reader may read later. A callback from a thread is handed to the event loop of the run.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult

from runyard.domain.events import Usage

HIDDEN = frozenset({"nostream", "langsmith:nostream"})  # tags of models whose text is not for the user
OF_NODE = "graph:step:"  # begins the tag of a node's own run, and not of what it calls
INTERNAL = "langsmith:hidden"  # the tag of LangGraph's own nodes


class GraphListener(Protocol):
    """Gets the events in the nodes of a graph. `call` is the id of a model call."""

    def node_started(self, namespace: str) -> None: ...

    async def model_wrote(self, namespace: str, call: str, text: str, thinking: str) -> None: ...

    async def model_ended(self, namespace: str, call: str, message: AIMessage | None) -> None: ...


class GraphCallbacks(AsyncCallbackHandler):
    """Tell a listener about the nodes and models of one execution."""

    raise_error = True  # a write that the store refuses ends the graph
    run_inline = True  # in the order in which things happen

    def __init__(self, listener: GraphListener) -> None:
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._calls: dict[UUID, tuple[str, bool]] = {}  # namespace, and whether the text is hidden
        self._has_streamed: set[UUID] = set()

    async def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: dict[str, Any],
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        known = metadata or {}
        is_node = any(tag.startswith(OF_NODE) for tag in tags or ()) and INTERNAL not in (tags or ())
        if is_node and kwargs.get("name") == known.get("langgraph_node"):
            await self._tell(self._started(_namespace(known)))

    async def _started(self, namespace: str) -> None:
        if namespace:
            self._listener.node_started(namespace)

    async def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        if namespace := _namespace(metadata or {}):
            self._calls[run_id] = namespace, not HIDDEN.isdisjoint(tags or ())

    async def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **kwargs: Any) -> None:
        namespace, is_hidden = self._calls.get(run_id, ("", True))
        if is_hidden or not isinstance(chunk, ChatGenerationChunk):
            return
        self._has_streamed.add(run_id)
        text, thinking = text_of(chunk.message)
        if text or thinking:
            await self._tell(self._listener.model_wrote(namespace, str(run_id), text, thinking))

    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        if (known := self._calls.pop(run_id, None)) is None:
            return
        message = _message(response)
        if run_id not in self._has_streamed and message is not None and not known[1]:
            await self._tell(self._listener.model_wrote(known[0], str(run_id), *text_of(message)))
        await self._ended(run_id, known, message)

    async def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        if (known := self._calls.pop(run_id, None)) is not None:
            await self._ended(run_id, known, None)

    async def _ended(self, run_id: UUID, known: tuple[str, bool], message: AIMessage | None) -> None:
        self._has_streamed.discard(run_id)
        await self._tell(self._listener.model_ended(known[0], str(run_id), message))

    async def _tell(self, report: Coroutine[Any, Any, None]) -> None:
        if asyncio.get_running_loop() is self._loop:
            await report
        else:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(report, self._loop))


def text_of(message: BaseMessage) -> tuple[str, str]:
    """Return the text and the reasoning of a message, or of a piece of one."""
    if isinstance(message.content, str):
        return message.content, str(message.additional_kwargs.get("reasoning_content") or "")
    blocks = message.content_blocks
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    return text, "".join(block.get("reasoning", "") for block in blocks if block["type"] == "reasoning")


def usage_of(message: AIMessage) -> Usage | None:
    counted = message.usage_metadata
    return None if counted is None else Usage(counted["input_tokens"], counted["output_tokens"])


def _namespace(metadata: dict[str, Any]) -> str:
    """Return the namespace of the node that a callback is about."""
    return str(metadata.get("langgraph_checkpoint_ns") or "")


def _message(response: LLMResult) -> AIMessage | None:
    found = response.generations[0][0] if response.generations and response.generations[0] else None
    message = found.message if isinstance(found, ChatGeneration) else None
    return message if isinstance(message, AIMessage) else None
