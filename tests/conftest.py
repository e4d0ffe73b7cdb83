"""Fixtures for all tests: the event loop's backend and the private Postgres server.

One server serves a whole test session; it never waits for the disk, because no test cuts the power. Under xdist the
controlling process owns it and hands its address to the workers; otherwise the first test that needs it starts it.
Tests that stop or crash a server start their own `PrivatePostgres`.
"""

from __future__ import annotations

import gc
import os
import sys
import sysconfig
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from tests.support.servers.postgres_server import PostgresMissingError, PostgresServer, PrivatePostgres
from tests.support.session.failures_at_once import show_failures_at_once
from tests.support.session.long_tests_first import put_long_tests_first
from tests.support.session.missing_programs import pytest_runtest_makereport, pytest_terminal_summary

__all__ = ["pytest_runtest_makereport", "pytest_terminal_summary"]  # hooks

HERE = Path(__file__).parent
# Programs that the set-up brought lie beside our Python. Tests and what they start find them first.
os.environ["PATH"] = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
# Tests start hundreds of interpreters, which would otherwise compile every module again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A client would first ask the private server for TLS, which it does not have: a tenth of the cost of a connection.
os.environ["PGSSLMODE"] = "disable"
gc.disable()  # until all tests are collected, see below
# A slow machine is no error of the code.
hypothesis_settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("patient")
TALKERS = {"bench", "cli", "clients", "deploy", "flow", "page"}
_SERVER = pytest.StashKey[PrivatePostgres]()
_POSTGRES_FIXTURES = {"postgres", "pg_database"}


def _own_server(config: pytest.Config) -> PrivatePostgres:
    if _SERVER not in config.stash:
        server = config.stash[_SERVER] = PrivatePostgres(fsync=False)
        server.start()
    return config.stash[_SERVER]


def pytest_configure(config: pytest.Config) -> None:
    show_failures_at_once(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Called by xdist in the controlling process, once per worker, before the worker starts."""
    try:
        node.workerinput["postgres"] = _own_server(node.config).address()
    except PostgresMissingError:
        node.workerinput["postgres"] = None


def pytest_unconfigure(config: pytest.Config) -> None:
    if _SERVER in config.stash:
        config.stash[_SERVER].close()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, Any, None]:
    for item in items:
        if _POSTGRES_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("postgres")
    yield
    put_long_tests_first(config, items)


def pytest_collection_finish() -> None:
    """Modules and tests stay until the end. The garbage collector need not look at them while they are made, nor again
    and again while tests run."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Coverage is not traced where it would tell nothing new: in a test that only talks to processes, in one that
    repeats what others do (marker `untraced`), and on Postgres, where the same test on SQLite runs the same lines (the
    store's own are traced). Tracing makes a test half as long again."""
    coverage = Coverage.current()
    if coverage is None or _is_traced(item):
        return (yield)
    coverage.stop()
    try:
        return (yield)
    finally:
        coverage.start()


def _is_traced(item: pytest.Item) -> bool:
    if item.get_closest_marker("untraced") is not None:
        return False
    kind = item.path.relative_to(HERE.parent).parts[1]  # examples have tests, too
    if kind in TALKERS:
        return item.get_closest_marker("in_process") is not None
    return kind == "store" or item.get_closest_marker("postgres") is None


@pytest.fixture
def open_umask() -> Iterator[None]:
    """New files and folders are for everybody, unless the code says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> PostgresServer:
    """The session's Postgres server, shared by all tests: make your own databases, never stop it."""
    workerinput = getattr(request.config, "workerinput", None)
    if workerinput is None:
        return _own_server(request.config)
    if workerinput["postgres"] is None:
        raise PostgresMissingError
    return PostgresServer(**workerinput["postgres"])


@pytest.fixture
def pg_database(postgres: PostgresServer) -> Iterator[str]:
    """The DSN of an empty database of the test's own."""
    name = f"test_{uuid.uuid4().hex}"
    yield postgres.create_database(name)
    postgres.drop_database(name)
