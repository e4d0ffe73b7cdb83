"""Requests and errors of the face for A2A. The names are those of the protocol.

The protocol wants unknown fields to be ignored, so that newer clients can talk to older servers.
"""

import re
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from runyard.errors import BadRequest, Conflict, NotFound

NAME_LENGTH = 200
URL_LENGTH, SECRET_LENGTH = 2000, 4000
HEADER_VALUE = r"^[!-~]([ -~]*[!-~])?$"  # printable ASCII
MOST_PARTS = 100
MOST_TASKS = 100  # of one page
State = Literal[
    "TASK_STATE_UNSPECIFIED",
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELED",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_REJECTED",
    "TASK_STATE_AUTH_REQUIRED",
]
HistoryLength = Field(None, ge=0, le=2**31, description="How many of the newest messages the task's history has.")


class Params(BaseModel):
    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def accept_original_names(cls, given: Any) -> Any:
        """Accept `history_length` for `historyLength`, as every reader of protobuf's JSON does."""
        return {camel_case(name): value for name, value in given.items()} if isinstance(given, dict) else given


def camel_case(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


class Message(Params):
    messageId: str = Field(  # noqa: N815
        min_length=1, max_length=NAME_LENGTH, description="Made by the client. In a context it is taken once."
    )
    role: Literal["ROLE_USER"]
    parts: list[dict[str, Any]] = Field(min_length=1, max_length=MOST_PARTS)
    contextId: str | None = Field(  # noqa: N815
        None, max_length=NAME_LENGTH, description="The conversation; a new one if left out."
    )
    taskId: str | None = Field(None, max_length=NAME_LENGTH, description="The task that the message answers.")  # noqa: N815


class Authentication(Params):
    scheme: str = Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", max_length=NAME_LENGTH, description="Such as Bearer.")
    credentials: str | None = Field(None, pattern=HEADER_VALUE, max_length=SECRET_LENGTH, description="Kept secret.")


class PushConfig(Params):
    id: str | None = Field(None, max_length=NAME_LENGTH, description="Its name; made by the server if left out.")
    url: str = Field(min_length=1, max_length=URL_LENGTH, description="The address that gets a POST for each update.")
    token: str | None = Field(
        None, pattern=HEADER_VALUE, max_length=SECRET_LENGTH, description="Sent as `X-A2A-Notification-Token`."
    )
    authentication: Authentication | None = Field(None, description="Sent as the header `Authorization`.")


class CreateConfig(PushConfig):
    taskId: str  # noqa: N815


class ConfigName(Params):
    taskId: str  # noqa: N815
    id: str


class ConfigsOfTask(Params):
    taskId: str  # noqa: N815


class Configuration(Params):
    historyLength: int | None = HistoryLength  # noqa: N815
    returnImmediately: bool | None = Field(None, description="Do not wait for the end of the task.")  # noqa: N815
    taskPushNotificationConfig: PushConfig | None = Field(  # noqa: N815
        None, description="Where to send the updates of the task."
    )
    pushNotificationConfig: PushConfig | None = Field(  # noqa: N815
        None, description="Another name of the same, as older examples have it."
    )
    acceptedOutputModes: list[str] | None = Field(None, description="Accepted and ignored.")  # noqa: N815


class SendMessage(Params):
    message: Message
    configuration: Configuration = Configuration()

    @property
    def push(self) -> PushConfig | None:
        """Where to send the updates of the task."""
        return self.configuration.taskPushNotificationConfig or self.configuration.pushNotificationConfig


class GetTask(Params):
    id: str
    historyLength: int | None = HistoryLength  # noqa: N815


class TaskName(Params):
    id: str


class ListTasks(Params):
    contextId: str | None = None  # noqa: N815
    status: State | None = None
    pageSize: int = Field(50, ge=1, le=MOST_TASKS)  # noqa: N815
    pageToken: str | None = None  # noqa: N815
    historyLength: int | None = HistoryLength  # noqa: N815
    statusTimestampAfter: datetime | None = None  # noqa: N815
    includeArtifacts: bool = False  # noqa: N815

    @property
    def after_ms(self) -> int | None:
        """`statusTimestampAfter` in milliseconds since 1970."""
        at = self.statusTimestampAfter
        if at is None:
            return None
        return int((at if at.tzinfo is not None else at.replace(tzinfo=UTC)).timestamp() * 1000)


class Nothing(Params):
    """The parameters of operations that this server does not support."""


class RpcRequest(Params):
    jsonrpc: Literal["2.0"]
    method: str
    params: dict[str, Any] | None = Field(None, description="The parameters of the method.")
    id: str | int | None = None


class RpcErrorBody(BaseModel):
    code: int = Field(description="The error, for programs.")
    message: str = Field(description="What is wrong and what to do, for people.")
    data: list[dict[str, Any]] = Field(description="The reason, and the invalid fields.")


class RpcError(BaseModel):
    jsonrpc: Literal["2.0"] = "2.0"
    id: str | int | None
    error: RpcErrorBody


class StatusBody(BaseModel):
    code: int = Field(description="The HTTP status.")
    status: str = Field(description="The name of the status, as gRPC has it.")
    message: str = Field(description="What is wrong and what to do, for people.")
    details: list[dict[str, Any]] = Field(description="The reason, and the invalid fields.")


class RestError(BaseModel):
    error: StatusBody


class AgentNotFound(NotFound):
    """This server declares no agent with the name in the path."""

    code = "agent_not_found"


class TaskNotFound(NotFound):
    """There is no task with that id."""

    code = "task_not_found"


class TaskNotCancelable(BadRequest):
    """The task has ended, so it cannot be canceled."""

    code = "task_not_cancelable"


class ConfigNotFound(NotFound):
    """The task has no push notification configuration with that id."""

    code = "task_not_found"


class AddressRefused(BadRequest):
    """The address of the push notifications may not be called."""

    code = "address_refused"


class UnknownPage(BadRequest):
    """The `pageToken` is not one that this server made."""

    code = "unknown_page"


class TooManyConfigs(BadRequest):
    """The task has too many push notification configurations. Delete one."""

    code = "too_many_configs"


class UnsupportedOperation(BadRequest):
    """This server does not support the operation."""

    code = "unsupported_operation"


class ContentTypeNotSupported(BadRequest):
    """The content type is not supported. Requests are JSON; parts are text, data, or files of an accepted type."""

    code = "content_type_not_supported"


class VersionNotSupported(BadRequest):
    """This server speaks version 1.0 of the protocol. Send the header `A2A-Version: 1.0`."""

    code = "version_not_supported"


class MethodNotFound(BadRequest):
    """There is no method with that name. Methods are named as in version 1.0, such as `SendMessage`."""

    code = "method_not_found"


class NotARequest(BadRequest):
    """The body is not a request of JSON-RPC 2.0."""

    code = "not_a_request"


class Waiting(Conflict):
    """A task of this context waits for an answer. Send the message with the `taskId` of that task, or cancel it."""

    code = "waiting"
