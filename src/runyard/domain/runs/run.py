"""A run: one execution, from queued to exactly one of done, error, canceled."""

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from runyard.domain.events import Usage


class Status(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    ERROR = "error"
    CANCELED = "canceled"

    @property
    def is_terminal(self) -> bool:
        return self in TERMINAL_STATUSES


TERMINAL_STATUSES = frozenset({Status.DONE, Status.ERROR, Status.CANCELED})

# Which status may follow which. Back to queued: after a crash, a drain or a decision.
MOVES: dict[Status, frozenset[Status]] = {
    Status.QUEUED: frozenset({Status.RUNNING, Status.CANCELED}),
    Status.RUNNING: frozenset({Status.QUEUED, Status.WAITING, Status.DONE, Status.ERROR, Status.CANCELED}),
    Status.WAITING: frozenset({Status.QUEUED, Status.CANCELED}),
    Status.DONE: frozenset(),
    Status.ERROR: frozenset(),
    Status.CANCELED: frozenset(),
}

StopReason = Literal[
    "end_turn", "error", "max_steps", "max_tokens_exceeded", "cancelled", "no_tool_call", "invalid_tool_call"
]
# Messages for runs that are done but stopped at a limit.
STOPPED_EARLY: dict[str, str] = {
    "max_steps": "The agent stopped early: it has used all its turns (max_turns).",
    "max_tokens_exceeded": "The agent stopped early: its budget is spent (max_usd, max_output_tokens).",
    "invalid_tool_call": "The agent stopped early: its last tool calls were invalid.",
}
ResumeWhy = Literal["crash", "drain", "decision"]
State = Literal["started", "finished", "cancelled"]  # the outbox changes it when it publishes the end

# A run with this many claims and no progress may have killed its worker. Each process claims one such run at a time.
SUSPECT_ATTEMPTS = 2


class Run(Struct, frozen=True, kw_only=True):
    """A run as the store has it. Times are milliseconds since 1970. `asked` counts all waits that it requested.
    `external_id` is a client's name for it, unique per owner. After `detach_deadline` it is canceled, because its
    client disconnected.

    A `held` run waits for `after_run`, an earlier run that the same message started. `depth` is the number of agent
    messages (or parent runs) between it and a person's message. `parent_id` is the run before it on its branch;
    `parent_run_id` is the run that started it and waits for its end. `unread` counts messages that came while it was
    under way and that its agent has not taken. `has_client_tools`: its first event holds tools of the client or
    options. `first_token_ms` is the time from its creation to its first token, if that came before its first pause."""

    id: str
    owner: str
    face: str
    lane_key: str
    pos: int
    agent: str
    status: Status
    created_at: int
    thread_id: str | None = None
    trigger_message_id: str | None = None
    parent_id: str | None = None
    retry_of: str | None = None
    superseded_by: str | None = None
    agent_version: str | None = None
    stop_reason: str | None = None
    error_code: str | None = None
    error: str | None = None
    usage: Usage | None = None
    fence: int = 0
    last_seq: int = 0
    last_batch: int = 0
    attempts: int = 0
    resume_why: ResumeWhy | None = None
    worker_id: str | None = None
    asked: int = 0
    cancel_requested_at: int | None = None
    cancel_deadline: int | None = None
    started_at: int | None = None
    finished_at: int | None = None
    external_id: str | None = None
    state: State = "started"
    detach_deadline: int | None = None
    held: bool = False
    after_run: str | None = None
    depth: int = 0
    parent_run_id: str | None = None
    has_client_tools: bool = False
    unread: int = 0
    first_token_ms: int | None = None

    @property
    def in_mailbox(self) -> bool:
        """Return whether a message in a channel or a DM started it. Members see that it runs."""
        return self.thread_id is not None and self.lane_key.startswith(MAILBOX)


MAILBOX = "agent:"


class Feedback(Struct, frozen=True, kw_only=True):
    """A person's rating of a run's answer. A run has at most one; a later one replaces it."""

    run_id: str
    value: Literal["up", "down"]
    comment: str | None = None
    created_at: int = 0


def thread_lane(thread_id: str) -> str:
    """Return the lane of a thread: one run of it at a time."""
    return f"thread:{thread_id}"


def agent_lane(agent: str, owner: str) -> str:
    """Return the lane of an agent's mailbox: one run at a time for each owner of conversations. A shared agent has one
    mailbox for all owners (`EVERY_OWNER`). Neither name contains a colon."""
    return f"{MAILBOX}{agent}:{owner}" if owner else MAILBOX + agent


def run_lane(run_id: str) -> str:
    """Return a lane for this run alone, which waits for no other run."""
    return f"run:{run_id}"


Fate = Literal["requeue", "poison", "cancel"]


def fate_of_orphan(run: Run, max_attempts: int) -> Fate:
    """Return the fate of a running run whose worker died."""
    if run.cancel_requested_at is not None:
        return "cancel"
    return "poison" if run.attempts >= max_attempts else "requeue"


def backoff_ms(attempts: int) -> int:
    """Return the delay before a run that lost its worker is claimed again: 0, then 1 s, 2 s, 4 s ... up to a minute."""
    return 0 if attempts <= 1 else min(60_000, 1000 * 2 ** (attempts - 2))
