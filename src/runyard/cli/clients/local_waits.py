"""The part of the local client for waits: approvals, questions, client tools and events."""

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from runyard.base.clock import SystemClock
from runyard.base.ids import new_id
from runyard.cli.clients.local_rows import Asked, approval_info, wait_info
from runyard.client.wire import ApprovalInfo, WaitInfo

if TYPE_CHECKING:
    from runyard.domain.api_key import Scope
    from runyard.domain.events import Event
    from runyard.domain.wait import Wait
    from runyard.engine.control.waits import Waits
    from runyard.engine.log.tail import Tail
    from runyard.engine.queries.views import Views
    from runyard.settings import Settings
    from runyard.store import Store

PAGE = 100


class LocalWaits:
    _store: "Store"
    _views: "Views"
    _settings: "Settings"

    def _owner(self, scope: "Scope") -> str:
        raise NotImplementedError

    async def approvals(self) -> AsyncGenerator[ApprovalInfo, None]:
        async for asked in self._pending(self._owner("read"), None):
            if asked.wait.is_approval:
                yield approval_info(asked)

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
        owner = self._owner("approve")
        decided = await self._waits().decide(owner, approval_id, decision, owner, reason, edited)
        return approval_info(await self._asked(owner, decided))

    async def waits(self, run_id: str | None = None) -> AsyncGenerator[WaitInfo, None]:
        owner = self._owner("read")
        run = None if run_id is None else (await self._views.run(owner, run_id)).id
        async for asked in self._pending(owner, run):
            yield wait_info(asked)

    async def wait(self, wait_id: str) -> WaitInfo:
        owner = self._owner("read")
        return wait_info(await self._asked(owner, await self._waits().get(owner, wait_id)), whole=True)

    async def answer_wait(self, wait_id: str, value: Any) -> WaitInfo:
        owner = self._owner("approve")
        return wait_info(await self._asked(owner, await self._waits().answer(owner, wait_id, value, owner)))

    async def fail_wait(self, wait_id: str, error: str) -> WaitInfo:
        owner = self._owner("approve")
        return wait_info(await self._asked(owner, await self._waits().fail(owner, wait_id, error, owner)))

    async def send_event(
        self, name: str, *, key: str | None = None, data: Any = None, event_id: str | None = None
    ) -> bool:
        """Keep the event. A server or worker on this database answers the run that waits for it."""
        return await self._waits().deliver(self._owner("write"), event_id or new_id(), name, key, data)

    async def _pending(self, owner: str, run_id: str | None) -> AsyncGenerator[Asked, None]:
        before: str | None = None
        while True:
            page = await self._store.list_waits(owner, before, PAGE, run_id)
            for asked in await self._with_runs(owner, page):
                yield asked
            if len(page) < PAGE:
                return
            before = page[-1].id

    async def _asked(self, owner: str, wait: "Wait") -> Asked:
        [asked] = await self._with_runs(owner, [wait])
        return asked

    async def _with_runs(self, owner: str, waits: "Sequence[Wait]") -> list[Asked]:
        runs = await self._views.runs_by_id(owner, [wait.run_id for wait in waits])
        questions = await self._views.readable_questions(list(runs.values()))
        return [Asked(wait, runs.get(wait.run_id), questions.get(wait.run_id)) for wait in waits]

    def _waits(self) -> "Waits":
        from runyard.engine.control.waits import Waits
        from runyard.telemetry.metrics import Metrics

        return Waits(
            self._store,
            local_tail(),
            clock=SystemClock(),
            agents={},
            wake_workers=lambda: None,
            metrics=Metrics(),
            match_event=_deliver_nothing,
            event_seconds=self._settings.event_seconds,
            redactor=self._settings.redactor,
        )


class _NoOutbox:
    """Tells no other process of commits: their own polls find them."""

    def add_committed(self, run_id: str, events: "Sequence[Event]") -> None: ...

    def poll_soon(self) -> None: ...


def local_tail() -> "Tail":
    from runyard.engine.log.tail import Tail

    return Tail(_NoOutbox(), 0)


async def _deliver_nothing(target: str | None) -> None:
    """Events are delivered by a server."""
