"""Every store has the operations of the contract, with the same parameters and defaults."""

import inspect
from collections.abc import Mapping

import pytest

from runyard.encryption.sealed_store import UNSEALED, SealedStore
from runyard.store import Store
from runyard.stores.memory import MemoryStore
from runyard.stores.postgres.store import PostgresStore
from runyard.stores.sqlite.store import SqliteStore

OPERATIONS = {name for name in dir(Store) if not name.startswith("_")}


def parameters(store: type, operation: str) -> Mapping[str, object]:
    """Return the defaults of an operation's parameters by name. The first is the store, or the transaction."""
    _, *rest = inspect.signature(getattr(store, operation)).parameters.values()
    return {parameter.name: parameter.default for parameter in rest}


@pytest.mark.parametrize("store", [MemoryStore, SqliteStore, PostgresStore])
def test_a_caller_may_name_the_parameters_of_every_operation(store: type) -> None:
    assert len(OPERATIONS) > 90
    for operation in sorted(OPERATIONS):
        assert parameters(store, operation) == parameters(Store, operation), operation


def test_a_sealed_store_seals_an_operation_or_lists_it_as_free_of_content() -> None:
    parts = [part for part in SealedStore.__mro__ if part.__module__.startswith("runyard.encryption.sealed_store")]
    sealed = {name for part in parts for name in vars(part) if not name.startswith("_")}
    assert len(set(UNSEALED)) == len(UNSEALED)
    assert not sealed & set(UNSEALED)
    assert sealed | set(UNSEALED) == OPERATIONS
