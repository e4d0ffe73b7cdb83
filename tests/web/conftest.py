"""The same served app as in the face tests, for tests of HTTP that concern no face."""

import pytest

from tests.faces.conftest import (
    backend,
    database_url,
    gate,
    memory_store,
    migrated_postgres,
    migrated_sqlite,
    serve,
    server,
)
from tests.support.in_process.live_server import Serve, Server

__all__ = [
    "backend",
    "database_url",
    "gate",
    "memory_store",
    "migrated_postgres",
    "migrated_sqlite",
    "serve",
    "server",
]


@pytest.fixture
async def locked(serve: Serve) -> Server:
    """A server whose callers need a key."""
    return await serve(keys=True)
