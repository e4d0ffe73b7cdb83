"""One claimed run, from fold to finish: read what is on record, let the agent's runner go on, append what it yields,
end it.

Resume after a crash, a drain or a decision is this same path. Whatever happens in the agent ends as exactly one move
of the run: finished (done, error, canceled), parked, released; or nothing at all, if another worker has it by now.
The runner works in a task of its own, so that a stop never cuts the write that records the outcome.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
import structlog
from msgspec import UNSET
from msgspec.structs import replace

from runyard.agents.agent import Agent, Output, equipped
from runyard.agents.calls import at_work
from runyard.agents.execution import Answered, Canceled, Parked
from runyard.agents.runners import RUNNERS
from runyard.clock import Clock
from runyard.domain.append import Finish, Park, Release
from runyard.domain.approval import Approval
from runyard.domain.events import (
    ApprovalRequested,
    Draft,
    Drafter,
    ModelMessage,
    Payload,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunResumed,
    RunWaiting,
    ToolFinished,
    Usage,
    clean,
)
from runyard.domain.fold import State
from runyard.domain.ledger import Keeper
from runyard.domain.run import Run, Status, StopReason
from runyard.domain.task import Task, deadline
from runyard.domain.thread import Message
from runyard.engine.journal import Journal, Pen
from runyard.engine.limits import OutputLimits
from runyard.engine.past import fitting, folded, past
from runyard.engine.redacting import Redacting
from runyard.engine.run_trace import RunTrace
from runyard.errors import (
    AgentError,
    CancelRequested,
    ContextTooLong,
    EventTooLarge,
    Fenced,
    NotParked,
    RunyardError,
    Unreadable,
    WriteRefused,
)
from runyard.ids import new_id
from runyard.store import Claim, Hit, Store
from runyard.telemetry.metrics import Metrics
from runyard.telemetry.spans import Recorder, Tracer

if TYPE_CHECKING:
    from runyard.domain.redaction import Redactor

log = structlog.get_logger()

P = TypeVar("P", bound=Payload)
UNKNOWN_AGENT_DELAY_MS = 2000
NO_LIMITS = OutputLimits()
Stop = Literal["cancel", "drain", "lost"]
Think = Callable[[Agent], Awaitable[Output | None]]
Orchestrate = Callable[[Agent, Run, Think], Awaitable[Output | None]]


class Execution:
    """The engine's side of `agents.execution.Execution`."""

    def __init__(self, engine: "Executor", claim: Claim, pen: Pen, state: State, trace: RunTrace | None = None) -> None:
        self._engine = engine
        self._pen = pen
        self.run: Run = claim.run
        self.message: Message | None = claim.message or _spoken(claim.run, state.task)
        self.deadline = deadline(claim.run.created_at, state.task)
        self.state = state
        self.usage: Usage | None = state.usage
        self.cancelled = False
        self._is_silent = state.last_seq <= 1
        self.redactor = engine.redactor
        self._redacting = None if engine.redactor is None else Redacting(engine.redactor)
        self._trace = trace
        self._keeper = Keeper(claim.run.id, len(state.messages)) if claim.run.in_mailbox else None

    def told(self, agent: Agent) -> None:
        """What the model of this agent is told first."""
        if self._keeper is not None:
            self._keeper.told(agent.instructions, None if self.message is None else self.message.text)

    @property
    def congested(self) -> bool:
        return self._pen.congested

    def emit(self, payload: P) -> P:
        stored, now = (payload, [payload]) if self._redacting is None else self._redacting.stored(payload)
        for each in now:
            draft = self._engine.draft(each)
            if self._is_too_large(draft, each):
                each = stored = self._cut(stored)
                draft = self._engine.draft(each)
            if self._keeper is not None and (ledger := self._keeper.entries(each, self.now_ms())) is not None:
                self._pen.note(ledger)
            if self._trace is not None:
                self._trace.event(each)
            self._pen.write(draft)
        if isinstance(payload, ModelMessage) and payload.usage is not None:
            self.usage = (self.usage or Usage()) + payload.usage
            self._engine.metrics.model_used(self.run.agent, payload.usage)
        elif isinstance(stored, ToolFinished):
            self._engine.metrics.tool_called(self.run.agent, stored.tool, stored.error)
        return stored

    def _is_too_large(self, draft: Draft, payload: Payload) -> bool:
        limits = self._engine.limits
        most = limits.tool_output_bytes if isinstance(payload, ToolFinished) else limits.event_bytes
        return most is not None and len(draft.data) > most

    def _cut(self, payload: P) -> P:
        """What takes the place of something too large: of a tool's output an error that its caller can be told."""
        if not isinstance(payload, ToolFinished):
            raise EventTooLarge
        said = f"Error executing tool: its output is larger than {self._engine.limits.tool_output_bytes} bytes."
        return replace(payload, output=said, error="output_too_large")

    def token(self, text: str) -> None:
        if self._is_silent:
            self._is_silent = False
            self._engine.metrics.first_token(self.run.agent, (self.now_ms() - self.run.created_at) / 1000)
        draft = self._engine.draft.token(text)
        if len(draft.data) > self._engine.most_event_bytes:
            raise EventTooLarge
        self._pen.write(draft)

    def ask(self, approval: Approval, *payloads: Payload) -> None:
        patience = self._engine.approval_ms
        if patience is not None and approval.expires_at is None:
            approval = replace(approval, expires_at=approval.created_at + patience)
        if self.deadline is not None:  # an answer that comes later would be for nobody
            approval = replace(approval, expires_at=min(self.deadline, approval.expires_at or self.deadline))
        asked = [_until(payload, approval.expires_at) for payload in payloads]
        if self._redacting is not None:
            approval = self._redacting.approval(approval)
            asked = [each for payload in asked for each in self._redacting.stored(payload)[1]]
        self._pen.ask(approval, [self._engine.draft(payload) for payload in asked])

    @property
    def left(self) -> float | None:
        """Seconds until the run must have ended."""
        return None if self.deadline is None else max(0, self.deadline - self.now_ms()) / 1000

    async def commit(self) -> None:
        await self._pen.commit()

    async def drain(self) -> None:
        await self._pen.drain()

    async def history(self, limit: int) -> Sequence[Message]:
        said = await self._engine.store.history(self.run.id, limit)
        return said[len(said) - fitting([len(message.text) for message in reversed(said)], self._history_chars) :]

    def past(self, limit: int) -> AsyncIterator[list[dict[str, Any]]]:
        return past(self._engine.store, self.run, limit, self._history_chars)

    @property
    def _history_chars(self) -> int | None:
        return self._engine.limits.history_chars

    async def search(self, collection: str, query: str, limit: int) -> Sequence[Hit]:
        return await self._engine.store.search(collection, query, limit)

    def now_ms(self) -> int:
        return self._engine.clock.now_ms()

    def new_id(self) -> str:
        return new_id()


