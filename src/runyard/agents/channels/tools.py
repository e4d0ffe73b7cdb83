"""The six tools of an agent in a conversation, bound to the run that calls them.

They are the only way in which it is heard. Whatever it names, it acts as itself: its messages, its reactions, its own
memory and nobody else's. A call that is repeated under its own id (`run_id:call_id`) happens once, so all of them are
`idempotent`. `do_nothing` ends the turn: the model is not asked again. What cannot be done is told to the model.
"""

from collections.abc import Awaitable, Sequence
from typing import Annotated, Any, Protocol, TypeVar

from runyard.agents.tools.tool import Tool
from runyard.domain.memory import Passage
from runyard.errors import Conflict, Invalid, NotFound, ToolError

T = TypeVar("T")
REPLY_TO = "the message that you reply to; leave it out to stay in the thread that you were addressed in"


class AgentActions(Protocol):
    """What one agent can do in the office, in one run."""

    async def send(self, conversation_id: str | None, text: str, key: str, parent_id: str | None) -> str:
        """Say something, where it was spoken to if nothing else is named, and return the id of the message. If it was
        spoken to in a thread of replies, the message goes into that thread unless `parent_id` names another message;
        an empty one stands for no thread."""

    async def react(self, message_id: str, emoji: str) -> None: ...

    async def update_memory(self, label: str, content: str) -> None: ...

    async def search_memory(self, query: str) -> Sequence[Passage]: ...

    async def store_memory(self, content: str, tags: Sequence[str], key: str) -> str: ...


class _LastTool(Tool[..., Any]):
    ends_turn = True


def office_tools(desk: AgentActions) -> list[Tool[..., Any]]:
    async def send_message(
        text: Annotated[str, "what you say"],
        idempotency_key: str,
        conversationId: Annotated[str | None, "where; leave it out to answer here"] = None,  # noqa: N803
        parentMessageId: Annotated[str | None, REPLY_TO] = None,  # noqa: N803
    ) -> dict[str, Any]:
        """Say something in a channel or a direct message. It is the only way to be heard."""
        sent = await _told(desk.send(conversationId, text, idempotency_key, parentMessageId))
        return {"messageId": sent}

    async def react_to_message(messageId: str, emoji: str) -> dict[str, Any]:  # noqa: N803
        """React to a message with an emoji."""
        await _told(desk.react(messageId, emoji))
        return {"success": True}

    async def do_nothing() -> dict[str, Any]:
        """Say and do nothing."""
        return {"action": "none"}

    async def update_memory(label: str, content: str) -> dict[str, Any]:
        """Set one of your memory blocks, which you see in every prompt."""
        await _told(desk.update_memory(label, content))
        return {"success": True}

    async def search_memory(query: str) -> dict[str, Any]:
        """Find what you have stored, by any part of its text or by its words."""
        found = await _told(desk.search_memory(query))
        return {"passages": [_passage(each) for each in found]}

    async def store_memory(content: str, idempotency_key: str, tags: list[str] = []) -> dict[str, Any]:  # noqa: B006
        """Store something, to find it again with search_memory."""
        kept = await _told(desk.store_memory(content, tags, idempotency_key))
        return {"passageId": kept}

    return [
        Tool(send_message, effects="idempotent"),
        Tool(react_to_message, effects="idempotent"),
        _LastTool(do_nothing, effects="idempotent"),
        Tool(update_memory, effects="idempotent"),
        Tool(search_memory, effects="idempotent"),
        Tool(store_memory, effects="idempotent"),
    ]


async def _told(doing: Awaitable[T]) -> T:
    """What may not be done, in words that are meant for the model."""
    try:
        return await doing
    except (NotFound, Invalid, Conflict) as error:
        raise ToolError(error.message) from None


def _passage(kept: Passage) -> dict[str, Any]:
    return {"id": kept.id, "content": kept.content, "tags": list(kept.tags), "createdAt": kept.created_at}
