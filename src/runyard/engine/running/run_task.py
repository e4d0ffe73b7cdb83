"""Executes one claimed run: fold its log, run its agent from there, and end the claim.

A resume after a crash, a drain or a decision takes the same path. However the agent ends, the claim ends in exactly
one move: finish (done, error or canceled), park or release; or in none, if another worker has the run by now. The
runner has a separate task, so that a stop never interrupts the write that records the outcome.
"""

import asyncio
from collections.abc import Sequence
from typing import Literal

import msgspec
import structlog
from msgspec import UNSET

from runyard.agents.declared.agent import Agent, Output
from runyard.agents.execution import Canceled, Parked
from runyard.agents.user_code.current_call import set_current_execution
from runyard.agents.user_code.tracebacks import traceback_of
from runyard.base.ids import new_id
from runyard.domain.content.parts import TextPart, encoded, set_file_reader
from runyard.domain.conversations.thread import Message
from runyard.domain.events import (
    RunCanceled,
    RunError,
    RunOutput,
    RunResumed,
    RunWaiting,
)
from runyard.domain.runs.append import Finish, Park, Release
from runyard.domain.runs.endings import end_events
from runyard.domain.runs.run import Run, Status, StopReason
from runyard.domain.state.run_state import State
from runyard.engine.log.snapshots import STATE
from runyard.engine.running.agent_task import TookTooLong, error_of, may_continue, run_agent
from runyard.engine.running.claim_outcome import ENDINGS, ClaimOutcome
from runyard.engine.running.database_wait import DatabaseAway
from runyard.engine.running.lease import Lease
from runyard.engine.running.redacting import output_as_stored
from runyard.engine.running.run_handle import RunHandle
from runyard.engine.running.run_services import RunServices
from runyard.engine.running.run_trace import RunTrace
from runyard.errors import (
    AgentError,
    AnswerTooLarge,
    CancelRequested,
    ContextTooLong,
    Fenced,
    InvalidAnswer,
    NotParked,
    RunyardError,
    Unreadable,
    WriteRefused,
)
from runyard.store import Claim
from runyard.telemetry.logger import get_logger

log = get_logger()

UNKNOWN_AGENT_DELAY_MS = 2000
Stop = Literal["cancel", "drain", "lost", "fail"]