class Executor:
    def __init__(
        self,
        store: Store,
        journal: Journal,
        clock: Clock,
        agents: Mapping[str, Agent],
        stop_seconds: float,
        approval_seconds: float | None = None,
        workspaces: Path = Path(".runyard/workspaces"),
        redactor: "Redactor | None" = None,
        hired: Callable[[str], Awaitable[Agent | None]] | None = None,
        office: Orchestrate | None = None,
        tracer: Tracer | None = None,
        metrics: Metrics | None = None,
        limits: OutputLimits = NO_LIMITS,
    ) -> None:
        """`hired` finds agents that are not declared in code; `office` sees to those that work in their mailbox."""
        self.office = office
        self.tracer = tracer or Tracer(Recorder())
        self.metrics = metrics or Metrics()
        self.limits = limits
        self.most_event_bytes = limits.event_bytes or sys.maxsize
        self.redactor = redactor
        self._hired = hired
        self.store = store
        self.journal = journal
        self.clock = clock
        self.agents = agents
        self.versions = {name: agent.version for name, agent in agents.items()}
        self.draft = Drafter(clock, "worker")
        self.stop_seconds = stop_seconds
        self.approval_ms = None if approval_seconds is None else int(approval_seconds * 1000)
        self.workspaces = workspaces

    async def agent(self, name: str) -> Agent | None:
        if name in self.agents or self._hired is None:
            return self.agents.get(name)
        return await self._hired(name)

    def begin(self, claim: Claim) -> "Running":
        return Running(self, claim)

    def dequeued(self, claims: Sequence[Claim], began: float) -> None:
        """What was claimed of mailboxes, and since when it was looked for."""
        for claim in claims:
            if claim.run.in_mailbox:
                span = self.tracer.root("mailbox.dequeue", claim.run.id, began, agent=claim.run.agent)
                self.tracer.end(span)

    async def give_back(self, run: Run) -> None:
        """Put a run that was claimed, but that nobody here works on, back into the queue."""
        try:
            await self.journal.open(run).move(Release(), [])
        except RunyardError as error:
            log.warning("run.not_given_back", run_id=run.id, code=error.code)


