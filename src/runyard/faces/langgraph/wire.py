"""Requests and responses of the face for LangGraph. The names are those of its API.

An agent has settings of its own, so options that tune a graph are accepted and ignored. Options that would change what
happens are refused, see `refuse_unsupported`.
"""

from typing import Any, Literal

from pydantic import BaseModel, Field

from runyard.base.fields import RequestBody
from runyard.errors import BadRequest, Conflict, Invalid, NotFound

Mode = Literal["values", "messages-tuple", "updates", "custom"]
MODES: tuple[Mode, ...] = ("values", "messages-tuple", "updates", "custom")
NAME_LENGTH = 200
MOST_ROWS = 100
NOT_SUPPORTED = "Not supported. Leave it out."
Ignored = Field(None, description="Accepted and ignored.")
Refused = Field(None, description=NOT_SUPPORTED)
Metadata = dict[str, Any] | None
Limit = Field(10, ge=1, le=1000, description=f"At most {MOST_ROWS} are returned.")


class Command(RequestBody):
    resume: Any = Field(None, description="The answer to an interrupt, or answers by the ids of interrupts.")
    update: Any = Refused
    goto: Any = Refused


class Checkpoint(RequestBody):
    checkpoint_id: str | None = None
    thread_id: str | None = Ignored
    checkpoint_ns: Any = Ignored
    checkpoint_map: Any = Ignored


class NewRun(RequestBody):
    assistant_id: str = Field(description="The name of an agent.")
    input: Any = Field(None, description="`{messages: [...]}` that ends with a message of the user; or other inputs.")
    command: Command | None = Field(None, description="`{resume: ...}` answers what the run of the thread waits for.")
    stream_mode: Mode | list[Mode] | None = Field(None, description="What a stream shows.")
    metadata: Metadata = Field(None, description="Your own values. They are returned unchanged.")
    multitask_strategy: Literal["enqueue", "reject", "interrupt", "rollback"] | None = Field(
        None, description="If a run of the thread is under way. `rollback` is refused: runs are not deleted."
    )
    if_not_exists: Literal["create", "reject"] | None = Field(None, description="If the thread does not exist.")
    on_disconnect: Literal["continue", "cancel"] | None = Field(
        None, description="`cancel`: cancel the run if the client closes this connection. By default the run goes on."
    )
    on_completion: Literal["keep", "delete"] | None = Field(
        None, description="`delete` is refused: threads are deleted by a request or by the retention policy."
    )
    config: dict[str, Any] | None = Ignored
    context: Any = Ignored
    stream_subgraphs: Any = Ignored
    stream_resumable: Any = Field(None, description="Ignored: every stream is resumable.")
    feedback_keys: Any = Ignored
    durability: Any = Field(None, description="Ignored: every event is durable before it is sent.")
    checkpoint_during: Any = Ignored
    strict_resume: Any = Ignored
    langsmith_tracer: Any = Ignored
    checkpoint: Checkpoint | None = Field(None, description="Continue from this state; later runs are superseded.")
    checkpoint_id: str | None = Field(None, description="The same, by its id.")
    after_seconds: Any = Refused
    interrupt_before: Any = Refused
    interrupt_after: Any = Refused
    webhook: Any = Refused

    @property
    def modes(self) -> tuple[Mode, ...]:
        given = [self.stream_mode] if isinstance(self.stream_mode, str) else self.stream_mode
        return tuple(dict.fromkeys(given)) if given else ("values",)


def refuse_unsupported(body: NewRun) -> None:
    """Raise BadRequest for options that this server cannot honor."""
    for given, where in ((body, ""), (body.command, "command.")):
        for name, field in type(given).model_fields.items() if given is not None else ():
            if field.description == NOT_SUPPORTED and getattr(given, name) not in (None, False, 0, [], {}):
                raise Unsupported(f"This server does not support `{where}{name}`. Leave it out.")
    if body.multitask_strategy == "rollback":
        raise Unsupported("This server deletes no runs, so it cannot roll back. Use `interrupt`.")
    if body.on_completion == "delete":
        raise Unsupported("This server does not delete a thread after a run. Delete the thread, or set a retention.")


class Unsupported(Invalid):
    """The request has an option that this server does not support."""

    code = "unsupported"


class NewThread(RequestBody):
    thread_id: str | None = Field(None, min_length=1, max_length=NAME_LENGTH, description="Your own id for the thread.")
    metadata: Metadata = Field(None, description="Your own values; `graph_id` names the agent of the thread.")
    if_exists: Literal["raise", "do_nothing"] | None = Field(None, description="If the thread exists. Default: 409.")
    ttl: Any = Refused
    supersteps: Any = Refused


class ThreadChange(RequestBody):
    metadata: Metadata = Field(None, description="Values to add or replace.")
    ttl: Any = Refused


class ThreadSearch(RequestBody):
    metadata: Metadata = Field(None, description="Only threads whose metadata has these values.")
    ids: list[str] | None = Field(None, max_length=MOST_ROWS)
    status: Literal["idle", "busy", "interrupted", "error"] | None = None
    limit: int = Limit
    offset: int = Field(0, ge=0, le=10_000)
    select: list[str] | None = Field(None, description="The fields to return; all if left out.")
    sort_by: Literal["thread_id", "created_at"] | None = Field(None, description="Both are the order of creation.")
    sort_order: Literal["asc", "desc"] | None = Field(None, description="Only `desc`, the newest first, is supported.")
    values: Any = Refused
    extract: Any = Refused


class AssistantSearch(RequestBody):
    graph_id: str | None = None
    name: str | None = Field(None, description="A part of the name.")
    metadata: Metadata = Field(None, description="Assistants have no metadata: only `{}` finds some.")
    limit: int = Limit
    offset: int = Field(0, ge=0, le=10_000)
    sort_by: Any = Field(None, description="Ignored: they are sorted by name.")
    sort_order: Any = Ignored
    select: list[str] | None = Field(None, description="The fields to return; all if left out.")


class StateAt(RequestBody):
    checkpoint: Checkpoint
    subgraphs: Any = Ignored
    select: Any = Ignored


class HistorySearch(RequestBody):
    limit: int = Limit
    before: str | Checkpoint | dict[str, Any] | None = Field(None, description="Only states before this checkpoint.")
    metadata: Metadata = Ignored
    checkpoint: Any = Ignored
    select: Any = Ignored


class ErrorDetail(BaseModel):
    detail: str = Field(description="What is wrong and what to do, for people.")
    code: str = Field(description="The error, for programs.")


class AssistantNotFound(NotFound):
    """This server declares no agent with that name. `POST /langgraph/assistants/search` lists them."""

    code = "assistant_not_found"


class ThreadExists(Conflict):
    """A thread with that id exists. Send `if_exists: do_nothing` to use it."""

    code = "thread_exists"


class NothingToResume(Conflict):
    """No run of the thread waits for an answer. Send `input` to start one."""

    code = "nothing_to_resume"


class NoInput(BadRequest):
    """The input must have messages that end with one of the user, or other values."""

    code = "no_input"
