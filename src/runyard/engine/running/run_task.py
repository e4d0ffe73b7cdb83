"""One claimed run, from fold to finish: read what is on record, let the agent's runner go on, append what it yields,
end it.

Resume after a crash, a drain or a decision is this same path. Whatever happens in the agent ends as exactly one move
of the run: finished (done, error, canceled), parked, released; or nothing at all, if another worker has it by now.
The runner works in a task of its own, so that a stop never cuts the write that records the outcome.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import structlog
from msgspec import UNSET

from runyard.agents.declared.agent import Agent, Output, equipped
from runyard.agents.execution import Canceled, ModelOutput, Parked
from runyard.agents.runners import RUNNERS
from runyard.agents.user_code.current_call import set_current_execution
from runyard.agents.user_code.tracebacks import traceback_of
from runyard.domain.append import Finish, Park, Release
from runyard.domain.events import (
    Draft,
    Drafter,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunResumed,
    RunWaiting,
    clean,
)
from runyard.domain.fold import State
from runyard.domain.run import Run, Status, StopReason
from runyard.domain.thread import Message
from runyard.engine.running.database_wait import DatabaseAway
from runyard.engine.running.earlier_runs import folded
from runyard.engine.running.lease import Lease
from runyard.engine.running.run_handle import RunHandle
from runyard.engine.running.run_services import RunServices
from runyard.engine.running.run_trace import RunTrace
from runyard.errors import (
    AgentError,
    AnswerTooLarge,
    CancelRequested,
    ContextTooLong,
    Fenced,
    NotParked,
    RunyardError,
    Unreadable,
    WriteRefused,
)
from runyard.ids import new_id
from runyard.store import Claim

if TYPE_CHECKING:
    from runyard.domain.redaction import Redactor

log = structlog.get_logger()

UNKNOWN_AGENT_DELAY_MS = 2000
Stop = Literal["cancel", "drain", "lost", "fail"]


class RunTask:
    """A run that this process holds. `stop` may be called at any time, from the same loop."""

    def __init__(self, engine: RunServices, claim: Claim, lease: Lease | None = None) -> None:
        self._engine = engine
        self._claim = claim
        self._run = claim.run
        self._lease = lease
        self._pen = engine.journal.open(claim.run)
        self._draft = engine.draft
        self._stopped: asyncio.Future[Stop] = asyncio.get_running_loop().create_future()
        self._execution: RunHandle | None = None
        self._trace = RunTrace(engine.tracer, claim.run)
        self._outcome = "lost"
        self._failure: AgentError | None = None
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

    def fail(self, error: AgentError) -> None:
        """Stop the agent and end the run with this error, whatever the agent makes of it. The first error counts."""
        if self._failure is None:
            self._failure = error
        self.stop("fail")

    async def go(self) -> None:
        """Run to the end of the claim. Never raises."""
        bound = {"run_id": self._run.id, "agent": self._run.agent, "trace_id": self._trace.root.trace_id}
        waited = (self._run.started_at or self._run.created_at) - self._run.created_at
        self._engine.metrics.run_claimed(waited / 1000, self._run.resume_why)
        with structlog.contextvars.bound_contextvars(**bound):
            try:
                await self._traced()
            except Fenced:
                log.info("run.ownership_lost", fence=self._run.fence)
            except WriteRefused as error:
                log.error("run.event_rejected", code=error.code)
                await self._give_up()
            except RunyardError as error:
                log.error("run.write_failed", code=error.code)
            finally:
                self._pen.abandon()

    async def _traced(self) -> None:
        try:
            with self._engine.tracer.inside(self._trace.root):
                await self._to_its_move()
        finally:
            self._trace.end(self._outcome)

    async def _give_up(self) -> None:
        """The store will not take an event of this run: end it without that, or leave it to the reaper."""
        self._pen.start_over()
        try:
            await self._end_error("unwritable", "An event of this run could not be stored.")
        except RunyardError as error:
            log.error("run.write_failed", code=error.code)

    async def _to_its_move(self) -> None:
        agent = await self._engine.agent(self._run.agent)
        if agent is None:
            log.warning("run.agent_not_found")
            self._outcome = "released"
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
        if state.task is not None:
            self._trace.root.join(state.task.traceparent)
            structlog.contextvars.bind_contextvars(trace_id=self._trace.root.trace_id)
        if self._run.resume_why is not None:
            self._trace.attempt = state.attempt + 1
            self._pen.write(self._draft(RunResumed(state.attempt + 1, self._run.resume_why)))
        execution = self._execution = RunHandle(
            self._engine, self._claim, self._pen, state, self._trace, self.fail, self._lease
        )
        if not _may_continue(agent, self._run, state):
            await self._end_error("code_changed", "The agent's code has changed since this run began.")
            return
        if execution.left == 0:
            await self._end_error(TookTooLong.code, TookTooLong.late)
            return
        with set_current_execution(execution, self._engine.workspaces):
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
            if self._failure is not None:
                await self._end_error(self._failure.code, self._failure.message, raised=error)
            elif error is None:
                await self._end_done(runner.result())
            elif isinstance(error, Parked):
                await self._park(agent, error.approvals)
            elif isinstance(error, asyncio.CancelledError | Canceled):
                await self._interrupted()
            elif isinstance(error, WriteRefused | DatabaseAway):
                raise error
            elif isinstance(error, ContextTooLong):
                await self._end_error(error.code, error.message, "max_tokens_exceeded")
            elif isinstance(error, AgentError):
                await self._end_error(error.code, error.message, raised=error)
            else:
                log.warning("agent.crashed", error=type(error).__name__)
                await self._end_error("agent_error", f"The agent raised {type(error).__name__}.", raised=error)
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

    async def _end_error(
        self, code: str, message: str, why: StopReason = "error", raised: BaseException | None = None
    ) -> None:
        """End the run as error; `raised` is what the agent's own code may have raised."""
        if self._engine.redactor is not None:
            message = self._engine.redactor.text(message)
        finish = Finish(status=Status.ERROR, stop_reason=why, error_code=code, error=message)
        traceback = None if raised is None else traceback_of(raised, self._engine.redactor)
        said = RunError(code, message, traceback)
        if len(self._draft(said).data) > self._engine.most_event_bytes:
            said = RunError(code, message)
        self._engine.show_traceback(self._run, f"The agent {self._run.agent} raised", traceback)
        await self._finish(said, finish)

    async def _end_canceled(self) -> None:
        await self._finish(RunCanceled("requested"), Finish(status=Status.CANCELED, stop_reason="cancelled"))

    async def _finish(self, last_word: RunOutput | RunError | RunCanceled | None, finish: Finish) -> None:
        usage = None if self._execution is None else self._execution.usage
        finish = msgspec.structs.replace(finish, usage=usage)
        drafts = ending(self._draft, last_word, finish)
        most = self._engine.most_answer_bytes
        if finish.status is Status.DONE and any(len(draft.data) > most for draft in drafts):
            await self._end_error(AnswerTooLarge.code, AnswerTooLarge(most).message)
            return
        await self._pen.move(finish, drafts)
        self._outcome = "ok" if finish.status is Status.DONE else finish.error_code or finish.status.value
        log.info("run.finished", status=finish.status.value, code=finish.error_code)
        took = self._engine.clock.now_ms() - (self._run.started_at or self._run.created_at)
        self._engine.metrics.run_finished(finish.status, self._run.agent, took / 1000)


