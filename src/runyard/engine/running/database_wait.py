"""Runs wait while the database is unavailable.

A restart of Postgres takes a second, and an agent can do nothing about it. So store calls of runs are retried until
the database answers. Requests of clients are not retried: they get a 503, and the client retries.
"""

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable
from itertools import chain, repeat
from typing import Any, TypeVar, cast

from runyard.errors import Unavailable
from runyard.telemetry.logger import get_logger

log = get_logger()

T = TypeVar("T")
PAUSES = (0.05, 0.1, 0.2, 0.5, 1.0)


class DatabaseAway(Unavailable):
    """The database was unavailable for longer than a run waits for it."""


def retrying(target: T, seconds: float) -> T:
    """Return `target` with coroutine methods that are retried while they raise Unavailable.

    The methods must be safe to repeat. They raise DatabaseAway after `seconds`."""
    return cast("T", _Retrying(target, seconds))


class _Retrying:
    def __init__(self, target: Any, seconds: float) -> None:
        self._target = target
        self._seconds = seconds

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if inspect.iscoroutinefunction(found):
            found = _retried(found, self._seconds)
        setattr(self, name, found)
        return found


def _retried(method: Callable[..., Awaitable[Any]], seconds: float) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(method)
    async def call(*args: Any, **kwargs: Any) -> Any:
        now = asyncio.get_running_loop().time
        deadline = now() + seconds
        pauses = chain(PAUSES, repeat(PAUSES[-1]))
        while True:
            try:
                return await method(*args, **kwargs)
            except Unavailable as error:
                pause = next(pauses)
                if now() + pause > deadline:
                    raise DatabaseAway from error
                log.warning("run.database_call_retried", operation=method.__name__)
            await asyncio.sleep(pause)

    return call