class Running:
    """A run that this process holds. `stop` may be called at any time, from the same loop."""

    def __init__(self, engine: Executor, claim: Claim) -> None:
        self._engine = engine
        self._claim = claim
        self._run = claim.run
        self._pen = engine.journal.open(claim.run)
        self._draft = engine.draft
        self._stopped: asyncio.Future[Stop] = asyncio.get_running_loop().create_future()
        self._execution: Execution | None = None
        self._trace: RunTrace | None = None
        self._outcome = "lost"
        self._pen.on_cancel = lambda: self.stop("cancel")

    @property
    def run(self) -> Run:
        return self._run

    @property
    def leaves_work(self) -> bool:
        """Whether its lane had something to claim when the run left it."""
        return self._pen.lane_ready

    def stop(self, why: Stop) -> None:
        """Cancel, drain, or forget (lost): the agent is interrupted; the first reason counts, but lost beats all."""
        if why == "lost":
            self._pen.abandon()
        if not self._stopped.done():
            self._stopped.set_result(why)
            if self._execution is not None:
                self._execution.cancelled = why == "cancel"

    async def go(self) -> None:
        """Run to the end of the claim. Never raises."""
        bound = {"run_id": self._run.id, "agent": self._run.agent}
        waited = (self._run.started_at or self._run.created_at) - self._run.created_at
        self._engine.metrics.run_claimed(waited / 1000, self._run.resume_why)
        with structlog.contextvars.bound_contextvars(**bound):
            try:
                if self._run.in_mailbox:
                    await self._traced()
                else:
                    await self._to_its_move()
            except Fenced:
                log.info("run.lost", fence=self._run.fence)
            except WriteRefused as error:
                log.error("run.unwritable", code=error.code)
                await self._give_up()
            except RunyardError as error:
                log.error("run.unwritten", code=error.code)
            finally:
                self._pen.abandon()

    async def _traced(self) -> None:
        tracer = self._engine.tracer
        trace = self._trace = RunTrace(tracer, self._run)
        try:
            with tracer.inside(trace.root):
                await self._to_its_move()
        finally:
            trace.end(self._outcome)

    async def _give_up(self) -> None:
        """The store will not take an event of this run: end it without that, or leave it to the reaper."""
        self._pen.start_over()
        try:
            await self._end_error("unwritable", "An event of this run could not be stored.")
        except RunyardError as error:
            log.error("run.unwritten", code=error.code)

    async def _to_its_move(self) -> None:
        agent = await self._engine.agent(self._run.agent)
        if agent is None:
            log.warning("run.unknown_agent")
            await self._pen.move(Release(delay_ms=UNKNOWN_AGENT_DELAY_MS), [])
            return
        if self._run.cancel_requested_at is not None:
            await self._end_canceled()
            return
        try:
            state = await self._folded()
        except Unreadable as error:
            await self._end_error(error.code, error.message)
            return
        if self._run.resume_why is not None:
            self._pen.write(self._draft(RunResumed(state.attempt + 1, self._run.resume_why)))
        execution = self._execution = Execution(self._engine, self._claim, self._pen, state, self._trace)
        if not _may_continue(agent, self._run, state):
            await self._end_error("code_changed", "The agent's code has changed since this run began.")
            return
        if execution.left == 0:
            await self._end_error(TookTooLong.code, TookTooLong.late)
            return
        runner = asyncio.create_task(_limited(agent, execution, self._engine), name=f"run {self._run.id}")
        either: set[asyncio.Future[Any]] = {runner, self._stopped}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not runner.done():
            runner.cancel()
            await asyncio.wait({runner}, timeout=self._engine.stop_seconds)
        await self._conclude(agent, runner)

    async def _folded(self) -> State:
        """The log so far. A run that was never begun has only its first event; if a message caused it, that says
        nothing new."""
        if isinstance(self._claim.problem, Unreadable):
            raise self._claim.problem
        if self._run.last_seq <= 1 and self._run.trigger_message_id is not None:
            return State(agent=self._run.agent)
        return await folded(self._engine.store, self._run)

    async def _conclude(self, agent: Agent, runner: "asyncio.Task[Output | None]") -> None:
        """Turn how the runner ended into the run's move; a stop counts only if the agent did not end by itself."""
        error = _error_of(runner)
        try:
            if error is None:
                await self._end_done(runner.result())
            elif isinstance(error, Parked):
                await self._park(agent, error.approvals)
            elif isinstance(error, asyncio.CancelledError | Canceled):
                await self._interrupted()
            elif isinstance(error, WriteRefused):
                raise error
            elif isinstance(error, ContextTooLong):
                await self._end_error(error.code, error.message, "max_tokens_exceeded")
            elif isinstance(error, AgentError):
                await self._end_error(error.code, error.message)
            else:
                log.warning("run.agent_raised", error=type(error).__name__)
                await self._end_error("agent_error", f"The agent raised {type(error).__name__}.")
        except CancelRequested:
            await self._end_canceled()

    async def _interrupted(self) -> None:
        why = self._stopped.result() if self._stopped.done() else "cancel" if self._pen.cancel_requested else None
        if why == "cancel":
            await self._end_canceled()
        elif why == "drain":
            self._outcome = "released"
            await self._pen.move(Release(), [])
        elif why is None:
            await self._end_error("agent_error", "The agent raised CancelledError.")

    async def _park(self, agent: Agent, approvals: Sequence[str]) -> None:
        """Wait for people; if one has answered already, go straight back into the queue."""
        self._outcome = "waiting"
        waiting = self._draft(RunWaiting(list(approvals)))
        try:
            await self._pen.move(Park(approvals=approvals, hold=agent.while_waiting == "hold"), [waiting])
        except NotParked:
            await self._pen.move(Release(), [])

    async def _end_done(self, output: Output | None) -> None:
        if output is None:
            await self._finish(None, Finish(status=Status.DONE, stop_reason="end_turn"))
            return
        answered = _cleaned(output, self._engine.redactor)
        text, sources = answered.text, list(answered.sources)
        answer = None
        if text and self._run.thread_id is not None and not self._run.in_mailbox:  # there, agents speak by their tools
            answer = Message(
                id=new_id(),
                thread_id=self._run.thread_id,
                run_id=self._run.id,
                role="assistant",
                text=text,
                sources=sources,
                created_at=self._engine.clock.now_ms(),
            )
        await self._finish(
            RunOutput(text, sources, dict(answered.outputs), UNSET if answered.last is None else answered.last),
            Finish(status=Status.DONE, stop_reason=answered.stop_reason, answer=answer),
        )

    async def _end_error(self, code: str, message: str, why: StopReason = "error") -> None:
        if self._engine.redactor is not None:
            message = self._engine.redactor.text(message)
        finish = Finish(status=Status.ERROR, stop_reason=why, error_code=code, error=message)
        await self._finish(RunError(code, message), finish)

    async def _end_canceled(self) -> None:
        await self._finish(RunCanceled("requested"), Finish(status=Status.CANCELED, stop_reason="cancelled"))

    async def _finish(self, last_word: RunOutput | RunError | RunCanceled | None, finish: Finish) -> None:
        usage = None if self._execution is None else self._execution.usage
        finish = msgspec.structs.replace(finish, usage=usage)
        drafts = ending(self._draft, last_word, finish)
        if finish.status is Status.DONE and any(len(d.data) > self._engine.most_event_bytes for d in drafts):
            await self._end_error(EventTooLarge.code, EventTooLarge().message)
            return
        await self._pen.move(finish, drafts)
        self._outcome = "ok" if finish.status is Status.DONE else finish.error_code or finish.status.value
        log.info("run.finished", status=finish.status.value, code=finish.error_code)
        took = self._engine.clock.now_ms() - (self._run.started_at or self._run.created_at)
        self._engine.metrics.run_finished(finish.status, self._run.agent, took / 1000)


