"""Requests and responses of the native face."""

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from runyard.base.fields import RequestBody
from runyard.domain.api_key import DEFAULT_SCOPES, OWNER, Scope
from runyard.engine.feedback import MOST_COMMENT_CHARS
from runyard.engine.shares import DEFAULT_DAYS, MOST_DAYS

RunStatus = Literal["queued", "running", "done", "error", "canceled"]


class RunUsage(BaseModel):
    input_tokens: int
    output_tokens: int
    usd: float


class FeedbackRow(BaseModel):
    value: Literal["up", "down"]
    comment: str | None
    created_at: str


class RunRow(BaseModel):
    run_id: str
    thread_id: str | None
    agent: str
    status: RunStatus = Field(description="The same values as in `GET /api/runs/{run_id}`.")
    waiting: bool = Field(description="Whether the run waits for a decision; its status is then `running`.")
    stop_reason: str | None
    attempts: int
    last_seq: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    error_code: str | None
    error: str | None
    retry_of: str | None
    superseded_by: str | None
    parent_run_id: str | None = Field(description="For a child run: the run that waits for it.")
    question: str | None = Field(description="The beginning of the message that the run answers.")
    usage: RunUsage = Field(
        description="Tokens and cost of the model calls, also of child runs, once the run has ended."
    )
    feedback: FeedbackRow | None = Field(description="A person's rating of the answer.")


class NewFeedback(RequestBody):
    value: Literal["up", "down"]
    comment: str | None = Field(None, max_length=MOST_COMMENT_CHARS)


class RunFeedback(BaseModel):
    feedback: FeedbackRow | None


class RunPage(BaseModel):
    runs: list[RunRow]
    next: str | None = Field(description="Give it as `before` to get the next page; null at the end.")


class ThreadRow(BaseModel):
    thread_id: str
    kind: str
    agent: str | None
    head_run_id: str | None
    created_at: str
    title: str | None = Field(description="The given title, or the first words of the first message.")


class NewTitle(RequestBody):
    title: str = Field(min_length=1, max_length=200)


class NewShare(RequestBody):
    days: int = Field(DEFAULT_DAYS, ge=1, le=MOST_DAYS, description="How long the link is valid.")


class ShareRow(BaseModel):
    share_id: str
    created_at: str
    expires_at: str


class SharePage(BaseModel):
    shares: list[ShareRow]


class ShareMade(ShareRow):
    token: str = Field(description="The secret of the link. It is shown once.")
    path: str = Field(description="The path of the page that shows the conversation.")


class SharedMessage(BaseModel):
    role: str
    content: str
    created_at: str
    files: list[str] = Field(description="The names of its files.")


class SharedThread(BaseModel):
    title: str | None
    shared_at: str
    expires_at: str
    messages: list[SharedMessage]


class TitleHit(BaseModel):
    thread_id: str
    title: str
    marks: list[tuple[int, int]]


class SearchHit(BaseModel):
    thread_id: str = Field(description="The chat, channel or DM.")
    kind: Literal["chat", "channel", "dm"]
    title: str | None = Field(description="Of the chat; the name of the channel; the participants of the DM.")
    message_id: str
    run_id: str | None
    role: str
    created_at: str
    text: str = Field(description="The piece of the message around the first word that was found.")
    marks: list[tuple[int, int]] = Field(description="The words that were found: start and end in `text`.")


class SearchPage(BaseModel):
    threads: list[TitleHit] = Field(description="Threads whose given title has the words; on the first page only.")
    messages: list[SearchHit]
    next: str | None


class FoundIds(BaseModel):
    ids: list[str] = Field(description="Whole ids, at most 11.")


class ThreadPage(BaseModel):
    threads: list[ThreadRow]
    next: str | None


class Fork(RequestBody):
    run_id: str | None = Field(None, description="The run to continue from; the last run of the thread if left out.")
    at_seq: int | None = Field(
        None,
        ge=1,
        le=2**53,
        description="Continue after this event; if left out, after the end of the run, which must have ended.",
    )


class ThreadMade(BaseModel):
    thread_id: str


class Source(BaseModel):
    collection: str
    id: str
    title: str
    text: str


class Sources(BaseModel):
    sources: list[Source]


class ModelRequest(BaseModel):
    step: str
    model: str
    messages: list[dict[str, Any]] = Field(description="In the format of OpenAI's chat API. Files are references.")
    tools: list[dict[str, Any]]
    answer: dict[str, Any] | None = Field(description="The JSON Schema of the answer that was asked for.")
    notes: list[str] = Field(description="Where it may differ from what was sent, because it is not in the log.")


