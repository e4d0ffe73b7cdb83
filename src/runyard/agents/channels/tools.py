"""The six tools of an agent in a channel or DM, bound to the run that calls them.

They are the agent's only way to act, and it always acts as itself: its messages, its reactions, its own memory. A call
that is repeated under the same key (`run_id:call_id`) takes effect once, so all tools are `idempotent`. `do_nothing`
ends the turn: the model is not asked again. The model gets a refused action as an error text.
"""

from collections.abc import Awaitable, Sequence
from typing import Annotated, Any, Protocol, TypeVar

from runyard.agents.tools.tool import Tool
from runyard.domain.content.memory import Passage
from runyard.errors import Conflict, Invalid, NotFound, ToolError

T = TypeVar("T")
REPLY_TO = "the message that you reply to; leave it out to stay in the thread that you were addressed in"


class AgentActions(Protocol):
    """The actions of one agent in channels and DMs, in one run."""

    async def send(self, conversation_id: str | None, text: str, key: str, parent_id: str | None) -> str:
        """Post a message and return its id. The default conversation is the one in which the agent was addressed.

        If the agent was addressed in a thread of replies, the message goes into that thread, unless `parent_id` names
        another message. An empty `parent_id` posts outside any thread."""

    async def react(self, message_id: str, emoji: str) -> None: ...

    async def update_memory(self, label: str, content: str) -> None: ...

    async def search_memory(self, query: str) -> Sequence[Passage]: ...

    async def store_memory(self, content: str, tags: Sequence[str], key: str) -> str: ...


class _LastTool(Tool[..., Any]):
    ends_turn = True


def channel_tools(actions: AgentActions) -> list[Tool[..., Any]]:
    async def send_message(
        text: Annotated[str, "what you say"],
        idempotency_key: str,
        conversationId: Annotated[str | None, "where; leave it out to answer here"] = None,  # noqa: N803
        parentMessageId: Annotated[str | None, REPLY_TO] = None,  # noqa: N803
    ) -> dict[str, Any]:
        """Say something in a channel or a direct message. It is the only way to be heard."""
        sent = await _refusals_for_the_model(actions.send(conversationId, text, idempotency_key, parentMessageId))
        return {"messageId": sent}

    async def react_to_message(messageId: str, emoji: str) -> dict[str, Any]:  # noqa: N803
        """React to a message with an emoji."""
        await _refusals_for_the_model(actions.react(messageId, emoji))
        return {"success": True}

    async def do_nothing() -> dict[str, Any]:
        """Say and do nothing."""
        return {"action": "none"}

    async def update_memory(label: str, content: str) -> dict[str, Any]:
        """Set one of your memory blocks, which you see in every prompt."""
        await _refusals_for_the_model(actions.update_memory(label, content))
        return {"success": True}

    async def search_memory(query: str) -> dict[str, Any]:
        """Find what you have stored, by any part of its text or by its words."""
        found = await _refusals_for_the_model(actions.search_memory(query))
        return {"passages": [_passage(each) for each in found]}

    async def store_memory(content: str, idempotency_key: str, tags: list[str] = []) -> dict[str, Any]:  # noqa: B006
        """Store something, to find it again with search_memory."""
        kept = await _refusals_for_the_model(actions.store_memory(content, tags, idempotency_key))
        return {"passageId": kept}

    return [
        Tool(send_message, effects="idempotent"),
        Tool(react_to_message, effects="idempotent"),
        _LastTool(do_nothing, effects="idempotent"),
        Tool(update_memory, effects="idempotent"),
        Tool(search_memory, effects="idempotent"),
        Tool(store_memory, effects="idempotent"),
    ]


async def _refusals_for_the_model(action: Awaitable[T]) -> T:
    """Await an action. Turn a refusal into a ToolError, whose message the model gets."""
    try:
        return await action
    except (NotFound, Invalid, Conflict) as error:
        raise ToolError(error.message) from None


def _passage(kept: Passage) -> dict[str, Any]:
    return {"id": kept.id, "content": kept.content, "tags": list(kept.tags), "createdAt": kept.created_at}
