"""One flow scenario: its pods, its database, its clients, and the records for the checker.

A test sends requests through `Flow`, which records accepted and refused requests and received events, and after the
test the checker (`invariants.py`) judges all of it. Waiting is always for a condition, with a deadline.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2

from tests.support.checker.invariants import Answer, Evidence, InvariantBroken, check
from tests.support.checker.wait_invariants import ENDED, Row
from tests.support.eventually import PATIENCE, eventually
from tests.support.scenario.databases import PostgresDatabase, SqliteDatabase
from tests.support.scenario.facts_and_gates import FOLDER, Notes
from tests.support.scenario.flow_waits import FlowWaits
from tests.support.scenario.pods import APP, Kind, Nursery, Pod
from tests.support.scenario.reader import Reader

SETTLE_SECONDS = 45.0
SETTINGS: dict[str, Any] = {
    "lease_seconds": 1,
    "reap_seconds": 0.2,
    "poll_seconds": 0.05,
    "drain_seconds": 0.2,
    "stop_seconds": 0.5,
    "cancel_seconds": 2,
    "max_blocked_seconds": 0,  # agents that block on purpose; tests of the watchdog set it
    "heartbeat_seconds": 5,
    "port": 0,
    "log_level": "info",
}
Program = Sequence[Sequence[Any]]


class Flow(FlowWaits):
    def __init__(self, nursery: Nursery, database: PostgresDatabase | SqliteDatabase, folder: Path) -> None:
        self._nursery = nursery
        self.database = database
        self.folder = folder
        self.notes = Notes(folder)
        self.evidence = Evidence(self.notes)
        self.pods: list[Pod] = []
        self.app = APP
        self.variables: dict[str, str] = {}  # of every pod's environment
        self.readers: list[Reader] = []
        limits = httpx2.Limits(max_connections=None)
        self.http = httpx2.AsyncClient(timeout=httpx2.Timeout(PATIENCE), limits=limits, verify=False)
        self.is_checked = False

    # --- pods

    async def start(
        self,
        kind: Kind = "serve",
        fault: str = "",
        unsafe: str = "",
        bus: str = "",
        keys: str = "",
        broken: str = "",
        log_to: Path | None = None,
        variables: Mapping[str, str] = {},
        **settings: Any,
    ) -> Pod:
        """A pod that is ready. Every fault it is given must fire, or the scenario is void. `variables`: more of its
        environment."""
        values = SETTINGS | {"database_url": self.database.url, "app": self.app} | settings
        environment = {f"RUNYARD_{name.upper()}": str(value) for name, value in values.items()}
        environment |= {FOLDER: str(self.folder), "FAULT": fault, "UNSAFE": unsafe, "BUS": bus, "KEYS": keys}
        environment |= {"BROKEN": broken, **self.variables, **variables}
        self.evidence.expected_faults.update(text.partition(":")[0] for text in fault.split())
        pod = await self._nursery.start(kind, self.folder, environment, log_to)
        self.pods.append(pod)
        return pod

    @property
    def apis(self) -> list[Pod]:
        """The pods that answer HTTP."""
        return [pod for pod in self.pods if pod.alive and pod.kind in ("serve", "api", "processes")]

    @property
    def is_sqlite(self) -> bool:
        return isinstance(self.database, SqliteDatabase)

    @property
    def api(self) -> Pod:
        return self.apis[0]

    async def first(self, fault: str = "", **settings: Any) -> Pod:
        """The pod whose worker will do the work; on SQLite it also is the one that answers."""
        if isinstance(self.database, SqliteDatabase):
            return await self.start("serve", fault, **settings)
        await self.start("api", **settings)
        return await self.start("worker", fault, **settings)

    async def next(self, fault: str = "", **settings: Any) -> Pod:
        """The process that continues after it has died: another worker, or on SQLite the same server started again."""
        kind: Kind = "serve" if isinstance(self.database, SqliteDatabase) else "worker"
        return await self.start(kind, fault, **settings)

    async def freeze(self, pod: Pod) -> None:
        """SIGSTOP, but not inside a transaction: its locks would stay until the database times it out, after 10 s."""
        assert isinstance(self.database, PostgresDatabase)
        while True:
            pod.freeze()
            if not await self.database.has_stuck_transactions():
                return
            pod.thaw()
            await asyncio.sleep(0.05)  # waits on purpose: it must get out of there before it is frozen again

    @asynccontextmanager
    async def kept_alive(self, kind: Kind, count: int, **settings: Any) -> AsyncIterator[list[Pod]]:
        """So many pods, each started again when it dies."""
        kept = [await self.start(kind, **settings) for _ in range(count)]

        async def keep(place: int) -> None:
            while True:
                await kept[place].end(PATIENCE * 4)
                kept[place] = await self.start(kind, **settings)

        keepers = [asyncio.create_task(keep(place)) for place in range(count)]
        try:
            yield kept
        finally:
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)

    # --- requests

    async def request(self, method: str, path: str, pod: Pod | None = None, **options: Any) -> httpx2.Response:
        response = await self.http.request(method, (pod or self.api).url + path, **options)
        if response.status_code >= 400:
            self.note_failure(response, response.content)
        return response

    def note_failure(self, response: httpx2.Response, body: bytes) -> None:
        kind = response.headers.get("content-type", "")
        self.evidence.failures.append(Answer(response.status_code, kind, body))

    async def thread(self, pod: Pod | None = None) -> str:
        return str((await self._create("/api/threads", {}, pod)).json()["thread_id"])

    async def post(
        self, *program: Any, thread: str | None = None, pod: Pod | None = None, agent: str = "player"
    ) -> str:
        """Start a run that plays the program; in a separate thread if none is given."""
        thread = thread or await self.thread(pod)
        body = {"content": json.dumps(program), "agent": agent}
        return self.accepted(await self._create(f"/api/threads/{thread}/messages", body, pod))

    async def steer(self, thread: str, text: str, pod: Pod | None = None, agent: str | None = None) -> tuple[str, bool]:
        """Post a message for the run under way; the run that has it, and whether that is the one under way."""
        body = {"content": text, "while_running": "steer", "agent": agent}
        response = await self._create(f"/api/threads/{thread}/messages", body, pod)
        return self.accepted(response), bool(response.json()["steered"])

    async def start_plan(self, plan: str, name: str, pod: Pod | None = None) -> str:
        """Start a run of a plan under a name of the client's, or attach to it; the server's id of it."""

        async def accepted() -> str | None:
            with suppress(httpx2.TransportError, IndexError):
                await self.request("POST", "/agents/runs", pod, json={"runId": name, "plan": plan})
            rows = await self.database.rows("select id, external_id from runs")
            return next((row["id"] for row in rows if row["external_id"] == name), None)

        run_id: str = await eventually(f"run {name} is accepted", accepted)
        self.evidence.accepted.append(run_id)
        return run_id

    async def published(self, run_id: str) -> list[Row]:
        """The run's events as the outbox has published them, once all of them are."""

        async def all_of_them() -> bool:
            rows = await self.database.rows("select run_id, next_seq from run_outbox")
            last = (await self.run(run_id))["last_seq"]
            return any(row["run_id"] == run_id and row["next_seq"] == last + 1 for row in rows)

        await eventually(f"run {run_id} is published", all_of_them)
        rows = await self.database.rows("select * from run_publication order by run_id, seq")
        return [row for row in rows if row["run_id"] == run_id]

    async def _create(self, path: str, body: Any, pod: Pod | None) -> httpx2.Response:
        """As a careful client: no answer, 502 or 503, and it asks again with the same key."""
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with suppress(httpx2.TransportError, IndexError):
                response = await self.request("POST", path, pod, json=body, headers=headers)
                if response.status_code not in (502, 503):  # 502: a proxy had no pod to ask
                    assert response.status_code == 201, response.text
                    return response
            await asyncio.sleep(0.02)
        raise TimeoutError(f"no pod accepted POST {path}")

    def accepted(self, response: httpx2.Response) -> str:
        run_id = str(response.json()["run_id"])
        self.evidence.accepted.append(run_id)
        return run_id

    def follow(self, run_id: str, *pods: Pod, face: str = "native", drop_after: int | None = None) -> Reader:
        reader = Reader(self, run_id, pods, face, drop_after)
        self.readers.append(reader)
        return reader

    async def status(self, run_id: str, pod: Pod | None = None) -> str:
        return str((await self.request("GET", f"/api/runs/{run_id}", pod)).json()["status"])

    async def cancel(self, run_id: str, pod: Pod | None = None) -> str:
        response = await self.request("POST", f"/api/runs/{run_id}/cancel", pod)
        assert response.status_code == 200, response.text
        return str(response.json()["status"])

    # --- what happened

    async def run(self, run_id: str) -> Row:
        [row] = await self.database.rows(f"select * from runs where id = '{uuid.UUID(run_id)}'")
        return row

    async def log(self, run_id: str) -> list[Row]:
        of_run = f"run_id = '{uuid.UUID(run_id)}'"
        return list(await self.database.rows(f"select * from run_events where {of_run} order by seq"))

    async def reached(self, run_id: str, *statuses: str) -> None:
        async def there() -> bool:
            return (await self.run(run_id))["status"] in statuses

        await eventually(f"run {run_id} is {' or '.join(statuses)}", there)

    async def has_runs(self, worker: Pod) -> bool:
        rows = await self.database.rows("select worker_id from runs where status = 'running'")
        return any(row["worker_id"] == worker.worker_id for row in rows)

    async def lost_its_runs(self, worker: Pod) -> None:
        async def lost() -> bool:
            return not await self.has_runs(worker)

        await eventually(f"the runs of {worker.name} are taken from it", lost)

    async def at_gate(self, gate: str, pod: Pod | None = None) -> int:
        """Wait until an agent stands at the gate (in that pod); the pid of its process."""

        def standing() -> int | None:
            pids = [int(pid) for name, pid in self.notes.read("reached") if name == gate]
            return next((pid for pid in pids if pod is None or pid == pod.pid), None)

        found: int = await eventually(f"an agent reaches {gate}", standing)
        return found

    async def struck(self, point: str) -> None:
        await eventually(f"{point} fires", lambda: any(words[0] == point for words in self.notes.read("faults")))

    def effects(self, tool: str) -> list[str]:
        """The keys with which a tool touched the world, in order."""
        return [key for name, key, _ in self.notes.read("effects") if name == tool]

    # --- the end

    async def settled(self, seconds: float = SETTLE_SECONDS) -> None:
        """Wait until every accepted run has ended or waits, and every reader has what there is (I5)."""

        settled = ", ".join(f"'{status}'" for status in sorted({*ENDED, "waiting"}))
        at_work = f"select id from runs where status not in ({settled})"

        async def calm() -> bool:
            rows = await self.database.rows(at_work)
            return not {row["id"] for row in rows}.intersection(self.evidence.accepted)

        try:
            await eventually("all runs have settled", calm, seconds)
        except TimeoutError as error:
            raise InvariantBroken(f"I5 {error}: {await self._unsettled()}") from None

    async def _unsettled(self) -> list[str]:
        rows = await self.database.rows("select id, status, attempts, worker_id from runs")
        return [str(dict(row)) for row in rows if row["status"] in ("queued", "running")][:5]

    async def is_published(self) -> bool:
        cursors = await self.database.rows("select run_id, next_seq from run_outbox")
        ends = {row["id"]: row["last_seq"] for row in await self.database.rows("select id, last_seq from runs")}
        return all(row["next_seq"] > ends[row["run_id"]] for row in cursors)

    async def check(self, seconds: float = SETTLE_SECONDS) -> None:
        """The end of every scenario. The checker reads table by table, so publishers get time to finish."""
        self.is_checked = True
        await self.settled(seconds)
        if any(pod.alive for pod in self.pods):
            with suppress(TimeoutError):
                await eventually("all is published", self.is_published, min(seconds, 20))
        for reader in self.readers:
            reachable = any(pod.alive for pod in reader.pods) and not reader.is_stopped
            if reachable and (await self.run(reader.seen.run_id))["status"] in ENDED:
                reader.seen.should_be_complete = True
                with suppress(TimeoutError):
                    await reader.end(20)
        await check(self.database, self.evidence)

    async def close(self) -> None:
        for reader in self.readers:
            await reader.stop()
        await self.http.aclose()
        for pod in self.pods:
            if pod.alive:
                with suppress(AssertionError, ProcessLookupError):
                    await pod.kill()
        await self.database.close()
