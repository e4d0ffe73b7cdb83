"""Connections to Postgres, each lent to one caller at a time.

Simpler and cheaper than a general pool: no statement leaves state in a session, so a returned connection is not reset,
and a lost connection is replaced when the next caller needs one.

A network can go silent without closing a connection (a failover, a NAT that lost its table). Three limits detect that:
every statement has a deadline in the client, the kernel closes a connection whose peer does not acknowledge data, and
Postgres does the same on its side, so that a dead session keeps no locks.
"""

import asyncio
import socket
from collections import deque
from contextlib import suppress
from typing import Any, NamedTuple

import asyncpg

SETTINGS = {
    "application_name": "runyard",
    "jit": "off",
    "idle_in_transaction_session_timeout": "10s",
    "tcp_user_timeout": "10s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "2",
    # Every statement finds its rows by a key and is planned once: a plan from when a table was empty must not scan it
    # later.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
CONNECT_SECONDS = 10.0
CLOSE_SECONDS = 1.0
PEER_TIMEOUT_MS = 10_000  # the kernel closes a connection with unacknowledged data after this time
KEEPALIVE = (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 2), ("TCP_USER_TIMEOUT", PEER_TIMEOUT_MS))
# Errors that mean: the database is unavailable. It may come back.
AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.LockNotAvailableError,
    asyncpg.InternalClientError,  # raised when a connection breaks during a read
    OSError,
    TimeoutError,
)


class Limits(NamedTuple):
    """How long one statement may take, in seconds.

    Postgres ends a statement, or its wait for a lock, before the client gives up on the `answer`. So the client's
    deadline passes only if the answer cannot arrive."""

    answer: float
    statement: float
    lock: float

    @property
    def settings(self) -> dict[str, str]:
        return {"statement_timeout": f"{self.statement * 1000:.0f}ms", "lock_timeout": f"{self.lock * 1000:.0f}ms"}


class Connections:
    """At most `size` connections; a caller waits while all of them are in use."""

    def __init__(self, dsn: str, size: int, limits: Limits, **settings: str) -> None:
        self._dsn = dsn
        self._seconds = limits.answer
        self._settings = SETTINGS | limits.settings | settings
        self._free = asyncio.Semaphore(size)
        self._idle: deque[asyncpg.Connection[Any]] = deque()

    async def take(self) -> "asyncpg.Connection[Any]":
        await self._free.acquire()
        try:
            while self._idle:
                connection = self._idle.pop()
                if not connection.is_closed():
                    return connection
            return await self._connect()
        except BaseException:
            self._free.release()
            raise

    async def _connect(self) -> "asyncpg.Connection[Any]":
        connection: asyncpg.Connection[Any] = await asyncpg.connect(
            self._dsn, timeout=CONNECT_SECONDS, command_timeout=self._seconds, server_settings=self._settings
        )
        _detect_dead_peer(connection)
        return connection

    def give_back(self, connection: "asyncpg.Connection[Any]") -> None:
        self._idle.append(connection)
        self._free.release()

    def drop_idle(self) -> None:
        """Terminate the idle connections. The next callers open new ones."""
        while self._idle:
            self._idle.pop().terminate()

    async def close(self) -> None:
        """Close the idle connections. One that does not close in time is dropped."""
        idle = [connection for connection in self._idle if not connection.is_closed()]
        self._idle.clear()
        await asyncio.gather(*(connection.close(timeout=CLOSE_SECONDS) for connection in idle), return_exceptions=True)


def _detect_dead_peer(connection: "asyncpg.Connection[Any]") -> None:
    """Let the kernel close this connection when its peer stops answering. asyncpg has no option for it."""
    sock = connection._transport.get_extra_info("socket")  # type: ignore[attr-defined]
    if sock is None or sock.family == socket.AF_UNIX:
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE:
        with suppress(AttributeError, OSError):  # not every system has all of them
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
