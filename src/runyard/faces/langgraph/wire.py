"""Requests and responses of the face for LangGraph. The names are those of its API.

An agent has its own settings, so options that tune a graph are accepted and ignored. Options that would change what
happens are refused, see `refuse_unsupported`.
"""

from typing import Any, Literal

from pydantic import BaseModel, Field

from runyard.base.fields import RequestBody
from runyard.errors import BadRequest, Conflict, Invalid, NotFound

Mode = Literal["values", "messages-tuple", "messages", "updates", "custom"]
MODES: tuple[Mode, ...] = ("values", "messages-tuple", "messages", "updates", "custom")
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
        None,
        description="If a run of the thread is under way. `rollback` cancels it and supersedes it: its messages are no"
        " longer part of the thread.",
    )
    if_not_exists: Literal["create", "reject"] | None = Field(None, description="If the thread does not exist.")
    on_disconnect: Literal["continue", "cancel"] | None = Field(
        None, description="`cancel`: cancel the run if the client closes this connection. By default the run continues."
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
    webhook: str | None = Field(
        None, max_length=2000, description="An address that gets the run when it has ended, or waits for the client."
    )

    @property
    def checkpoint_name(self) -> str | None:
        return self.checkpoint_id or (None if self.checkpoint is None else self.checkpoint.checkpoint_id)

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
    if body.on_completion == "delete":
        raise Unsupported("This server does not delete a thread after a run. Delete the thread, or set a retention.")


class Unsupported(Invalid):
    """The request has an option that this server does not support."""

    code = "unsupported"


class Update(RequestBody):
    values: Any = Field(None, description="`{messages: [...]}`: messages of the user, the agent or the system.")
    command: Any = Refused
    as_node: Any = Ignored


class Superstep(RequestBody):
    updates: list[Update] = Field(max_length=1000)


class NewThread(RequestBody):
    thread_id: str | None = Field(None, min_length=1, max_length=NAME_LENGTH, description="Your own id for the thread.")
    metadata: Metadata = Field(None, description="Your own values; `graph_id` names the agent of the thread.")
    if_exists: Literal["raise", "do_nothing"] | None = Field(None, description="If the thread exists. Default: 409.")
    ttl: Any = Refused
    supersteps: list[Superstep] | None = Field(
        None, max_length=1000, description="States to begin with: their messages are those of the thread."
    )


class ThreadChange(RequestBody):
    metadata: Metadata = Field(None, description="Values to add or replace.")
    ttl: Any = Refused


class ThreadCount(RequestBody):
    metadata: Metadata = Field(None, description="Only threads whose metadata has these values.")
    status: Literal["idle", "busy", "interrupted", "error"] | None = None
    values: dict[str, Any] | None = Field(None, description="Only threads whose state has these values.")


class ThreadSearch(ThreadCount):
    ids: list[str] | None = Field(None, max_length=MOST_ROWS)
    limit: int = Limit
    offset: int = Field(0, ge=0, le=10_000)
    select: list[str] | None = Field(None, description="The fields to return; all if left out.")
    sort_by: Literal["thread_id", "created_at", "updated_at", "state_updated_at", "status"] | None = Field(
        None, description="`created_at` and `thread_id` are the order of creation; `updated_at` that of the last run."
    )
    sort_order: Literal["asc", "desc"] | None = Field(None, description="By default `desc`: the newest first.")
    extract: Any = Refused


class NewAssistant(RequestBody):
    graph_id: str = Field(description="The name of an agent.")
    assistant_id: str | None = Field(None, description="The same name.")
    if_exists: Literal["raise", "do_nothing"] | None = Field(
        None, description="`do_nothing`: return the agent, whatever settings the request has."
    )
    name: str | None = None
    description: str | None = None
    config: dict[str, Any] | None = None
    context: Any = None
    metadata: Metadata = None


class AssistantCount(RequestBody):
    graph_id: str | None = None
    name: str | None = Field(None, description="A part of the name.")
    metadata: Metadata = Field(None, description="Assistants have no metadata: only `{}` finds some.")


class AssistantSearch(AssistantCount):
    limit: int = Limit
    offset: int = Field(0, ge=0, le=10_000)
    sort_by: Any = Field(None, description="Ignored: they are sorted by name.")
    sort_order: Any = Ignored
    select: list[str] | None = Field(None, description="The fields to return; all if left out.")


class VersionSearch(RequestBody):
    metadata: Metadata = Field(None, description="Assistants have no metadata: only `{}` finds some.")
    limit: int = Limit
    offset: int = Field(0, ge=0, le=10_000)


class StateAt(RequestBody):
    checkpoint: Checkpoint
    subgraphs: Any = Ignored
    select: Any = Ignored


class HistorySearch(RequestBody):
    limit: int = Limit
    before: str | Checkpoint | dict[str, Any] | None = Field(None, description="Only states before this checkpoint.")
    metadata: Metadata = Field(None, description="Only states of runs whose metadata has these values.")
    checkpoint: Any = Ignored
    select: Any = Ignored


class StateUpdate(RequestBody):
    values: Any = Field(None, description="`{messages: [...]}`: messages to add to the thread.")
    as_node: Any = Ignored
    checkpoint: Checkpoint | None = Field(None, description="Add them after this state; later runs are superseded.")
    checkpoint_id: str | None = Field(None, description="The same, by its id.")

    @property
    def checkpoint_name(self) -> str | None:
        return self.checkpoint_id or (None if self.checkpoint is None else self.checkpoint.checkpoint_id)


class RunsToCancel(RequestBody):
    thread_id: str | None = Field(None, description="The thread of `run_ids`.")
    run_ids: list[str] | None = Field(None, max_length=MOST_ROWS)
    status: Literal["pending", "running", "all"] | None = Field(None, description="Cancel all runs with this status.")


class StateMetadata(RequestBody):
    metadata: Metadata = Field(None, description="Values to add to the metadata of the thread.")


# --- the thread stream


class EventsWanted(RequestBody):
    channels: list[str] = Field(
        min_length=1, max_length=100, description="`values`, `messages`, `tools`, `lifecycle`, `input` and so on."
    )
    namespaces: list[list[str]] | None = Field(
        None, max_length=100, description="All events have the empty namespace, that of the agent itself."
    )
    depth: int | None = Field(None, ge=0, description="Ignored: there are no deeper namespaces.")
    since: int | None = Field(None, ge=0, lt=2**53, description="Only events with a larger seq; 0: all.")


class ThreadCommand(RequestBody):
    id: int = Field(ge=0, lt=2**53, description="The number of the command. The response repeats it.")
    method: str = Field(max_length=NAME_LENGTH, description="`run.start`, `input.respond`, `state.get` and so on.")
    params: dict[str, Any] | None = Field(None, description="The arguments of the command.")


class RunStart(RequestBody):
    assistant_id: str
    input: Any = None
    config: dict[str, Any] | None = None
    metadata: Metadata = None
    multitask_strategy: str | None = None
    multitaskStrategy: str | None = None  # noqa: N815 - as the client for Node spells it
    langsmith_tracer: Any = None


class InterruptResponse(RequestBody):
    interrupt_id: str
    response: Any = None
    namespace: Any = None


class Respond(RequestBody):
    interrupt_id: str | None = None
    response: Any = None
    responses: list[InterruptResponse] | None = Field(None, max_length=MOST_ROWS)
    namespace: Any = None
    update: Any = None
    goto: Any = None
    config: Any = None
    metadata: Any = None


class StateGet(RequestBody):
    namespace: Any = None
    keys: list[str] | None = None


class ListCheckpoints(RequestBody):
    namespace: Any = None
    limit: int = Limit
    before: str | None = None


class StateFork(RequestBody):
    checkpoint_id: str
    input: Any = None
    config: dict[str, Any] | None = None


class ErrorDetail(BaseModel):
    detail: str = Field(description="What is wrong and what to do, for people.")
    code: str = Field(description="The error, for programs.")


class AssistantNotFound(NotFound):
    """No assistant found for that id: it is the name of an agent. `POST /langgraph/assistants/search` lists them."""

    code = "assistant_not_found"


class ThreadExists(Conflict):
    """A thread with that id exists. Send `if_exists: do_nothing` to use it."""

    code = "thread_exists"


class NothingToResume(Conflict):
    """No run of the thread waits for an answer. Send `input` to start one."""

    code = "nothing_to_resume"


class NoMessages(BadRequest):
    """The update must have messages, each with a text."""

    code = "no_messages"


class NoInput(BadRequest):
    """The input must have messages that end with one of the user, or other values."""

    code = "no_input"
