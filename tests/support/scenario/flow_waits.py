"""The part of a flow that finds and answers what its runs wait for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2

from tests.support.eventually import eventually
from tests.support.scenario.databases import PostgresDatabase, SqliteDatabase
from tests.support.scenario.pods import Pod


class FlowWaits:
    """Approvals, questions, client tools and events of a scenario."""

    database: PostgresDatabase | SqliteDatabase

    async def request(self, method: str, path: str, pod: Pod | None = None, **options: Any) -> httpx2.Response:
        raise NotImplementedError

    async def reached(self, run_id: str, *statuses: str) -> None:
        raise NotImplementedError

    async def approval(self, run_id: str, kind: str | None = None) -> str:
        """The open approval of a run that waits."""

        async def pending_wait() -> str | None:
            rows = await self.database.rows("select id, run_id, kind, state from waits")
            return next((r["id"] for r in rows if str(r["run_id"]) == run_id and r["state"] == "pending"), None)

        approval_id: str = await eventually("an approval is asked for", pending_wait)
        await self.reached(run_id, "waiting")
        if kind is not None:
            rows = await self.database.rows("select id, kind from waits")
            assert [row["kind"] for row in rows if row["id"] == approval_id] == [kind]
        return approval_id

    async def pending(self, run_id: str) -> dict[str, str]:
        """The open approvals of a run: the id of each by the call it is about."""
        rows = await self.database.rows("select id, run_id, call_id, state from waits")
        return {row["call_id"]: row["id"] for row in rows if row["run_id"] == run_id and row["state"] == "pending"}

    async def open_wait(self, run_id: str, kind: str) -> str:
        """The open wait of this kind of a run that waits."""

        async def pending_wait() -> str | None:
            rows = await self.database.rows("select id, run_id, kind, state from waits")
            mine = [row for row in rows if row["run_id"] == run_id and row["state"] == "pending"]
            return next((row["id"] for row in mine if row["kind"] == kind), None)

        return str(await eventually(f"run {run_id} waits for a {kind}", pending_wait))

    async def answer(self, wait_id: str, value: Any, pod: Pod | None = None) -> httpx2.Response:
        return await self.request("POST", f"/api/waits/{wait_id}", pod, json={"value": value})

    async def deliver(self, event_id: str, name: str, key: str, data: Any, pod: Pod | None = None) -> httpx2.Response:
        body = {"id": event_id, "name": name, "key": key, "data": data}
        return await self.request("POST", "/api/events", pod, json=body)

    @asynccontextmanager
    async def answering(self, answers: Mapping[str, Any]) -> AsyncIterator[None]:
        """Meanwhile, answer every question and client tool by kind, as a patient client does. An answer may be a
        function of what the wait asks."""

        async def answer_all() -> None:
            while True:
                for row in await self.database.rows("select id, kind, input, state from waits"):
                    if row["state"] == "pending" and row["kind"] in answers:
                        found = answers[row["kind"]]
                        with suppress(httpx2.TransportError, IndexError):
                            await self.answer(row["id"], found(json.loads(row["input"])) if callable(found) else found)
                await asyncio.sleep(0.02)

        task = asyncio.create_task(answer_all())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def decide(self, approval_id: str, decision: str, pod: Pod | None = None) -> httpx2.Response:
        return await self.request("POST", f"/api/approvals/{approval_id}", pod, json={"decision": decision})
