"""The operations of `runyard.Client` on the database itself, for commands while no server answers.

It builds no web app and no worker: each operation imports the part of the engine that it needs. Events that it writes
are published by the servers and workers that use the same database, or by the next one that starts.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import msgspec

from runyard.base.clock import SystemClock
from runyard.base.ids import IdKind
from runyard.cli.clients.local_annotations import LocalAnnotations
from runyard.cli.clients.local_conversations import PAGE, LocalConversations, all_rows
from runyard.cli.clients.local_rows import key_info, log_event, run_info
from runyard.cli.clients.local_waits import LocalWaits, local_tail
from runyard.client.wire import (
    DatabaseInfo,
    KeyInfo,
    LogEvent,
    OutboxInfo,
    OverviewInfo,
    PodInfo,
    RunInfo,
    WorkerInfo,
)
from runyard.domain.runs.run import Status
from runyard.engine.access import LOCAL_CALLER, Access, Caller
from runyard.engine.feedback import FeedbackBook
from runyard.engine.log.snapshots import READ_EVENTS
from runyard.engine.queries.views import Views, checked_id
from runyard.errors import Invalid, ScopeMissing
from runyard.faces.native.rows import status_name

if TYPE_CHECKING:
    from runyard.domain.api_key import ApiKey, Scope
    from runyard.settings import Settings
    from runyard.store import Store

POLL_SECONDS = 0.2
CANCEL_SECONDS = 1.0  # that a worker of another process has to stop the run before its status is returned


@asynccontextmanager
async def open_local_client(settings: "Settings", api_key: str | None) -> "AsyncIterator[LocalClient]":
    """Open the database. With an API key, the client acts as the key's owner, within the key's scopes."""
    from runyard.app.factories import open_store
    from runyard.telemetry.logger import configure_at_first_line

    configure_at_first_line("error", _configure_logs)
    clock = SystemClock()
    store = open_store(settings, clock)
    await store.open()
    try:
        access = Access(store, clock, redactor=settings.redactor)
        caller = LOCAL_CALLER if api_key is None else await access.authenticate(api_key)
        yield LocalClient(settings, store, access, caller)
        await access.record_use()
    finally:
        await store.close()


class LocalClient(LocalConversations, LocalAnnotations, LocalWaits):
    def __init__(self, settings: "Settings", store: "Store", access: Access, caller: Caller) -> None:
        self._settings = settings
        self._store = store
        self._access = access
        self._caller = caller
        self._views = Views(store, None, clock=SystemClock(), retention_days=settings.retention_days)
        self._feedback = FeedbackBook(store, self._views, settings.redactor)

    def _owner(self, scope: "Scope") -> str:
        """Return the owner of the API key. ScopeMissing if the key lacks the scope."""
        if scope not in self._caller.scopes:
            raise ScopeMissing(
                f"This API key lacks the scope `{scope}`. Create one with `runyard keys create --scope {scope}`."
            )
        return self._caller.owner

    async def find_ids(self, kind: IdKind, part: str) -> list[str]:
        return list(await self._views.find_ids(self._owner("read"), kind, part))

    # --- runs

    async def run(self, run_id: str) -> RunInfo:
        return run_info(await self._views.run(self._owner("read"), run_id))

    async def state(self, run_id: str, at: int | None = None) -> dict[str, Any]:
        state = await self._views.state(self._owner("read"), run_id, at)
        return msgspec.json.decode(msgspec.json.encode(state), type=dict[str, Any])

    async def runs(
        self,
        *,
        status: str | None = None,
        agent: str | None = None,
        thread_id: str | None = None,
        error: str | None = None,
        before: str | None = None,
        page: int = PAGE,
    ) -> AsyncGenerator[RunInfo, None]:
        owner, wanted = self._owner("read"), None if status is None else _status(status)
        below = before
        while True:
            rows = await self._views.runs(
                owner, below, page, status=wanted, agent=agent, thread_id=thread_id, error=error
            )
            questions = await self._views.readable_questions(rows)
            judged = await self._feedback.readable([run.id for run in rows])
            for run in rows:
                yield run_info(run, questions.get(run.id), judged.get(run.id))
            if len(rows) < page:
                return
            below = rows[-1].id

    async def follow(self, run_id: str, after: int = 0) -> AsyncGenerator[LogEvent, None]:
        """Yield every event with seq > `after`, in order, until the run has ended."""
        owner = self._owner("read")
        run = await self._views.run(owner, run_id)
        while True:
            events = await self._store.read(run.id, after, READ_EVENTS)
            for event in events:
                after = event.seq
                yield log_event(event)
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

        owner, tail = self._owner("write"), local_tail()
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
        return status_name(run.status)

    async def retry(self, run_id: str, idempotency_key: str | None = None) -> str:
        from runyard.engine.intake.intake import Intake
        from runyard.engine.limits import Admission, InputLimits

        settings, clock = self._settings, SystemClock()
        limits = InputLimits(settings.max_message_chars, settings.max_queued_per_lane, settings.max_queued_per_owner)
        intake = Intake(
            self._store,
            local_tail(),
            clock=clock,
            agents=(),
            default_agent="",
            worker=None,
            wake_workers=lambda: None,
            redactor=settings.redactor,
            admission=Admission(self._store, clock, limits),
        )
        return (await intake.retry(self._owner("write"), checked_id(run_id, "run"))).run_id

    # --- for operators

    async def overview(self) -> OverviewInfo:
        from runyard.engine.log.publications import Publications
        from runyard.engine.log.stream import Streams
        from runyard.engine.queries.overview import Overviews, waiting_ms

        self._owner("operate")
        streams = Streams(self._store, local_tail(), Publications())
        report = await Overviews(self._store, streams, None, SystemClock(), metrics=None).report()
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
        return key_info(made, key)

    async def keys(self, *, owner: str | None = None) -> AsyncGenerator[KeyInfo, None]:
        self._owner("operate")

        async def read(before: str | None) -> "Sequence[ApiKey]":
            return await self._access.list_keys(owner, before, PAGE)

        async for key in all_rows(read, PAGE, lambda row: row.id):
            yield key_info(key)

    async def revoke_key(self, key_id: str) -> KeyInfo:
        self._owner("operate")
        return key_info(await self._access.revoke(key_id))


def _configure_logs() -> None:
    from runyard.telemetry import logs

    logs.configure("console", "error")


def _status(text: str) -> Status:
    try:
        return Status(text)
    except ValueError:
        raise Invalid(f"--status must be {', '.join(Status)}.") from None
