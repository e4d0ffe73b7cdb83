"""Make requests, parts, decisions, and runs in a given state, for store tests."""

from collections.abc import Sequence
from typing import Any

from anyio import sleep
from msgspec.structs import replace

from runyard.base.clock import SystemClock
from runyard.base.ids import new_id
from runyard.domain.conversations.thread import Message, Thread
from runyard.domain.events import (
    ApprovalDecided,
    ApprovalRequested,
    Draft,
    Drafter,
    MessageReceived,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunQueued,
    RunWaiting,
    Usage,
)
from runyard.domain.runs.append import Appended, Finish, Move, Outcome, Park, Part
from runyard.domain.runs.run import Fate, Run, Status, StopReason, thread_lane
from runyard.domain.wait import Wait
from runyard.store import Accepted, IdempotencyKey, LogCopy, Post, Store

ANN = "ann"
BOB = "bob"
MINUTE = 60_000
MANY = 1000

clock = SystemClock()
draft = Drafter(clock, "worker")
token = draft.token


# --- requests -------------------------------------------------------------------------------------------------------


def a_key(key: str = "key", digest: str = "digest", scope: str = "ann: POST") -> IdempotencyKey:
    return IdempotencyKey(scope, key, digest)


def a_thread(owner: str = ANN, agent: str | None = None) -> Thread:
    return Thread(id=new_id(), owner=owner, agent=agent, created_at=clock.now_ms())


def a_post(
    thread: Thread | str | None = None,
    text: str = "hello",
    *,
    owner: str = ANN,
    lane: str | None = None,
    agent: str | None = None,
    key: IdempotencyKey | None = None,
    face: str = "native",
) -> Post:
    """A message to a thread, which is its lane; or a request without thread and message, in a separate lane."""
    run_id, now = new_id(), clock.now_ms()
    thread_id = thread.id if isinstance(thread, Thread) else thread
    message = None
    if thread_id is not None:
        message = Message(id=new_id(), thread_id=thread_id, role="user", text=text, run_id=run_id, created_at=now)
    return Post(
        owner=owner,
        face=face,
        run_id=run_id,
        lane_key=lane or (thread_lane(thread_id) if thread_id is not None else f"run:{run_id}"),
        default_agent="default",
        queued=lambda agent: Drafter(clock, "api")(RunQueued(agent, message.id if message else None)),
        created_at=now,
        thread_id=thread_id,
        agent=agent,
        message=message,
        key=key,
    )


def a_chat_post(name: str, text: str = "hello", *, owner: str = ANN, key: IdempotencyKey | None = None) -> Post:
    """A message to the thread that its client calls `name`, whether there is one or not."""
    thread = replace(a_thread(owner), external_id=name)
    return replace(a_post(thread, text, owner=owner, key=key, face="chats"), thread=thread)


def received(post: Post) -> Draft:
    """The event of a message for a run that is under way."""
    assert post.message is not None
    return Drafter(clock, "api")(MessageReceived(post.message.id, post.message.text))


def a_log_copy(run: Run, thread: Thread, text: str = "hello") -> LogCopy:
    """The beginning of a run, and one event more, as the first run of a thread."""
    run_id, now = new_id(), clock.now_ms()
    message = Message(id=new_id(), thread_id=thread.id, role="user", text=text, run_id=run_id, created_at=now)
    drafts = [draft(RunQueued(run.agent, message.id)), token("so far"), *last_words(Status.CANCELED)]
    copy = Run(
        id=run_id,
        owner=run.owner,
        face=run.face,
        lane_key=thread_lane(thread.id),
        pos=0,
        agent=run.agent,
        status=Status.CANCELED,
        stop_reason="cancelled",
        created_at=now,
        finished_at=now,
        thread_id=thread.id,
        trigger_message_id=message.id,
        parent_id=run.parent_id,
        last_seq=len(drafts),
    )
    return LogCopy(copy, message, drafts)


async def post(store: Store, request: Post | None = None) -> str:
    """Have one request accepted; the run's id."""
    [accepted] = await store.accept([request or a_post()])
    assert isinstance(accepted, Accepted)
    return accepted.run_id


# --- the log --------------------------------------------------------------------------------------------------------


class Writer:
    """The parts of one claim, numbered as the journal numbers them."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.batch = 0

    def part(self, *drafts: Draft, **more: Any) -> Part:
        self.batch += 1
        fields = {"run_id": self.run.id, "lane_key": self.run.lane_key, "fence": self.run.fence, "batch": self.batch}
        return Part(**{**fields, "drafts": drafts, **more})

    def finish(self, status: Status = Status.DONE, answer: str | None = None) -> Part:
        return self.part(*last_words(status), move=finish(self.run, status, answer))

    def park(self, *approvals: Wait, hold: bool = True) -> Part:
        """Ask these questions and wait for them, in one part."""
        ids = [approval.id for approval in approvals]
        drafts = [*map(approval_request, approvals), draft(RunWaiting(ids))]
        return self.part(*drafts, waits=approvals, move=Park(waits=ids, hold=hold, first_token_ms=30))


async def append(store: Store, *parts: Part) -> Outcome:
    """The outcome of the first part."""
    return (await store.append(parts))[0]


async def written(store: Store, *parts: Part) -> Appended:
    outcome = await append(store, *parts)
    assert isinstance(outcome, Appended)
    return outcome


async def log(store: Store, run_id: str) -> list[str]:
    return [event.type for event in await store.read(run_id, 0, MANY)]


def last_words(status: Status) -> list[Draft]:
    """The events that come directly before a run's end, and its end."""
    match status:
        case Status.DONE:
            return [draft(RunOutput("the answer")), draft(RunFinished("done", "end_turn"))]
        case Status.CANCELED:
            return [draft(RunCanceled("on request")), draft(RunFinished("canceled", "cancelled"))]
        case _:
            return [draft(RunError("failed", "It failed.")), draft(RunFinished("error", "error"))]


