"""A request that ends without a response gets a problem: 503 while the process shuts down."""

import asyncio
from typing import Any

import pytest

from runyard.base.clock import SystemClock
from runyard.settings import Settings
from runyard.stores.memory import MemoryStore
from runyard.web import body
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.support.eventually import PATIENCE
from tests.support.in_process.live_server import QUICK, Server, served
from tests.web.responses.test_problems import MEMORY, problem


class Stuck(MemoryStore):
    """A database that does not answer any more, or is gone, when a key is looked up."""

    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.asked = asyncio.Event()
        self.error: Exception | None = None

    async def get_api_key(self, key_id: str) -> Any:
        self.asked.set()
        if self.error is not None:
            raise self.error
        await asyncio.get_running_loop().create_future()


KEY = {"Authorization": f"Bearer ry_{'a' * 12}_{'b' * 43}"}


async def test_a_request_that_a_shutdown_cuts_off_is_a_503_problem(gate: Gate) -> None:
    store = Stuck()
    async with served(Settings(**QUICK), agents(gate), store, worker=False, keys=True) as server:
        store.asked.clear()
        asking = asyncio.create_task(server.http.get("/api/runs", headers=KEY))
        async with asyncio.timeout(PATIENCE):
            await store.asked.wait()
        for task in list(server.uvicorn.server_state.tasks):  # as uvicorn does when its patience is over
            task.cancel()
        problem(await asking, 503, "draining")


async def test_an_unforeseen_error_is_a_problem_and_a_503_while_the_process_shuts_down(gate: Gate) -> None:
    store = Stuck()
    store.error = RuntimeError("pool is closed")
    async with served(Settings(**QUICK), agents(gate), store, worker=False, keys=True) as server:
        problem(await server.http.get("/api/runs", headers=KEY), 500, "internal")
        await server.process.drain(0)
        problem(await server.http.get("/api/runs", headers=KEY), 503, "draining")


@MEMORY
async def test_a_body_is_decoded_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    decode = body.decoded

    def counted(given: bytes) -> Any:
        seen.append(len(given))
        return decode(given)

    monkeypatch.setattr(body, "decoded", counted)
    for path, sent in (("/api/threads", b"{}"), ("/api/channels", b'{"name":"x"}')):
        seen.clear()
        answer = await server.http.post(path, content=sent, headers={"content-type": "application/json"})
        assert (answer.status_code, len(seen)) == (201, 1), path
