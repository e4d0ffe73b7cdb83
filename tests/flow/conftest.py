"""Flow tests: real processes, a real database, real HTTP over loopback; the checker runs after every scenario.

`flow` is a scenario on Postgres, `sqlite_flow` one on SQLite. Databases are copies of one that was migrated once per
session; on Postgres a copy is emptied and used again. When a test fails, the last log lines of its pods are part of the
report.
"""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from runyard.base.clock import SystemClock
from runyard.store import Store
from runyard.stores.postgres.store import PostgresStore
from runyard.stores.sqlite.store import SqliteStore
from tests.support.scenario.databases import CopiedDatabases, PostgresDatabase, SqliteDatabase
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Nursery
from tests.support.servers.postgres_server import PostgresServer

HERE = Path(__file__).parent
_FAILED = pytest.StashKey[bool]()
_copies: dict[str, CopiedDatabases] = {}  # by template


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("flow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
        for flow in (value for value in getattr(item, "funcargs", {}).values() if isinstance(value, Flow)):
            for pod in flow.pods:
                report.sections.append((f"the last words of {pod.name} (pid {pod.pid})", pod.last_words()))
    return report


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    with Nursery(tmp_path_factory.mktemp("nursery") / "log") as nursery:
        yield nursery


async def _migrate(store: Store) -> None:
    await store.open()
    await store.close()


@pytest.fixture(scope="session")
def template(postgres: PostgresServer) -> Iterator[str]:
    """The name of a Postgres database with the schema and nothing in it."""
    name = f"flow_template_{uuid.uuid4().hex}"
    asyncio.run(_migrate(PostgresStore(postgres.create_database(name), SystemClock())))
    yield name
    if copies := _copies.pop(name, None):
        copies.close()
    postgres.drop_database(name)


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "runyard.db"
    asyncio.run(_migrate(SqliteStore(path, SystemClock())))
    return path


@pytest.fixture
def postgres_database(postgres: PostgresServer, template: str) -> Iterator[PostgresDatabase]:
    copies = _copies.setdefault(template, CopiedDatabases(postgres, template))
    name = copies.take()
    yield PostgresDatabase(postgres.dsn(name))
    copies.give_back(name)


async def _scenario(flow: Flow, request: pytest.FixtureRequest) -> AsyncIterator[Flow]:
    try:
        yield flow
        if not flow.is_checked and not request.node.stash.get(_FAILED, False):
            await flow.check()
    finally:
        await flow.close()


@pytest.fixture
async def flow(
    nursery: Nursery, postgres_database: PostgresDatabase, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Flow]:
    async for flow in _scenario(Flow(nursery, postgres_database, tmp_path), request):
        yield flow


@pytest.fixture
async def sqlite_flow(
    nursery: Nursery, empty_file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Flow]:
    path = Path(shutil.copy(empty_file, tmp_path / "runyard.db"))
    async for flow in _scenario(Flow(nursery, SqliteDatabase(path), tmp_path), request):
        yield flow


@pytest.fixture(params=[pytest.param("postgres", marks=pytest.mark.postgres), "sqlite"])
def any_flow(request: pytest.FixtureRequest) -> Flow:
    """The same scenario on both databases."""
    found: Flow = request.getfixturevalue("flow" if request.param == "postgres" else "sqlite_flow")
    return found
