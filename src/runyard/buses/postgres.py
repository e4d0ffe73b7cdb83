"""The bus on Postgres LISTEN and NOTIFY.

One connection listens and one notifies, so that neither waits for the other. No transaction of the store has a NOTIFY,
which would serialise commits. Channels belong to a database; the schema is part of the channel name, so that two
installations in two schemas do not wake each other. A transaction pooler loses LISTEN: set `bus_url` to the server
itself.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import asyncpg

from runyard.buses.reconnecting import PATIENCE_SECONDS, PRESENCE_SECONDS, OnMessage, ReconnectingBus, until_lost

_NOTIFY = (Path(__file__).parent / "sql" / "notify.sql").read_text(encoding="utf-8")
_LONGEST_CHANNEL = 63
_SETTINGS = {"application_name": "runyard bus", "jit": "off", "statement_timeout": "10s"}


class PostgresBus(ReconnectingBus):
    name = "postgres"

    def __init__(self, dsn: str, patience: float = PATIENCE_SECONDS, presence: float = PRESENCE_SECONDS) -> None:
        super().__init__(patience, presence)
        self._dsn = dsn

    def new_connection(self) -> "_PostgresConnection":
        return _PostgresConnection(self._dsn, self._patience)


class _PostgresConnection:
    def __init__(self, dsn: str, patience: float) -> None:
        self._dsn = dsn
        self._patience = patience
        self._channel = ""
        self._connections: list[asyncpg.Connection[Any]] = []
        self._lost = asyncio.Event()

    async def open(self, on_message: OnMessage) -> None:
        self._listener = await self._connect()
        self._notifier = await self._connect()
        schema = await self._listener.fetchval("select current_schema()") or ""
        self._channel = f"runyard_{schema}".encode()[:_LONGEST_CHANNEL].decode(errors="ignore")
        await self._listener.add_listener(
            self._channel, lambda connection, pid, channel, message: on_message(str(message))
        )

    async def _connect(self) -> "asyncpg.Connection[Any]":
        connection = await asyncpg.connect(self._dsn, timeout=self._patience, server_settings=_SETTINGS)
        self._connections.append(connection)
        connection.add_termination_listener(lambda _: self._lost.set())
        return connection

    async def publish(self, messages: Sequence[str]) -> None:
        await self._notifier.execute(_NOTIFY, self._channel, messages)

    async def watch(self) -> NoReturn:
        await until_lost(self._lost, lambda: self._listener.execute("select 1"), self._patience)

    async def close(self) -> None:
        try:
            await asyncio.gather(*(connection.close() for connection in self._connections))
        finally:
            for connection in self._connections:
                connection.terminate()
