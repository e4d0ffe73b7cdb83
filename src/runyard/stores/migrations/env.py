"""Alembic's entry point: connect, lock so that processes that start together migrate once, and run the migrations."""

import asyncio

from alembic import context
from sqlalchemy import Connection, create_engine, pool, text

from runyard.stores.migrations.upgrade import is_sqlite

LOCK = 4_710_203_001


def run(connection: Connection) -> None:
    context.configure(connection=connection, transaction_per_migration=False)
    with context.begin_transaction():
        if connection.dialect.name == "postgresql":
            connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": LOCK})
        context.run_migrations()


async def run_on_postgres(url: str) -> None:
    import asyncpg
    from sqlalchemy.ext.asyncio import create_async_engine

    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url, timeout=10), poolclass=pool.NullPool
    )
    async with engine.connect() as connection:
        await connection.run_sync(run)
        await connection.commit()
    await engine.dispose()


url: str = context.config.attributes["url"]
if is_sqlite(url):
    with create_engine(url, poolclass=pool.NullPool).connect() as connection:
        run(connection)
        connection.commit()
else:
    asyncio.run(run_on_postgres(url))
