"""HTTP as such: the same served app as the face tests, with what no face is asked for."""

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
