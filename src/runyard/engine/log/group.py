"""Group commit without timers. An idle group commits an item at once; a busy one commits together all items that
arrived during the last commit."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Generic, TypeVar

from runyard.errors import Unavailable

Item = TypeVar("Item")
Result = TypeVar("Result")


class Group(Generic[Item, Result]):
    """Call it with an item; it returns the item's result once the item is committed, or raises what the commit raised.

    `commit` takes up to `most` items and returns one result for each. If it raises anything but Unavailable, it is
    called again for each item, so that only the item at fault fails. A caller that is cancelled loses its result, not
    the commit."""

    def __init__(self, commit: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]], most: int) -> None:
        self._commit = commit
        self._most = most
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, item: Item) -> Result:
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="group commit", context=Context())
        return await future

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._commit_batch(batch)
        finally:
            self._task = None

    async def _commit_batch(self, batch: Sequence[tuple[Item, "asyncio.Future[Result]"]]) -> None:
        try:
            results = await self._commit([item for item, _ in batch])
        except Exception as error:
            if len(batch) > 1 and not isinstance(error, Unavailable):
                for one in batch:
                    await self._commit_batch([one])
                return
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
        else:
            for (_, future), result in zip(batch, results, strict=True):
                if not future.done():
                    future.set_result(result)