def _cleaned(output: Output, redactor: "Redactor | None") -> ModelOutput:
    """What a store can hold, and what may be stored."""
    why, last = (output.stop_reason, output.last) if isinstance(output, ModelOutput) else ("end_turn", None)
    text, sources, outputs = clean(output.text), [clean(source) for source in output.sources], dict(output.outputs)
    last = None if last is None else clean(last)
    if redactor is not None:
        text, sources, outputs = redactor.text(text), redactor.value(sources), redactor.value(outputs)
        last = None if last is None else redactor.text(last)
    return ModelOutput(text, sources, outputs, stop_reason=why, last=last)


def ending(draft: Drafter, last_word: RunOutput | RunError | RunCanceled | None, finish: Finish) -> list[Draft]:
    """The two events that end a log; only one, if the agent's kind has no output."""
    status: Literal["done", "error", "canceled"] = finish.status.value  # type: ignore[assignment]
    said = [] if last_word is None else [draft(last_word)]
    return [*said, draft(RunFinished(status, finish.stop_reason, finish.usage))]


async def _limited(agent: Agent, execution: RunHandle, engine: RunServices) -> Output | None:
    async def think(agent: Agent) -> Output | None:
        execution.told(agent)
        return await RUNNERS[agent.kind](await equipped(agent), execution)

    run, office = execution.run, engine.office
    try:
        async with asyncio.timeout(_shorter(agent.max_seconds, execution.left)) as limit:
            return await (office(agent, run, think) if office and run.in_mailbox else think(agent))
    except TimeoutError:
        if limit.expired():
            raise TookTooLong(TookTooLong.late if execution.left == 0 else None) from None
        raise


def _shorter(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)


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
