"""The migration that separates agents by owner keeps their memory and the runs in their mailboxes."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import asyncpg
from alembic.script import ScriptDirectory

from runyard.base.clock import SystemClock
from runyard.base.ids import new_id
from runyard.domain.content.memory import EVERY_OWNER
from runyard.store import Store
from runyard.stores.migrations import upgrade
from runyard.stores.postgres.store import PostgresStore
from runyard.stores.sqlite.store import SqliteStore

ANNS, BOBS, WAITS, OLD, PAMS = (new_id() for _ in range(5))


def before() -> str:
    """The revision before the one that brings owners."""
    script = ScriptDirectory.from_config(upgrade.config(""))
    [found] = [each for each in script.walk_revisions() if Path(each.path).stem.endswith("_owners")]
    return str(found.down_revision)


def rows(dialect: str) -> dict[str, list[dict[str, Any]]]:
    """Kevin has worked for two owners, Pam for one, Oscar for none; Toby was made by Ann over the API."""
    no: Any = 0 if dialect == "sqlite" else False

    def run(run_id: str, owner: str, agent: str, pos: int, status: str) -> dict[str, Any]:
        lane = {"lane_key": f"agent:{agent}", "pos": pos, "status": status}
        return {"id": run_id, "owner": owner, "face": "channels", "agent": agent, "created_at": 1, **lane}

    def block(agent: str, label: str) -> dict[str, Any]:
        return {"id": new_id(), "agent": agent, "label": label, "content": label, "updated_at": 1}

    def passage(agent: str, content: str, cause: str | None = None) -> dict[str, Any]:
        return {"id": new_id(), "agent": agent, "content": content, "created_at": 1, "cause": cause}

    shared = {**block("toby", "shared"), "is_shared": 1 if dialect == "sqlite" else True}
    named = [("kevin", None), ("pam", None), ("oscar", None), ("toby", "ann")]
    return {
        "agents": [
            {"id": name, "owner": owner, "display_name": name, "session_id": "mixed", "created_at": 1, "updated_at": 1}
            for name, owner in named
        ],
        "runs": [
            run(OLD, "bob", "kevin", 1, "done"),
            run(ANNS, "ann", "kevin", 2, "running"),
            run(BOBS, "bob", "kevin", 3, "queued"),
            run(WAITS, "ann", "kevin", 4, "queued"),
            run(PAMS, "bob", "pam", 1, "done"),
        ],
        "lanes": [
            {"key": "agent:kevin", "next_pos": 5, "runnable": 2, "active_run": ANNS, "ready_at": 0, "suspect": no},
            {"key": "agent:pam", "next_pos": 2, "runnable": 0, "active_run": None, "ready_at": 0, "suspect": no},
        ],
        "memory_blocks": [block("kevin", "whose"), block("pam", "bob's"), block("toby", "ann's"), shared],
        "shared_block_links": [{"block_id": shared["id"], "agent": "kevin"}],
        "passages": [
            passage("kevin", "told by bob", f"{OLD}:call_1"),
            passage("kevin", "put away by a request"),
            passage("oscar", "odd", "no run:at all"),
            passage("toby", "ann's"),
        ],
    }


def filled_sqlite(path: Path) -> None:
    upgrade.upgrade(f"sqlite:///{path}", before())
    connection = sqlite3.connect(path)
    for table, found in rows("sqlite").items():
        for row in found:
            places = ", ".join("?" * len(row))
            connection.execute(f"insert into {table} ({', '.join(row)}) values ({places})", list(row.values()))
    connection.commit()
    connection.close()


async def filled_postgres(url: str) -> None:
    await asyncio.to_thread(upgrade.upgrade, url, before())
    connection = await asyncpg.connect(url)
    for table, found in rows("postgres").items():
        for row in found:
            places = ", ".join(f"${n + 1}" for n in range(len(row)))
            await connection.execute(f"insert into {table} ({', '.join(row)}) values ({places})", *row.values())
    await connection.close()


async def check(store: Store) -> None:
    await store.open()
    try:

        async def labels(agent: str, owner: str) -> list[str]:
            return [block.label for block in await store.blocks(agent, owner)]

        async def contents(agent: str, owner: str) -> list[str]:
            return [passage.content for passage in await store.passages(agent, owner, None, 9)]

        assert await labels("kevin", EVERY_OWNER) == ["whose"], "kept, and in no owner's prompt"
        assert await labels("kevin", "ann") == ["shared"], "a link is of the block's owner"
        assert await labels("kevin", "bob") == []
        assert await labels("pam", "bob") == ["bob's"]
        assert await labels("toby", "ann") == ["ann's", "shared"]
        assert await contents("kevin", "bob") == ["told by bob"]
        assert await contents("kevin", EVERY_OWNER) == ["put away by a request"]
        assert await contents("oscar", EVERY_OWNER) == ["odd"]
        assert await contents("toby", "ann") == ["ann's"]

        worker = new_id()
        await store.register(worker, "test", 60_000)
        claims = await store.claim(worker, 9, suspects=False)
        assert [claim.run.id for claim in claims] == [BOBS], "ann's lane has an active run, bob's has none"
        assert claims[0].run.lane_key == "agent:kevin:bob"
        assert await store.holding_runs([ANNS, BOBS, WAITS]) == {ANNS, BOBS}
    finally:
        await store.close()


async def test_on_sqlite_nothing_is_lost_and_nothing_is_mixed(tmp_path: Path) -> None:
    path = tmp_path / "runyard.db"
    await asyncio.to_thread(filled_sqlite, path)
    await check(SqliteStore(path, SystemClock()))


async def test_on_postgres_nothing_is_lost_and_nothing_is_mixed(pg_database: str) -> None:
    await filled_postgres(pg_database)
    await check(PostgresStore(pg_database, SystemClock()))
