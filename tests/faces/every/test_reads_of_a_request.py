"""A request reads little from the store before its run begins: at most what it needs of the thread, in one call."""

from typing import Any, cast
from uuid import uuid4

import pytest

import runyard
from runyard.agents.declared.loading import App
from runyard.base.clock import SystemClock
from runyard.store import Store
from runyard.stores.memory import MemoryStore
from tests.faces.samples.requests_of_faces import REQUESTS
from tests.support.in_process.live_server import Serve, Server

pytestmark = pytest.mark.parametrize("backend", ["memory"])


@runyard.agent
async def echo(ctx: runyard.Context) -> str:
    return ctx.message.text


APP = App({"echo": echo}, {}, "echo")
OF_REQUESTS = {
    *("accept", "ancestors", "get_messages", "get_named_run", "get_named_thread", "get_run", "get_runs", "get_thread"),
    *("get_thread_head", "history", "list_runs", "list_waits", "read", "read_logs", "recent_messages", "snapshot"),
}


class CountedStore:
    """A store that notes the reads of requests and runs, and what queues runs."""

    def __init__(self) -> None:
        self._store = MemoryStore(SystemClock())
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._store, name)

        def noted(*args: Any) -> Any:
            self.calls.append(name)
            return operation(*args)

        return noted if name in OF_REQUESTS else operation


@pytest.fixture
def counted() -> CountedStore:
    return CountedStore()


@pytest.fixture
def memory_store(counted: CountedStore) -> Store:
    return cast(Store, counted)


async def store_calls_of(server: Server, counted: CountedStore, path: str, body: Any) -> list[str]:
    counted.calls.clear()
    answer = await server.http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return list(counted.calls)


CALLS = {
    "ai": (["get_thread_head", "accept"], ["get_thread_head", "accept"]),
    "ag-ui": (["get_thread_head", "accept"], ["get_thread_head", "accept"]),
    "langgraph": (["get_named_thread", "accept"], ["get_named_thread", "list_runs", "accept"]),
    "responses": (["accept"], ["accept"]),
    "completions": (["accept"], ["accept"]),
    "mcp": (["get_thread_head", "accept"], ["get_thread_head", "accept"]),
    "a2a": (["get_thread_head", "accept", "get_messages"], ["get_thread_head", "accept", "get_messages"]),
}


@pytest.mark.parametrize("face", CALLS)
async def test_a_request_reads_its_thread_in_one_call_and_its_run_not_at_all(
    face: str, serve: Serve, counted: CountedStore
) -> None:
    for_a_new_thread, for_a_known_thread = CALLS[face]
    request, (server, thread) = REQUESTS[face], (await serve(APP), str(uuid4()))
    await store_calls_of(
        server, counted, *request("echo", str(uuid4()))
    )  # the calls of a process that has just started
    assert await store_calls_of(server, counted, *request("echo", thread)) == for_a_new_thread
    assert await store_calls_of(server, counted, *request("echo", thread)) == for_a_known_thread
