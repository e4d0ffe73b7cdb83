"""A server on a database of the test's own, SQLite and Postgres."""

from tests.faces.conftest import gate, memory_store, serve
from tests.faces.database_fixtures import backend, database_url, migrated_postgres, migrated_sqlite

__all__ = ["backend", "database_url", "gate", "memory_store", "migrated_postgres", "migrated_sqlite", "serve"]
