"""Requests, responses and events of the chats face; also the format of checkpoints."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field, StrictBool

from runyard.base.fields import RequestBody

EventName = Literal[
    "interaction_started",
    "tool_call",
    "tool_result",
    "thinking",
    "answer",
    "approval_required",
    "approved",
    "rejected",
    "cancelled",
    "error",
    "interaction_complete",
]
CANCELLING = "Interaction will stop at next checkpoint"


class EventType(StrEnum):
    TOOL_CALL = "TOOL_CALL"
    TOOL_RESULT = "TOOL_RESULT"
    THINKING = "THINKING"
    ANSWER = "ANSWER"


class ToolCallEvent(BaseModel):
    type: Literal[EventType.TOOL_CALL] = EventType.TOOL_CALL
    id: str
    tool_name: str
    tool_input: str


class ToolResultEvent(BaseModel):
    type: Literal[EventType.TOOL_RESULT] = EventType.TOOL_RESULT
    id: str
    tool_name: str
    tool_output: str


class ThinkingEvent(BaseModel):
    type: Literal[EventType.THINKING] = EventType.THINKING
    content: str


class AnswerEvent(BaseModel):
    type: Literal[EventType.ANSWER] = EventType.ANSWER
    content: str


AgentEvent = Annotated[ToolCallEvent | ToolResultEvent | ThinkingEvent | AnswerEvent, Field(discriminator="type")]


class AgentState(BaseModel):
    """The state that the next interaction starts from: the conversation so far, without any system message."""

    messages: list[dict[str, Any]]


class AgentStatePart(AgentState):
    """The part of a state that one interaction added. The state of the interaction `after` comes before it."""

    after: str


class InteractionStatus(StrEnum):
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    WAITING_APPROVAL = "WAITING_APPROVAL"


class Interaction(BaseModel):
    id: str
    status: InteractionStatus
    user_message: str
    agent_events: list[AgentEvent]
    final_agent_state: AgentStatePart | AgentState | None = Field(
        description="Null while the interaction runs. In a chat, most states are the part that the interaction added to"
        " the state of the interaction `after`."
    )
    created_at: str
    completed_at: str | None
    parent_id: str | None = Field(None, description="The interaction whose final state this one started from.")
    superseded_by: str | None = Field(None, description="The interaction that took its place, after an edit.")
    stop_reason: str | None = Field(None, description="Which limit stopped the agent before it was done; else null.")


class Chat(BaseModel):
    id: str
    interactions: list[Interaction]
    created_at: str
    next: str | None = Field(None, description="Give it as `before` to get older interactions; null at the first.")


class ChatRow(BaseModel):
    id: str
    created_at: str


class ChatPage(BaseModel):
    chats: list[ChatRow]
    next: str | None = Field(description="Give it as `before` to get the next page; null at the end.")


class NewInteraction(RequestBody):
    user_message: str = Field(min_length=1)
    agent: str | None = Field(None, description="Which agent answers; the default agent if left out.")
    while_running: Literal["queue", "steer", "interrupt", "reject"] = Field(
        "queue",
        description="If an interaction of the chat has not ended. `queue`: answer after it. `steer`: give it the "
        "message while it continues, and follow it. `interrupt`: cancel it and answer both messages. `reject`: 409.",
    )


class Edit(RequestBody):
    new_user_message: str = Field(min_length=1)
    agent: str | None = Field(None, description="Which agent answers; the one that answered before if left out.")


class Decision(RequestBody):
    other_words: ClassVar = {"input": "tool_input", "decision": "approved"}  # names of the native face

    approval_id: str
    approved: StrictBool
    reason: str | None = Field(None, description="With a rejection: the reason, for the agent.")
    tool_input: dict[str, Any] | None = Field(
        None, description="With an approval: call the tool with this input instead."
    )


class Processed(BaseModel):
    status: Literal["processed"] = "processed"
    approval_id: str
    approved: bool


class Cancelling(BaseModel):
    status: Literal["cancelling"] = "cancelling"
    interaction_id: str
    message: str = CANCELLING
