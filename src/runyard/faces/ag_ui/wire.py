"""Requests and responses of the face for AG-UI. The names are those of the protocol."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from runyard.base.fields import RequestBody
from runyard.errors import NotFound

MOST_MESSAGES = 10_000
NAME_LENGTH = 200


class Tool(RequestBody):
    name: str
    description: str = ""
    parameters: dict[str, Any] | None = Field(None, description="The JSON Schema of the tool's input, an object.")
    metadata: dict[str, Any] | None = Field(None, description="Accepted and ignored.")


class Context(RequestBody):
    description: str
    value: str


class Resume(RequestBody):
    interruptId: str  # noqa: N815
    status: Literal["resolved", "cancelled"]
    payload: Any = Field(None, description="The answer to a question, or `{approved, reason?, editedArgs?}`.")
    metadata: dict[str, Any] | None = Field(None, description="Accepted and ignored.")


class RunAgentInput(RequestBody):
    threadId: str = Field(min_length=1, max_length=NAME_LENGTH)  # noqa: N815
    runId: str = Field(  # noqa: N815
        min_length=1, max_length=NAME_LENGTH, description="Made by the client; the same id follows the same run again."
    )
    messages: list[dict[str, Any]] = Field(max_length=MOST_MESSAGES)
    state: Any = Field(None, description="The state of the app. The agent gets it with its instructions.")
    tools: list[Tool] = Field([], max_length=128, description="Tools that the client calls for the agent.")
    context: list[Context] = Field([], max_length=128, description="Facts that the agent gets with its instructions.")
    resume: list[Resume] | None = Field(None, max_length=200, description="Answers to interrupts.")
    protocolVersion: str | None = Field(None, description="Accepted and ignored.")  # noqa: N815
    parentRunId: str | None = Field(None, description="Accepted and ignored.")  # noqa: N815
    forwardedProps: Any = Field(None, description="Accepted and ignored.")  # noqa: N815


class RunErrorEvent(BaseModel):
    type: Literal["RUN_ERROR"] = "RUN_ERROR"
    message: str = Field(description="What is wrong and what to do, for people.")
    code: str = Field(description="The error, for programs.")
    metadata: dict[str, Any] | None = Field(
        None, description="Of the error `waiting` only: `outcome`, with the open interrupts or tool calls."
    )


class Stopped(BaseModel):
    runId: str = Field(description="The run of this server that was canceled.")  # noqa: N815
    status: str = Field(description="`canceled`, or how the run had ended before.")


class AgentNotFound(NotFound):
    """This server declares no agent with the name in the path."""

    code = "agent_not_found"


class ThreadNotFound(NotFound):
    """There is no thread with that id, or it has no run."""
