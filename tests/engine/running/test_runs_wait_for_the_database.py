"""Store calls of runs are retried while the database is unavailable, for every operation.

`retrying` repeats coroutine functions only."""

import inspect

import pytest

from runyard.store import Store
from runyard.stores.postgres.store import PostgresStore
from runyard.stores.sqlite.store import SqliteStore


@pytest.mark.parametrize("kind", [PostgresStore, SqliteStore])
def test_every_operation_of_a_store_can_be_recognised_as_one_that_is_awaited(kind: type) -> None:
    names = [name for name in dir(Store) if inspect.iscoroutinefunction(getattr(Store, name))]
    assert len(names) > 50
    assert [name for name in names if not inspect.iscoroutinefunction(getattr(kind, name))] == []