class RunMade(BaseModel):
    run_id: str


class ApprovalRow(BaseModel):
    approval_id: str
    run_id: str
    call_id: str
    kind: str
    tool: str
    input: Any
    state: str
    created_at: str
    agent: str | None = Field(description="The agent of the run.")
    question: str | None = Field(description="The beginning of the message that the run answers.")


class ApprovalPage(BaseModel):
    approvals: list[ApprovalRow]
    next: str | None


class Decision(RequestBody):
    other_words: ClassVar = {"tool_input": "input", "approved": "decision"}  # names of the chats face

    decision: Literal["approve", "reject"]
    reason: str | None = Field(None, description="With reject: the reason, for the agent.")
    input: dict[str, Any] | None = Field(None, description="With approve: call the tool with this input instead.")


class WaitRow(BaseModel):
    wait_id: str
    run_id: str
    call_id: str
    kind: str = Field(description="`tool`, `unknown_outcome` or `confirmation` (approvals), `question`, `client_tool`.")
    name: str = Field(description="The tool, or `ask` for a question.")
    prompt: str | None = Field(description="The question.")
    input: Any = Field(description="The input of the tool, in the order of its declaration.")
    answer_schema: dict[str, Any] | None = Field(description="The JSON Schema of the answer; null: any JSON value.")
    state: str
    created_at: str
    expires_at: str | None
    agent: str | None = Field(description="The agent of the run.")
    question: str | None = Field(description="The message that the run answers; in a list its beginning.")
    question_cut: bool = Field(description="Whether `question` is cut; `GET /api/waits/{wait_id}` has all of it.")


class WaitPage(BaseModel):
    waits: list[WaitRow]
    next: str | None


class Answer(RequestBody):
    value: Any = Field(None, description="The answer. It must fit the schema of the wait.")
    error: str | None = Field(None, description="For a client's tool that failed: a message for the model.")


class NewEvent(RequestBody):
    id: str = Field(min_length=1, max_length=200, description="The sender's id. A repeated id is delivered once.")
    name: str = Field(min_length=1, max_length=200, description="The name that runs wait for, such as `order.paid`.")
    key: str | None = Field(None, max_length=500, description="Which one, such as the id of an order.")
    data: Any = Field(None, description="What the waiting run gets.")


class EventTaken(BaseModel):
    delivered: bool = Field(description="False if an event with this id was delivered before.")


class NewKey(RequestBody):
    owner: str = Field(pattern=f"^{OWNER}$", description="The owner whose threads and runs the key opens.")
    label: str = Field("", max_length=200, description="A description of the key.")
    scopes: list[Scope] = Field(sorted(DEFAULT_SCOPES), min_length=1, max_length=10)
    expires_in: int | None = Field(
        None, ge=1, le=10 * 366 * 86_400, description="Seconds until the key expires; null: never."
    )


class Me(BaseModel):
    owner: str = Field(description="The owner of the key that the request has.")
    scopes: list[Scope]
    can_share: bool = Field(description="Whether threads can be shared by links.")


class KeyRow(BaseModel):
    key_id: str
    owner: str
    label: str
    scopes: list[Scope]
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None


class KeyMade(KeyRow):
    key: str


class KeyPage(BaseModel):
    keys: list[KeyRow]
    next: str | None


class OutboxState(BaseModel):
    runs_behind: int = Field(description="Runs with committed events that are not published yet.")
    lag_ms: int = Field(description="Age of the oldest of those events.")


class WorkerState(BaseModel):
    label: str
    lease_left_ms: int = Field(description="Below zero: the lease has expired, and the runs will be reassigned.")
    runs: int


class PodState(BaseModel):
    open_streams: int
    runs: int


class DatabaseState(BaseModel):
    version: str
    latency_ms: float
    clock_skew_ms: int = Field(description="Database clock minus this process's clock.")
    size_bytes: int
    xmin_age: int | None = Field(description="Transactions since the oldest open snapshot; Postgres only.")


class Overview(BaseModel):
    queued: int = Field(description="Counts stop at 100000.")
    oldest_waiting_ms: int = Field(description="How long the oldest ready lane has waited for a worker.")
    running: int
    approvals_waiting: int
    outbox: OutboxState
    workers: list[WorkerState]
    pod: PodState = Field(description="The process that sends this response.")
    database: DatabaseState


class FileRow(BaseModel):
    file_id: str
    name: str
    type: str = Field(description="The media type, such as `image/png`.")
    size: int = Field(description="The number of bytes.")
    created_at: str
