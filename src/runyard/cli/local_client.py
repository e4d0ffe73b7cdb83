"""The operations of `runyard.Client` on the database itself, for commands while no server answers.

It builds no web app and no worker: each operation imports the part of the engine that it needs. Events that it writes
are published by the servers and workers that use the same database, or by the next one that starts.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import msgspec

from runyard.client.wire import (
    ApprovalInfo,
    DatabaseInfo,
    KeyInfo,
    LogEvent,
    OutboxInfo,
    OverviewInfo,
    PodInfo,
    RunInfo,
    WorkerInfo,
    decode_event,
)
from runyard.clock import SystemClock
from runyard.domain.no_redaction import NO_REDACTION
from runyard.domain.run import Run, Status
from runyard.domain.times import iso
from runyard.engine.access import LOCAL_CALLER, Access, Caller
from runyard.engine.log.snapshots import READ_EVENTS
from runyard.engine.queries.views import Views, checked_id
from runyard.errors import Invalid, ScopeMissing
from runyard.faces.native.translate import envelope

if TYPE_CHECKING:
    from runyard.domain.api_key import ApiKey, Scope
    from runyard.domain.approval import Approval
    from runyard.domain.events import Event
    from runyard.engine.log.tail import Tail
    from runyard.settings import Settings
    from runyard.store import Store

PAGE = 100
POLL_SECONDS = 0.2
CANCEL_SECONDS = 1.0  # that a worker of another process has to stop the run before its status is returned
Row = TypeVar("Row", "Run", "Approval", "ApiKey")


@asynccontextmanager
async def open_local_client(settings: "Settings", api_key: str | None) -> "AsyncIterator[LocalClient]":
    """Open the database. With an API key, the client acts as the key's owner, within the key's scopes."""
    from runyard.app.factories import open_store
    from runyard.telemetry import logs

    logs.configure("console", "error")
    clock = SystemClock()
    store = open_store(settings, clock)
    await store.open()
    try:
        access = Access(store, clock, redactor=settings.redactor or NO_REDACTION)
        caller = LOCAL_CALLER if api_key is None else await access.authenticate(api_key)
        yield LocalClient(settings, store, access, caller)
        await access.record_use()
    finally:
        await store.close()


class LocalClient:
    def __init__(self, settings: "Settings", store: "Store", access: Access, caller: Caller) -> None:
        self._settings = settings
        self._store = store
        self._access = access
        self._caller = caller
        self._views = Views(store, None, clock=SystemClock(), retention_days=settings.retention_days)

    def _owner(self, scope: "Scope") -> str:
        """Return the owner of the API key. ScopeMissing if the key lacks the scope."""
        if scope not in self._caller.scopes:
            raise ScopeMissing(f"This API key lacks the scope `{scope}`.")
        return self._caller.owner

    # --- runs

    async def run(self, run_id: str) -> RunInfo:
        return _run(await self._views.run(self._owner("read"), run_id))

    async def state(self, run_id: str, at: int | None = None) -> dict[str, Any]:
        state = await self._views.state(self._owner("read"), run_id, at)
        return msgspec.json.decode(msgspec.json.encode(state), type=dict[str, Any])

    async def runs(
        self,
        *,
        status: str | None = None,
        agent: str | None = None,
        thread_id: str | None = None,
        page: int = PAGE,
    ) -> AsyncGenerator[RunInfo, None]:
        owner, wanted = self._owner("read"), None if status is None else _status(status)

        async def read(before: str | None) -> Sequence[Run]:
            return await self._views.runs(owner, before, page, status=wanted, agent=agent, thread_id=thread_id)

        async for run in _rows(read, page):
            yield _run(run)

    async def follow(self, run_id: str, after: int = 0) -> AsyncGenerator[LogEvent, None]:
        """Yield every event with seq > `after`, in order, until the run has ended."""
        owner = self._owner("read")
        run = await self._views.run(owner, run_id)
        while True:
            events = await self._store.read(run.id, after, READ_EVENTS)
            for event in events:
                after = event.seq
                yield _event(event)
            if events and events[-1].type == "run.finished":
                return
            if not events:
                if run.status.is_terminal and after >= run.last_seq:
                    return
                await asyncio.sleep(POLL_SECONDS)
                run = await self._views.run(owner, run_id)

    async def cancel(self, run_id: str) -> str:
        from runyard.engine.control.cancel import Cancel
        from runyard.engine.log.publications import Publications
        from runyard.engine.log.stream import Streams
        from runyard.telemetry.metrics import Metrics

        owner, tail = self._owner("write"), _tail()
        cancel = Cancel(
            self._store,
            tail,
            streams=Streams(self._store, tail, Publications()),
            clock=SystemClock(),
            grace_seconds=self._settings.cancel_seconds,
            stop_run=lambda run_id: None,
            metrics=Metrics(),
        )
        run = await cancel(owner, checked_id(run_id, "run"))
        if run.status is Status.RUNNING and self._settings.sqlite_path is None:
            await asyncio.sleep(CANCEL_SECONDS)
            run = await self._store.get_run(owner, run.id)
        return _name_of(run.status)

    async def retry(self, run_id: str, idempotency_key: str | None = None) -> str:
        from runyard.engine.intake.intake import Intake
        from runyard.engine.limits import Admission, InputLimits

        settings, clock = self._settings, SystemClock()
        limits = InputLimits(settings.max_message_chars, settings.max_queued_per_lane, settings.max_queued_per_owner)
        intake = Intake(
            self._store,
            _tail(),
            clock=clock,
            agents=(),
            default_agent="",
            worker=None,
            wake_workers=lambda: None,
            redactor=settings.redactor or NO_REDACTION,
            admission=Admission(self._store, clock, limits),
        )
        return (await intake.retry(self._owner("write"), checked_id(run_id, "run"))).run_id

    # --- approvals

    async def approvals(self) -> AsyncGenerator[ApprovalInfo, None]:
        owner = self._owner("read")

        async def read(before: str | None) -> "Sequence[Approval]":
            return await self._views.approvals(owner, before, PAGE)

        async for approval in _rows(read, PAGE):
            yield _approval(approval)

    async def approve(
        self, approval_id: str, *, reason: str | None = None, input: dict[str, Any] | None = None
    ) -> ApprovalInfo:
        return await self._decide(approval_id, "approved", reason, input)

    async def reject(self, approval_id: str, *, reason: str | None = None) -> ApprovalInfo:
        return await self._decide(approval_id, "rejected", reason)

    async def _decide(
        self,
        approval_id: str,
        decision: Literal["approved", "rejected"],
        reason: str | None,
        edited: dict[str, Any] | None = None,
    ) -> ApprovalInfo:
        from runyard.engine.control.approvals import Approvals
        from runyard.telemetry.metrics import Metrics

        owner = self._owner("approve")
        approvals = Approvals(
            self._store,
            _tail(),
            clock=SystemClock(),
            agents={},
            wake_workers=lambda: None,
            metrics=Metrics(),
            redactor=self._settings.redactor or NO_REDACTION,
        )
        return _approval(await approvals.decide(owner, approval_id, decision, owner, reason, edited))

    # --- for operators

    async def overview(self) -> OverviewInfo:
        from runyard.engine.log.publications import Publications
        from runyard.engine.log.stream import Streams
        from runyard.engine.queries.overview import Overviews, waiting_ms
        from runyard.telemetry.metrics import Metrics

        self._owner("operate")
        streams = Streams(self._store, _tail(), Publications())
        report = await Overviews(self._store, streams, None, SystemClock(), Metrics()).report()
        found = report.all
        return OverviewInfo(
            queued=found.queued,
            oldest_waiting_ms=waiting_ms(found),
            running=found.running,
            approvals_waiting=found.approvals,
            outbox=OutboxInfo(
                found.behind, 0 if found.behind_since is None else max(0, found.now - found.behind_since)
            ),
            workers=[WorkerInfo(w.label, w.lease_until - found.now, w.runs) for w in found.workers],
            pod=PodInfo(),
            database=DatabaseInfo(
                found.version, round(report.latency_ms, 2), report.clock_skew_ms, found.size, found.xmin_age
            ),
        )

    async def create_key(
        self, owner: str, *, label: str = "", scopes: Sequence[str] | None = None, expires_in: int | None = None
    ) -> KeyInfo:
        from runyard.domain.api_key import DEFAULT_SCOPES

        self._owner("operate")
        wanted = DEFAULT_SCOPES if scopes is None else cast("Sequence[Scope]", scopes)
        made, key = await self._access.create(owner, label, wanted, expires_in)
        return _key(made, key)

    async def keys(self, *, owner: str | None = None) -> AsyncGenerator[KeyInfo, None]:
        self._owner("operate")

        async def read(before: str | None) -> "Sequence[ApiKey]":
            return await self._access.list_keys(owner, before, PAGE)

        async for key in _rows(read, PAGE):
            yield _key(key)

    async def revoke_key(self, key_id: str) -> KeyInfo:
        self._owner("operate")
        return _key(await self._access.revoke(key_id))


class _NoOutbox:
    """Tells no other process of commits: their own polls find them."""

    def add_committed(self, run_id: str, events: "Sequence[Event]") -> None: ...

    def poll_soon(self) -> None: ...


def _tail() -> "Tail":
    from runyard.engine.log.tail import Tail

    return Tail(_NoOutbox(), 0)


async def _rows(read: Callable[[str | None], Awaitable[Sequence[Row]]], page: int) -> AsyncGenerator[Row, None]:
    before: str | None = None
    while True:
        rows = await read(before)
        for row in rows:
            yield row
        if len(rows) < page:
            return
        before = rows[-1].id


def _status(text: str) -> Status:
    try:
        return Status(text)
    except ValueError:
        raise Invalid(f"--status must be {', '.join(Status)}.") from None


def _name_of(status: Status) -> str:
    """Return the status as the HTTP API names it: a waiting run is running."""
    return Status.RUNNING.value if status is Status.WAITING else status.value


def _event(event: "Event") -> LogEvent:
    return decode_event(envelope(event))


def _run(run: Run) -> RunInfo:
    return RunInfo(
        run_id=run.id,
        thread_id=run.thread_id,
        agent=run.agent,
        status=_name_of(run.status),
        waiting=run.status is Status.WAITING,
        stop_reason=run.stop_reason,
        attempts=run.attempts,
        last_seq=run.last_seq,
        created_at=iso(run.created_at) or "",
        started_at=iso(run.started_at),
        finished_at=iso(run.finished_at),
        error_code=run.error_code,
        error=run.error,
        retry_of=run.retry_of,
        superseded_by=run.superseded_by,
    )


def _approval(approval: "Approval") -> ApprovalInfo:
    return ApprovalInfo(
        approval_id=approval.id,
        run_id=approval.run_id,
        call_id=approval.call_id,
        kind=approval.kind,
        tool=approval.tool,
        input=approval.input,
        state=approval.state,
        created_at=iso(approval.created_at) or "",
    )


def _key(key: "ApiKey", text: str | None = None) -> KeyInfo:
    return KeyInfo(
        key_id=key.id,
        owner=key.owner,
        label=key.label,
        scopes=sorted(key.scopes),
        created_at=iso(key.created_at) or "",
        expires_at=iso(key.expires_at),
        last_used_at=iso(key.last_used_at),
        revoked_at=iso(key.revoked_at),
        key=text,
    )