def _cleaned(output: Output, redactor: "Redactor | None") -> Answered:
    """What a store can hold, and what may be stored."""
    why, last = (output.stop_reason, output.last) if isinstance(output, Answered) else ("end_turn", None)
    text, sources, outputs = clean(output.text), [clean(source) for source in output.sources], dict(output.outputs)
    last = None if last is None else clean(last)
    if redactor is not None:
        text, sources, outputs = redactor.text(text), redactor.value(sources), redactor.value(outputs)
        last = None if last is None else redactor.text(last)
    return Answered(text, sources, outputs, stop_reason=why, last=last)


def _until(payload: Payload, expires_at: int | None) -> Payload:
    return replace(payload, expires_at=expires_at) if isinstance(payload, ApprovalRequested) else payload


def ending(draft: Drafter, last_word: RunOutput | RunError | RunCanceled | None, finish: Finish) -> list[Draft]:
    """The two events that end a log; only one, if the agent's kind has no output."""
    status: Literal["done", "error", "canceled"] = finish.status.value  # type: ignore[assignment]
    said = [] if last_word is None else [draft(last_word)]
    return [*said, draft(RunFinished(status, finish.stop_reason, finish.usage))]


async def _limited(agent: Agent, execution: Execution, engine: Executor) -> Output | None:
    async def think(agent: Agent) -> Output | None:
        execution.told(agent)
        return await RUNNERS[agent.kind](await equipped(agent), execution)

    run, office = execution.run, engine.office
    try:
        with at_work(execution, engine.workspaces):
            async with asyncio.timeout(_shorter(agent.max_seconds, execution.left)) as limit:
                return await (office(agent, run, think) if office and run.in_mailbox else think(agent))
    except TimeoutError:
        if limit.expired():
            raise TookTooLong(TookTooLong.late if execution.left == 0 else None) from None
        raise


def _shorter(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _spoken(run: Run, task: Task | None) -> Message | None:
    """A task, for agents that only listen to messages. It is in no thread."""
    if task is None:
        return None
    return Message(id=run.id, thread_id="", run_id=run.id, role="user", text=task.text, created_at=run.created_at)


class TookTooLong(AgentError):
    """The agent took longer than it may."""

    code = "timeout"
    late = "The run took longer than its budget allows."


def _may_continue(agent: Agent, run: Run, state: State) -> bool:
    """A run whose recorded steps were made by other code goes on only if its agent says so."""
    changed = run.agent_version is not None and run.agent_version != agent.version
    return not (changed and bool(state.steps or state.calls) and agent.on_code_change == "error")


def _error_of(task: "asyncio.Task[Output | None]") -> BaseException | None:
    """How the runner ended; one that ignores its cancellation is as good as cancelled: its pen writes no more."""
    if not task.done() or task.cancelled():
        return asyncio.CancelledError()
    return task.exception()
