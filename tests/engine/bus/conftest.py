"""One suite, every bus: `broker` is each of the four, `remote` each of those that can fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.engine.bus.brokers import Broker, MemoryBroker, NatsBroker, PostgresBroker, RedisBroker, Remote
from tests.support.servers.nats_server import PrivateNats
from tests.support.servers.postgres_server import PrivatePostgres
from tests.support.servers.redis_server import PrivateRedis

POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)


@pytest.fixture(params=["memory", POSTGRES, "redis", "nats"])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with ExitStack() as servers:
        match request.param:
            case "memory":
                yield MemoryBroker()
            case "postgres":
                yield PostgresBroker(request.getfixturevalue("pg_database"))
            case "redis":
                yield RedisBroker(servers.enter_context(PrivateRedis()))
            case _:
                yield NatsBroker(servers.enter_context(PrivateNats()))


@pytest.fixture(scope="session")
def own_postgres() -> Iterator[PrivatePostgres]:
    """For tests that stop it: one after the other, never two at a time."""
    with PrivatePostgres() as server:
        yield server


@pytest.fixture(params=[POSTGRES, "redis", "nats"])
def remote(request: pytest.FixtureRequest) -> Iterator[Remote]:
    """A broker that the test may stop."""
    with ExitStack() as servers:
        match request.param:
            case "postgres":
                server: PrivatePostgres = request.getfixturevalue("own_postgres")
                server.start()
                yield PostgresBroker(server.dsn(), server)
            case "redis":
                yield RedisBroker(servers.enter_context(PrivateRedis()))
            case _:
                yield NatsBroker(servers.enter_context(PrivateNats()))
