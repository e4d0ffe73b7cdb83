"""One API at a time, over a real socket, on SQLite and on Postgres (see `app/server.py`)."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from runyard.agents.declared.loading import App
from runyard.base.clock import SystemClock
from runyard.settings import Settings
from runyard.store import Store
from runyard.stores.memory import MemoryStore
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.support.in_process.database_fixtures import backend, database_url, migrated_postgres, migrated_sqlite
from tests.support.in_process.live_server import QUICK, Serve, Server, served

__all__ = ["backend", "database_url", "migrated_postgres", "migrated_sqlite"]


@pytest.fixture
async def gate() -> Gate:
    """Opens and closes what the test's python agents wait for."""
    return Gate()


@pytest.fixture
def memory_store(backend: str) -> Store | None:
    """The one store that all pods of a test share, if its backend is memory."""
    return MemoryStore(SystemClock()) if backend == "memory" else None


@pytest.fixture
async def serve(database_url: str, gate: Gate, memory_store: Store | None, tmp_path: Path) -> AsyncIterator[Serve]:
    files = {
        "checkpoint_folder": tmp_path / "checkpoints",
        "checkpoint_fallback": tmp_path.with_name(f"{tmp_path.name}-fallback"),
        "workspaces": tmp_path / "workspaces",
    }
    async with AsyncExitStack() as pods:

        async def start(app: App | None = None, *, worker: bool = True, keys: bool = False, **settings: Any) -> Server:
            chosen = Settings(database_url=database_url, **{**QUICK, **files, **settings})
            pod = served(chosen, app or agents(gate), memory_store, worker=worker, keys=keys)
            return await pods.enter_async_context(pod)

        yield start
        gate.open.set()
        gate.thread_open.set()


@pytest.fixture
async def server(serve: Serve) -> Server:
    return await serve()