def finish(run: Run, status: Status = Status.DONE, answer: str | None = None) -> Move:
    said = None
    if answer is not None:
        assert run.thread_id is not None
        said = Message(
            id=new_id(),
            thread_id=run.thread_id,
            role="assistant",
            text=answer,
            run_id=run.id,
            sources=["cv_001"],
            created_at=clock.now_ms(),
        )
    reasons: dict[Status, StopReason] = {Status.DONE: "end_turn", Status.CANCELED: "cancelled", Status.ERROR: "error"}
    usage, first = Usage(3, 4, 0.5), None if run.asked else 70  # a run that waited had its first token before
    return Finish(status=status, stop_reason=reasons[status], usage=usage, answer=said, first_token_ms=first)


def ending(run: Run, fate: Fate) -> Sequence[Draft]:
    """How the engine ends a run that has no worker to do it."""
    return last_words(Status.CANCELED if fate == "cancel" else Status.ERROR)


# --- approvals ------------------------------------------------------------------------------------------------------


def an_approval(run: Run) -> Wait:
    return Wait(
        id=new_id(),
        run_id=run.id,
        call_id="call_1",
        kind="tool",
        name="send_mail",
        input={"to": "ann"},
        created_at=clock.now_ms(),
    )


def approval_request(approval: Wait) -> Draft:
    return draft(ApprovalRequested(approval.id, approval.call_id, "tool", approval.name, approval.input))


def decision(approval: Wait, by: str = ANN) -> Draft:
    return Drafter(clock, "api")(ApprovalDecided(approval.id, "approved", by))


async def decide(store: Store, approval: Wait, by: str = ANN) -> Wait:
    return await store.answer(ANN, approval.id, "approved", by, decision(approval, by))


# --- runs in a given state ------------------------------------------------------------------------------------------


async def a_worker(store: Store, ttl_ms: int = MINUTE) -> str:
    worker_id = new_id()
    await store.register(worker_id, "test", ttl_ms)
    return worker_id


async def claims(store: Store, worker_id: str | None = None, limit: int = MANY, suspects: bool = False) -> list[Run]:
    """Claim runs for a worker (a new one, if none is named)."""
    worker_id = worker_id or await a_worker(store)
    return [claim.run for claim in await store.claim(worker_id, limit, suspects)]


async def claimed(store: Store, worker_id: str | None = None) -> Run:
    """The one run that is there to be claimed."""
    [run] = await claims(store, worker_id)
    return run


async def die(store: Store, worker_id: str | None) -> None:
    """The worker's lease runs out."""
    assert worker_id is not None
    assert (await store.heartbeat(worker_id, 0)).alive


async def lose(store: Store, run: Run, max_attempts: int = 100) -> None:
    """The run's worker dies, and the run is taken from it."""
    await die(store, run.worker_id)
    assert [reaped.run_id for reaped in await store.reap(MANY, max_attempts, ending)] == [run.id]


async def running(store: Store, request: Post | None = None) -> Run:
    run_id = await post(store, request)
    run = await claimed(store)
    assert run.id == run_id
    return run


async def waiting(store: Store, request: Post | None = None, hold: bool = True) -> tuple[Run, Wait]:
    run = await running(store, request)
    approval = an_approval(run)
    await written(store, Writer(run).park(approval, hold=hold))
    return await store.get_run(run.owner, run.id), approval


async def ended(store: Store, request: Post | None = None, status: Status = Status.DONE) -> Run:
    run = await running(store, request)
    await written(store, Writer(run).finish(status))
    return await store.get_run(run.owner, run.id)


async def in_state(store: Store, status: Status, request: Post | None = None) -> Run:
    """A run in that status, alone in the store."""
    match status:
        case Status.QUEUED:
            return await store.get_run(ANN, await post(store, request))
        case Status.RUNNING:
            return await running(store, request)
        case Status.WAITING:
            return (await waiting(store, request))[0]
        case _:
            return await ended(store, request, status)


async def a_suspect(store: Store, lane: str) -> Run:
    """The first run of a ready lane, which lost its worker twice.

    Its back-off is cut short by a run before it in the lane, which parked without holding the lane, came back and
    ended: a lane that is let go of is ready at once.
    """
    first, approval = await waiting(store, a_post(lane=lane), hold=False)
    await post(store, a_post(lane=lane))
    await lose(store, await claimed(store))
    await lose(store, suspect := await claimed(store))
    await decide(store, approval)
    await store.cancel(ANN, first.id, 0, ending)
    return await store.get_run(ANN, suspect.id)


async def a_moment() -> None:
    """Let a few milliseconds pass, so that times before and after differ in every store."""
    await sleep(0.003)  # waits on purpose: the clock of Postgres cannot be moved
