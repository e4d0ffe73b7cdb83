"""Requests, responses and event names of the channels face: camelCase."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from runyard.base.fields import RequestBody
from runyard.domain.conversations.feed import Kind
from runyard.domain.wait import WaitKind

ChannelKind = Literal["public", "private"]
EventName = Kind
Id = Annotated[str, Field(min_length=1, max_length=64)]
Name = Annotated[str, Field(min_length=1, max_length=80)]
Topic = Annotated[str, Field(max_length=1000)]
Emoji = Annotated[str, Field(min_length=1, max_length=32)]
Label = Annotated[str, Field(min_length=1, max_length=64)]
Text = Annotated[str, Field(min_length=1)]


class NewChannel(RequestBody):
    name: Name
    kind: ChannelKind = Field("public", description="Only its members and its owner see a private channel.")
    topic: Topic | None = None
    agents: list[Id] = Field(
        [], max_length=200, description="The agents of the channel, in the order in which they answer."
    )
    users: list[Id] = Field([], max_length=1000, description="The people of the channel.")


class ChannelChange(RequestBody):
    name: Name | None = None
    kind: ChannelKind | None = None
    topic: Topic | None = None


class MemberSeen(BaseModel):
    id: str
    kind: Literal["user", "agent"]


class ChannelSeen(BaseModel):
    id: str
    name: str
    kind: ChannelKind
    topic: str | None
    members: list[MemberSeen]
    createdAt: str
    ownerId: str = Field(description="Who created the channel: only they change it, and its runs are theirs.")


class ChannelPage(BaseModel):
    channels: list[ChannelSeen]
    next: str | None


class NewDm(RequestBody):
    agentId: Id = Field(description="The agent to talk to.")
    otherAgentId: Id | None = Field(None, description="The other side, if it is an agent.")
    userId: Id | None = Field(None, description="The owner of the API key; the other side if both fields are left out.")


class DmSeen(BaseModel):
    id: str
    participants: list[MemberSeen]
    createdAt: str


class DmPage(BaseModel):
    dms: list[DmSeen]
    next: str | None


class NewMessage(RequestBody):
    channelId: str | None = None
    dmConversationId: str | None = None
    parentMessageId: str | None = Field(None, description="The message that this one replies to.")
    userId: Id | None = Field(None, description="The owner of the API key; no other sender is accepted.")
    text: Text


class MessageChange(RequestBody):
    text: Text


class ReactionSeen(BaseModel):
    emoji: str
    userId: str
    isAgent: bool


class NewReaction(RequestBody):
    emoji: Emoji
    userId: Id | None = Field(None, description="The owner of the API key; no other sender is accepted.")


class ReactionMade(BaseModel):
    success: Literal[True] = True


class MessageSeen(BaseModel):
    id: str
    channelId: str | None
    dmConversationId: str | None
    parentMessageId: str | None
    userId: str
    isAgent: bool
    text: str
    createdAt: str
    runId: str | None = Field(description="The run that posted the message; null for a message of a person.")
    editedAt: str | None = Field(description="When its text was changed last.")
    deletedAt: str | None = Field(description="When it was deleted; its text is then `(deleted)`.")
    reactions: list[ReactionSeen] = []


class MessagePage(BaseModel):
    messages: list[MessageSeen]
    next: str | None = Field(description="Pass it as `before` to get earlier messages; null at the beginning.")


class ReadPosition(RequestBody):
    messageId: str = Field(description="The last message that the caller has read. A position never moves back.")


class UnreadSeen(BaseModel):
    channelId: str | None
    dmConversationId: str | None
    readMessageId: str | None = Field(description="The last message that the caller has read.")
    unread: int = Field(description="The number of later messages of other senders; at most 100.")


class UnreadPage(BaseModel):
    conversations: list[UnreadSeen]


class NewAgent(RequestBody):
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
    displayName: Name | None = None
    title: Annotated[str, Field(max_length=200)] = ""
    avatarColor: Annotated[str, Field(max_length=32)] | None = None
    systemPrompt: str = ""
    modelId: Name = Field(description="A model that litellm knows and `RUNYARD_AGENT_MODELS` allows.")
    maxTurns: int = Field(5, ge=1, le=1000)
    maxBudgetUsd: float = Field(0.10, gt=0, le=1000, allow_inf_nan=False)


class AgentChange(RequestBody):
    displayName: Name | None = None
    title: Annotated[str, Field(max_length=200)] | None = None
    avatarColor: Annotated[str, Field(max_length=32)] | None = None
    systemPrompt: str | None = None
    modelId: Name | None = None
    maxTurns: int | None = Field(None, ge=1, le=1000)
    maxBudgetUsd: float | None = Field(None, gt=0, le=1000, allow_inf_nan=False)
    isActive: bool | None = None


class AgentSeen(BaseModel):
    id: str
    displayName: str
    title: str
    avatarColor: str | None
    systemPrompt: str
    modelId: str | None
    maxTurns: int
    maxBudgetUsd: float
    isActive: bool
    isDeclared: bool = Field(description="Whether the agent is declared in code; it can be changed only there.")
    description: str = Field(description="What the agent does: declared, or the docstring of its function.")
    samples: list[str] = Field(description="Questions to begin with, as the agent declares them.")
    canChat: bool = Field(description="Whether a person can begin a chat with the agent.")
    isDefault: bool = Field(description="Whether the agent answers when a client names none.")
    createdAt: str
    updatedAt: str


class AgentPage(BaseModel):
    agents: list[AgentSeen]
    next: str | None


class BlockChange(RequestBody):
    content: str
    isShared: bool | None = Field(None, description="Whether other agents can read the block; unchanged if left out.")


class BlockSeen(BaseModel):
    label: str
    content: str
    isShared: bool
    ownerId: str
    updatedAt: str


class MemorySeen(BaseModel):
    blocks: list[BlockSeen]


class NewPassage(RequestBody):
    content: Text
    tags: list[Annotated[str, Field(min_length=1, max_length=64)]] = Field([], max_length=32)


class PassageSeen(BaseModel):
    id: str
    content: str
    tags: list[str]
    createdAt: str


class PassagePage(BaseModel):
    passages: list[PassageSeen]


class PromptSeen(BaseModel):
    systemPrompt: str = Field(description="The complete prompt.")
    persona: str = Field(description="The first part of the prompt, which does not change between runs.")


AgentRunStatus = Literal["created", "running", "completed", "failed", "cancelled"]


class TokenUsage(BaseModel):
    input_tokens: int
    output_tokens: int


class AgentRunSeen(BaseModel):
    id: str
    agentId: str
    status: AgentRunStatus
    stopReason: str | None
    triggerMessageId: str | None
    channelId: str | None
    dmConversationId: str | None
    createdAt: str
    startedAt: str | None
    completedAt: str | None
    tokenUsage: TokenUsage


class AgentRunPage(BaseModel):
    runs: list[AgentRunSeen]
    next: str | None


class WaitingFor(BaseModel):
    waitId: str
    kind: WaitKind


class ConversationRunSeen(BaseModel):
    id: str
    agentId: str
    status: Literal["created", "running", "waiting", "completed", "failed", "cancelled"]
    errorCode: str | None
    triggerMessageId: str | None
    createdAt: str
    completedAt: str | None
    waitingFor: WaitingFor | None = Field(
        description="What a person or a client has to answer, if the run waits for that."
    )


class ConversationRunPage(BaseModel):
    runs: list[ConversationRunSeen]
    next: str | None


class StepSeen(BaseModel):
    id: str
    stepNumber: int
    status: Literal["running", "completed", "failed"]
    modelId: str
    tokenUsage: TokenUsage
    createdAt: str
    completedAt: str | None


class RunMessageSeen(BaseModel):
    id: str
    stepId: str | None
    messageType: Literal[
        "system_message", "user_message", "assistant_message", "tool_call_message", "tool_return_message"
    ]
    content: str
    toolName: str | None
    toolInput: Any = None
    createdAt: str


class AgentRunRecord(AgentRunSeen):
    steps: list[StepSeen]
    messages: list[RunMessageSeen]


class DaySeen(BaseModel):
    date: str
    runs: int
    steps: int
    tokenUsage: TokenUsage
    usd: float


class UsageSeen(BaseModel):
    days: list[DaySeen]
