"""The brokers of the suite: how to connect to each, and its faults. All except memory are real servers."""

from __future__ import annotations

from abc import ABC, abstractmethod

import asyncpg
from redis.asyncio import Redis

from runyard.buses.memory import Hub, MemoryBus
from runyard.buses.nats import NatsBus
from runyard.buses.postgres import PostgresBus
from runyard.buses.reconnecting import PRESENCE_SECONDS, ReconnectingBus
from runyard.buses.redis import RedisBus
from tests.support.servers.daemon import Daemon
from tests.support.servers.postgres_server import PrivatePostgres

PATIENCE = 1.0  # with a broker that hangs: short, so that tests need not wait for it


class Broker(ABC):
    @abstractmethod
    def bus(self, url: str | None = None, presence: float = PRESENCE_SECONDS) -> ReconnectingBus:
        """One more process on it; with `url`, by another way."""


class MemoryBroker(Broker):
    def __init__(self) -> None:
        self._hub = Hub()

    def bus(self, url: str | None = None, presence: float = PRESENCE_SECONDS) -> ReconnectingBus:
        return MemoryBus(self._hub)


class Remote(Broker):
    """One that can fail. `url` has no password and no path that matters."""

    url: str
    apart: str  # the URL of another Runyard on the same server

    @abstractmethod
    def stop(self) -> None:
        """Kill the broker without a shutdown."""

    @abstractmethod
    def start(self) -> None: ...

    @abstractmethod
    async def cut_listeners(self) -> None:
        """Close the connections that listen, from the server's side."""


class PostgresBroker(Remote):
    def __init__(self, url: str, server: PrivatePostgres | None = None) -> None:
        self.url = url
        self.apart = f"{url}?search_path=apart"
        self._server = server

    def bus(self, url: str | None = None, presence: float = PRESENCE_SECONDS) -> ReconnectingBus:
        return PostgresBus(url or self.url, PATIENCE, presence)

    def stop(self) -> None:
        assert self._server is not None
        self._server.crash()

    def start(self) -> None:
        assert self._server is not None
        self._server.start()

    async def cut_listeners(self) -> None:
        connection = await asyncpg.connect(self.url)
        cut = await connection.fetch(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and query like 'LISTEN%'"
        )
        await connection.close()
        assert cut


class DaemonBroker(Remote):
    def __init__(self, daemon: Daemon) -> None:
        self.url = daemon.url
        self._daemon = daemon

    def stop(self) -> None:
        self._daemon.kill()

    def start(self) -> None:
        self._daemon.start()


class RedisBroker(DaemonBroker):
    def __init__(self, daemon: Daemon) -> None:
        super().__init__(daemon)
        self.apart = self.url.removesuffix("/0") + "/1"

    def bus(self, url: str | None = None, presence: float = PRESENCE_SECONDS) -> ReconnectingBus:
        return RedisBus(url or self.url, PATIENCE, presence)

    async def cut_listeners(self) -> None:
        client = Redis.from_url(self.url)
        cut = await client.client_kill_filter(_type="pubsub")
        await client.aclose()
        assert cut


class NatsBroker(DaemonBroker):
    def __init__(self, daemon: Daemon) -> None:
        super().__init__(daemon)
        self.apart = f"{self.url}/apart"

    def bus(self, url: str | None = None, presence: float = PRESENCE_SECONDS) -> ReconnectingBus:
        return NatsBus(url or self.url, PATIENCE, presence)

    async def cut_listeners(self) -> None:
        self.stop()  # it has no command for that
        self.start()