class RunTask:
    """The execution of one claim. `stop` may be called at any time, from the same loop."""

    def __init__(self, services: RunServices, claim: Claim, lease: Lease | None = None) -> None:
        self._services = services
        self._claim = claim
        self._run = claim.run
        self._lease = lease
        self._writer = services.journal.open(claim.run)
        self._draft = services.draft
        self._why: Stop | None = None  # the first reason to stop
        self._is_over: asyncio.Future[None] = asyncio.get_running_loop().create_future()  # the agent ended or must stop
        self._handle: RunHandle | None = None
        self._trace = RunTrace(services.tracer, claim.run)
        self._outcome = "lost"
        self.claim_outcome: ClaimOutcome = "lost"
        self._failure: AgentError | None = None
        self._writer.on_cancel = lambda: self.stop("cancel")
        self._snapshots = services.snapshots_of(claim.run)
        self._writer.call_at, self._writer.on_committed = self._snapshots.next_at, self._snapshots.reached

    @property
    def run(self) -> Run:
        return self._run

    @property
    def lane_is_ready(self) -> bool:
        """Whether the run's lane had another run to claim when this claim ended."""
        return self._writer.lane_ready

    def stop(self, why: Stop) -> None:
        """Interrupt the agent. The first reason counts; `lost` also stops all further writes."""
        if why == "lost":
            self._writer.abandon()
        if self._why is None:
            self._why = why
            self._end_wait()
            if self._handle is not None:
                self._handle.cancelled = why == "cancel"

    def _end_wait(self, _: object = None) -> None:
        if not self._is_over.done():
            self._is_over.set_result(None)

    def expect_message(self) -> None:
        """Note that a message came for this run, before a commit reports it."""
        self._writer.unread = max(1, self._writer.unread)

    def fail(self, error: AgentError) -> None:
        """Stop the agent and end the run with this error, even if the agent catches it. The first error counts."""
        if self._failure is None:
            self._failure = error
        self.stop("fail")

    async def execute(self) -> None:
        """Execute the run to the end of the claim. Never raises. Must run in a separate task, whose log lines carry the
        run's ids from here on."""
        waited = (self._run.started_at or self._run.created_at) - self._run.created_at
        self._services.metrics.run_claimed(waited / 1000, self._run.resume_why)
        structlog.contextvars.bind_contextvars(
            run_id=self._run.id, agent=self._run.agent, trace_id=self._trace.root.trace_id
        )
        try:
            await self._execute_traced()
        except Fenced:
            log.info("run.ownership_lost", fence=self._run.fence)
        except WriteRefused as error:
            log.error("run.event_rejected", code=error.code)
            await self._end_unwritable()
        except RunyardError as error:
            log.error("run.write_failed", code=error.code)
        finally:
            self._writer.abandon()
            self._snapshots.stop()
            self._writer.on_cancel = self._handle = None  # no cycle: the memory of a run is free when it ends

    async def _execute_traced(self) -> None:
        try:
            with self._services.tracer.inside(self._trace.root):
                await self._run_to_move()
        finally:
            self._trace.end(self._outcome)

    async def _end_unwritable(self) -> None:
        """End the run without the event that the store refused; if that fails too, the reaper ends it."""
        self._writer.reset_after_refusal()
        try:
            await self._end_error("unwritable", "An event of this run could not be stored.")
        except RunyardError as error:
            log.error("run.write_failed", code=error.code)

    async def _run_to_move(self) -> None:
        agent = await self._services.agent(self._run.agent)
        if agent is None:
            log.warning("run.agent_not_found")
            await self._release(UNKNOWN_AGENT_DELAY_MS)
            return
        if self._run.cancel_requested_at is not None:
            await self._end_canceled()
            return
        try:
            state = await self._fold_log()
        except Unreadable as error:
            await self._end_error(error.code, error.message)
            return
        if state.task is not None:
            self._trace.root.join(state.task.traceparent)
            structlog.contextvars.bind_contextvars(trace_id=self._trace.root.trace_id)
        if self._run.resume_why is not None:
            self._trace.attempt = state.attempt + 1
            self._writer.write(self._draft(RunResumed(state.attempt + 1, self._run.resume_why)))
        if state.options is not None and state.options.is_record:
            await self._end_done(Output(""))
            return
        handle = self._handle = RunHandle(
            self._services, self._claim, self._writer, state, trace=self._trace, fail=self.fail, lease=self._lease
        )
        if not may_continue(agent, self._run, state):
            await self._end_error("code_changed", "The agent's code has changed since this run began.")
            return
        if handle.seconds_left == 0:
            await self._end_error(TookTooLong.code, TookTooLong.late)
            return
        set_file_reader(handle.read_file)
        with set_current_execution(handle, self._services.workspaces):
            runner = asyncio.create_task(run_agent(agent, handle, self._services), name=f"run {self._run.id}")
        runner.add_done_callback(self._end_wait)
        await self._is_over
        if not runner.done():
            runner.cancel()
            await asyncio.wait({runner}, timeout=self._services.stop_seconds)
        await self._conclude(agent, runner)

    async def _fold_log(self) -> State:
        """Fold the log so far. The log of a run that was not begun has one event, which is not read if it adds nothing,
        as that of a plain message, or is in memory. Raises Unreadable."""
        if isinstance(self._claim.problem, Unreadable):
            raise self._claim.problem
        if self._run.last_seq <= 1:
            if self._run.trigger_message_id is not None and not self._run.has_client_tools:
                return State(agent=self._run.agent)
            if (queued := self._services.journal.first_event(self._run.id)) is not None:
                folding = STATE.begin(self._run)
                folding.take(queued)
                return folding.state
        return await self._services.snapshots.state(self._run)

    async def _conclude(self, agent: Agent, runner: "asyncio.Task[Output | None]") -> None:
        """Make the move that the runner's result calls for. A stop counts only if the agent did not end by itself."""
        error = error_of(runner)
        try:
            if self._failure is not None:
                await self._end_error(self._failure.code, self._failure.message, raised=error)
            elif error is None:
                await self._end_done(runner.result())
            elif isinstance(error, Parked):
                await self._park(agent, error.waits)
            elif isinstance(error, asyncio.CancelledError | Canceled):
                await self._end_interrupted()
            elif isinstance(error, WriteRefused | DatabaseAway):
                raise error
            elif isinstance(error, ContextTooLong | InvalidAnswer):
                await self._end_error(error.code, error.message, error.stop_reason)
            elif isinstance(error, AgentError):
                await self._end_error(error.code, error.message, raised=error)
            else:
                log.warning("agent.crashed", error=type(error).__name__)
                await self._end_error("agent_error", f"The agent raised {type(error).__name__}.", raised=error)
        except CancelRequested:
            await self._end_canceled()

    async def _end_interrupted(self) -> None:
        why = self._why or ("cancel" if self._writer.cancel_requested else None)
        if why == "cancel":
            await self._end_canceled()
        elif why == "drain":
            await self._release()
        elif why is None:
            await self._end_error("agent_error", "The agent raised CancelledError.")

    async def _park(self, agent: Agent, waits: Sequence[str]) -> None:
        """Park the run until an answer comes; if one came meanwhile, put it back into the queue."""
        waiting = self._draft(RunWaiting(list(waits)))
        try:
            first = None if self._handle is None else self._handle.first_token_ms
            await self._writer.move(
                Park(waits=waits, hold=agent.while_waiting == "hold", first_token_ms=first), [waiting]
            )
            self._outcome = self.claim_outcome = "waiting"
        except NotParked:
            await self._release()

    async def _release(self, delay_ms: int = 0) -> None:
        """Put the run back into the queue."""
        await self._writer.move(Release(delay_ms=delay_ms), [])
        self._outcome = self.claim_outcome = "released"

    async def _end_done(self, output: Output | None) -> None:
        if output is None:
            await self._finish(None, Finish(status=Status.DONE, stop_reason="end_turn"))
            return
        answered = output_as_stored(output, self._services.redactor)
        text, sources, files = answered.text, list(answered.sources), list(answered.files or ())
        answer = None
        # an agent in a mailbox posts by its tools
        if (text or files) and self._run.thread_id is not None and not self._run.in_mailbox:
            answer = Message(
                id=new_id(),
                thread_id=self._run.thread_id,
                run_id=self._run.id,
                role="assistant",
                text=text,
                sources=sources,
                created_at=self._services.clock.now_ms(),
                parts=encoded([TextPart(text), *files] if text else files) if files else None,
            )
        last = UNSET if answered.last is None else answered.last
        await self._finish(
            RunOutput(text, sources, dict(answered.outputs), last, files or UNSET),
            Finish(status=Status.DONE, stop_reason=answered.stop_reason, answer=answer),
        )

    async def _end_error(
        self, code: str, message: str, why: StopReason = "error", raised: BaseException | None = None
    ) -> None:
        """End the run as error. `raised` is the exception of the agent's own code, for its traceback."""
        message = self._services.redactor.text(message)
        finish = Finish(status=Status.ERROR, stop_reason=why, error_code=code, error=message)
        traceback = None if raised is None else traceback_of(raised, self._services.redactor)
        result = RunError(code, message, traceback)
        if len(self._draft(result).data) > self._services.most_event_bytes:
            result = RunError(code, message)
        self._services.show_traceback(self._run, f"The agent {self._run.agent} raised", traceback)
        await self._finish(result, finish)

    async def _end_canceled(self) -> None:
        await self._finish(RunCanceled("requested"), Finish(status=Status.CANCELED, stop_reason="cancelled"))

    async def _finish(self, result: RunOutput | RunError | RunCanceled | None, finish: Finish) -> None:
        if self._handle is not None:
            first = self._handle.first_token_ms
            finish = msgspec.structs.replace(finish, usage=self._handle.usage, first_token_ms=first)
        drafts = end_events(self._draft, result, finish)
        most = self._services.most_answer_bytes
        if finish.status is Status.DONE and any(len(draft.data) > most for draft in drafts):
            await self._end_error(AnswerTooLarge.code, AnswerTooLarge(most).message)
            return
        await self._snapshots.save_last(self._writer.committed)
        await self._writer.move(finish, drafts)
        self.claim_outcome = ENDINGS[finish.status]
        self._outcome = "ok" if finish.status is Status.DONE else finish.error_code or finish.status.value
        log.info("run.finished", status=finish.status.value, code=finish.error_code)
        took = self._services.clock.now_ms() - (self._run.started_at or self._run.created_at)
        self._services.metrics.run_finished(finish.status, self._run.agent, took / 1000)
        await self._answer_linked_runs()

    async def _answer_linked_runs(self) -> None:
        """Answer the run that waits for this one, and cancel the children that this one leaves."""
        has_children = self._handle is not None and self._handle.has_children
        if self._services.wait_support is not None and (self._run.parent_run_id is not None or has_children):
            await self._services.wait_support.run_ended(msgspec.structs.replace(self._run, asked=int(has_children)))
