"""Requests, responses and event names of the threads face."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictInt, StrictStr, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from runyard.base.fields import RequestBody

RunStatus = Literal["queued", "running", "done", "error", "canceled"]
WhileRunning = Literal["queue", "steer", "interrupt", "reject"]
EventName = Literal["token", "tool_start", "tool_end", "final", "error", "canceled", "state"]


class NewThread(RequestBody):
    user_id: StrictStr | StrictInt | None = Field(None, description="The client's id for the user; returned unchanged.")
    agent: str | None = Field(None, description="The agent that answers in this thread; the default agent if left out.")


class ThreadMade(BaseModel):
    thread_id: str


class ClientTool(RequestBody):
    name: str
    description: str = ""
    input_schema: dict[str, Any] = Field({}, description="The JSON Schema of its input, an object.")


class TextPart(RequestBody):
    type: Literal["text"]
    text: str


class FilePart(RequestBody):
    type: Literal["image", "file"]
    file_id: str = Field(description="The id of an uploaded file (`POST /api/files`).")


class DataPart(RequestBody):
    type: Literal["data"]
    data: Any = Field(description="A JSON value.")


NewPart = Annotated[TextPart | FilePart | DataPart, Field(discriminator="type")]


class NewMessage(RequestBody):
    parts: list[NewPart] | None = Field(
        None, min_length=1, max_length=100, description="The content as a list of parts, instead of `content`."
    )
    files: list[str] | None = Field(
        None, min_length=1, max_length=100, description="The ids of uploaded files that follow the content."
    )
    content: str | None = Field(None, min_length=1, validate_default=True, description="The text of the message.")
    agent: str | None = Field(None, description="The agent that answers this message.")
    while_running: WhileRunning = Field(
        "queue",
        description="If a run of the thread has not ended. `queue`: answer after it. `steer`: give it the message "
        "while it continues. `interrupt`: cancel it and answer both messages. `reject`: 409.",
    )
    tools: list[ClientTool] = Field(
        default_factory=list, max_length=128, description="Tools that the client calls for the agent."
    )

    @field_validator("content")
    @classmethod
    def _has_content(cls, content: str | None, info: ValidationInfo) -> str | None:
        parts, files = info.data.get("parts"), info.data.get("files")
        if content is None and parts is None and files is None:
            raise PydanticCustomError("missing", "Field required")
        if content is not None and parts is not None:
            raise PydanticCustomError("value_error", "Send `content` or `parts`, not both")
        return content


class RunMade(BaseModel):
    run_id: str


class MessagePosted(BaseModel):
    run_id: str = Field(description="The run that answers the message.")
    steered: bool | None = Field(
        None, description="Whether that run was under way and got the message. Left out if `while_running` is `queue`."
    )


class MessageSeen(BaseModel):
    id: str
    role: Literal["user", "assistant"]
    content: str
    created_at: str


class MessageWithParts(MessageSeen):
    parts: list[dict[str, Any]] = Field(description="The content as parts; `content` has only its text.")


class ThreadSeen(BaseModel):
    thread_id: str
    user_id: str | int | None
    messages: list[MessageSeen | MessageWithParts] = Field(description="The newest messages, oldest first.")
    next: str | None = Field(description="Pass it as `before` to get earlier messages; null at the beginning.")


class RunSeen(BaseModel):
    run_id: str
    thread_id: str | None
    status: RunStatus
    created_at: str
    started_at: str | None
    finished_at: str | None
    error: str | None


class Canceled(BaseModel):
    ok: Literal[True] = True
    status: RunStatus
