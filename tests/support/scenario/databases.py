"""The database of a flow test, seen from outside the product: for the checker, and for faults."""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncpg

from tests.support.checker.wait_invariants import Row
from tests.support.eventually import PATIENCE, eventually
from tests.support.servers.postgres_server import PostgresServer

CALM_SECONDS = 5.0

_UNREST = """
select 'idle in transaction: ' || left(query, 80) as what from pg_stat_activity
 where datname = current_database() and state like 'idle in transaction%'
union all
select 'waits for a lock: ' || left(a.query, 80) from pg_locks l join pg_stat_activity a using (pid)
 where a.datname = current_database() and not l.granted
"""


_STUCK = """
select pid from pg_stat_activity
 where datname = current_database()
   and (state like 'idle in transaction%' or state = 'active' and wait_event = 'ClientRead')
   and clock_timestamp() - state_change > interval '50 ms'
"""

_OTHERS = """
select count(pg_terminate_backend(pid)) from pg_stat_activity
 where datname = current_database() and pid <> pg_backend_pid()
"""
# Everything that a test could leave behind besides rows.
_SHAPE = """
select string_agg(what, E'\\n' order by what) from (
 select format('%s %s %s', relkind, relname, reloptions) from pg_class where relnamespace = 'public'::regnamespace
 union all select format('%s.%s %s %s', attrelid::regclass, attname, atttypid, attnotnull) from pg_attribute
  join pg_class on pg_class.oid = attrelid where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
 union all select format('%s %s', tgrelid::regclass, tgname) from pg_trigger
 union all select format('%s %s', proname, md5(prosrc)) from pg_proc where pronamespace = 'public'::regnamespace
 union all select format('%s %s', setrole, setconfig) from pg_db_role_setting
  where setdatabase = (select oid from pg_database where datname = current_database())
) as found (what)
"""
_DELETE = """
select string_agg(case relkind when 'S' then format('select setval(%L, 1, false)', quote_ident(relname))
   else format('delete from %I', relname) end, ';')
  from pg_class where relnamespace = 'public'::regnamespace
   and relkind in ('r', 'p', 'S') and not relispartition and relname not like 'alembic%'
"""


class CopiedDatabases:
    """Copies of one migrated database, for one test after the other.

    To empty a copy is far quicker than to make another one: a few milliseconds instead of some hundred files. A copy
    that differs from the template by more than rows is dropped.
    """

    def __init__(self, server: PostgresServer, template: str) -> None:
        self._server = server
        self._template = template
        self._free: list[str] = []
        self._shape: str | None = None

    def take(self) -> str:
        """Return the name of a copy that no other test uses."""
        if self._free:
            return self._free.pop()
        name = f"copy_{uuid.uuid4().hex}"
        self._server.create_database(name, self._template)
        if self._shape is None:
            self._shape = self._server.execute(_SHAPE, name)
        return name

    def give_back(self, name: str) -> None:
        """End every session in the copy and empty it."""
        if asyncio.run(self._empty(name)):
            self._free.append(name)
        else:
            self._server.drop_database(name)

    def close(self) -> None:
        while self._free:
            self._server.drop_database(self._free.pop())

    async def _empty(self, name: str) -> bool:
        connection = await asyncpg.connect(self._server.socket_dsn(name))
        try:

            async def is_alone() -> bool:
                return not await connection.fetchval(_OTHERS)

            await eventually("all other sessions have ended", is_alone)
            if await connection.fetchval(_SHAPE) != self._shape:
                return False
            await connection.execute(await connection.fetchval(_DELETE))
        finally:
            await connection.close()
        return True


class PostgresDatabase:
    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.url = dsn  # what pods get; a test may put a proxy in between
        self._connection: asyncpg.Connection[Any] | None = None
        self._one_at_a_time = asyncio.Lock()

    async def connection(self) -> asyncpg.Connection[Any]:
        if self._connection is None or self._connection.is_closed():
            self._connection = await asyncpg.connect(self.dsn, server_settings={"application_name": "test"})
        return self._connection

    async def rows(self, sql: str) -> Sequence[Row]:
        async with self._one_at_a_time:
            found = await (await self.connection()).fetch(sql)
        return [
            {name: str(value) if isinstance(value, uuid.UUID) else value for name, value in row.items()}
            for row in found
        ]

    async def change(self, sql: str) -> None:
        await self.rows(sql)

    async def unrest(self) -> Sequence[str]:
        deadline = asyncio.get_running_loop().time() + CALM_SECONDS
        while found := [row["what"] for row in await self.rows(_UNREST)]:
            if asyncio.get_running_loop().time() > deadline:
                return found
            await asyncio.sleep(0.02)
        return []

    async def has_stuck_transactions(self) -> bool:
        """Whether a transaction is open now."""
        await asyncio.sleep(0.06)
        return bool(await self.rows(_STUCK))

    async def cut_connections(self) -> int:
        """Kill every connection that a pod has; how many there were."""
        [row] = await self.rows(
            "select count(pg_terminate_backend(pid)) as n from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        return int(row["n"])

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


class SqliteDatabase:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = f"sqlite:///{path}"

    async def rows(self, sql: str) -> Sequence[Row]:
        connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        try:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(sql).fetchall()]
        finally:
            connection.close()

    async def change(self, sql: str) -> None:
        connection = sqlite3.connect(self.path, timeout=PATIENCE)
        try:
            with connection:
                connection.execute(sql)
        finally:
            connection.close()

    async def unrest(self) -> Sequence[str]:
        [row] = await self.rows("pragma integrity_check")
        return [] if row["integrity_check"] == "ok" else [f"integrity_check: {row['integrity_check']}"]

    async def close(self) -> None:
        pass
