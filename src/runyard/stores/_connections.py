"""Connections to Postgres, handed out one user at a time.

Simpler and cheaper than a general pool: nothing of ours leaves state in a session, so nothing is reset on return, and a
connection that was lost is made anew by whoever needs it next.
"""

import asyncio
from collections import deque
from typing import Any

import asyncpg

SETTINGS = {
    "application_name": "runyard",
    "jit": "off",
    "idle_in_transaction_session_timeout": "10s",
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    # Every statement finds its rows by a key and is planned once: a plan that was made while a table was empty must not
    # read all of it later.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
# What being without a database looks like. It may come back.
AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.LockNotAvailableError,
    asyncpg.InternalClientError,  # what asyncpg says of a connection that broke while it was reading
    OSError,
    TimeoutError,
)


class Connections:
    """At most `size` connections; who comes when all are out waits in line."""

    def __init__(self, dsn: str, size: int, **settings: str) -> None:
        self._dsn = dsn
        self._settings = SETTINGS | settings
        self._free = asyncio.Semaphore(size)
        self._idle: deque[asyncpg.Connection[Any]] = deque()

    async def take(self) -> "asyncpg.Connection[Any]":
        await self._free.acquire()
        try:
            while self._idle:
                connection = self._idle.pop()
                if not connection.is_closed():
                    return connection
            return await asyncpg.connect(self._dsn, timeout=10, server_settings=self._settings)
        except BaseException:
            self._free.release()
            raise

    def give_back(self, connection: "asyncpg.Connection[Any]") -> None:
        self._idle.append(connection)
        self._free.release()

    async def close(self) -> None:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                await connection.close(timeout=5)
