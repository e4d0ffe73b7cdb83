"""Requests and responses of the face for the AI SDK."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from runyard.base.fields import RequestBody
from runyard.errors import NotFound

MOST_MESSAGES = 10_000
NAME_LENGTH = 200


class ClientTool(RequestBody):
    name: str
    description: str = ""
    input_schema: dict[str, Any] = Field({}, description="The JSON Schema of the tool's input, an object.")


class Continuation(RequestBody):
    """The fields that both transports send to a chat."""

    messages: list[dict[str, Any]] = Field(
        min_length=1,
        max_length=MOST_MESSAGES,
        description="The messages of the chat. The last one asks, or holds answers to what the agent waits for.",
    )
    trigger: Literal["submit-message", "regenerate-message"] | None = Field(
        None, description="`regenerate-message` replaces the answer to the last message."
    )
    messageId: str | None = Field(  # noqa: N815
        None, max_length=NAME_LENGTH, description="The message that is edited, answered or answered again."
    )
    tools: list[ClientTool] | None = Field(
        None, max_length=128, description="Tools that the client calls, besides those that the agent declares."
    )


class NewMessage(Continuation):
    id: str | None = Field(None, max_length=NAME_LENGTH, description="The chat; only in a path without a chat.")


class Stopped(BaseModel):
    runId: str = Field(description="The run that was canceled.")  # noqa: N815
    status: str = Field(description="`canceled`, or how the run had ended before.")


class AgentNotFound(NotFound):
    """This server declares no agent with the name in the path."""

    code = "agent_not_found"


class ChatNotFound(NotFound):
    """There is no chat and no stream with that id."""
