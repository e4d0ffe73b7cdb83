"""Declared store operations: a name of the contract, and the transaction script that does it.

    get_thread = query(threads.get)
    cancel = transaction("other", control.cancel)

The operation has the parameters and the result of its script. A database implements `_read`, `_write` and, if it saves
time, `_write_one`. `Purpose` names the connection that Postgres reserves, so that a heartbeat never waits behind a slow
commit. SQLite has one writer and ignores it.
"""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from runyard.stores.transactions.tx import Tx

P = ParamSpec("P")
T = TypeVar("T")
Script = Callable[Concatenate[Tx, P], Awaitable[T]]
Purpose = Literal["log", "intake", "claims", "lease", "outbox", "other"]


class Transactions:
    """A database that runs transaction scripts."""

    async def _write(self, purpose: Purpose, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a script in one transaction and commit it."""
        raise NotImplementedError

    async def _write_one(self, purpose: Purpose, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a script of one statement, which needs no transaction around it."""
        return await self._write(purpose, script, *args, **kwargs)

    async def _read(self, script: Script[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a script that only reads."""
        raise NotImplementedError


Operation = Callable[Concatenate[Transactions, P], Coroutine[Any, Any, T]]


def query(script: Script[P, T]) -> Operation[P, T]:
    """Declare an operation that only reads."""

    async def operation(store: Transactions, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await store._read(script, *args, **kwargs)

    return _named(operation, script)


def transaction(purpose: Purpose, script: Script[P, T]) -> Operation[P, T]:
    """Declare an operation that writes in one transaction."""

    async def operation(store: Transactions, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await store._write(purpose, script, *args, **kwargs)

    return _named(operation, script)


def statement(purpose: Purpose, script: Script[P, T]) -> Operation[P, T]:
    """Declare an operation that writes with one statement, without a transaction around it."""

    async def operation(store: Transactions, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await store._write_one(purpose, script, *args, **kwargs)

    return _named(operation, script)


def _named(operation: Operation[P, T], script: Script[P, T]) -> Operation[P, T]:
    """Let the signature of an operation show the parameters of its script."""
    operation.__wrapped__ = script  # type: ignore[attr-defined]
    return operation
