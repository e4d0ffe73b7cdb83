"""The objects that endpoints get from a request: the engine, the metrics, and the options of their face.

The app puts one `Context` into the scope of every request, so endpoints are plain functions of a module. Fast routes
call `engine_of(request)`; endpoints that FastAPI calls declare an `EngineDep`.
"""

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar, cast

from fastapi import Depends
from starlette.requests import Request

from runyard.engine.engine import Engine
from runyard.telemetry.metrics import Metrics

CONTEXT = "runyard.context"  # the key of the context in a request's scope
T = TypeVar("T")


class Context:
    """The parts of one app. `options` holds at most one object of each class; a face looks its own up by class."""

    def __init__(self, engine: Engine, metrics: Metrics, heartbeat: float, options: Iterable[object] = ()) -> None:
        self.engine = engine
        self.metrics = metrics
        self.heartbeat = heartbeat
        self._options: dict[type, Any] = {type(each): each for each in options}

    @property
    def is_stopping(self) -> bool:
        """Whether this process shuts down."""
        return self.engine.streams.is_cut or self.engine.streams.is_draining

    def options(self, kind: type[T]) -> T:
        """Return the options of a face."""
        return cast(T, self._options[kind])


def context_of(request: Request) -> Context:
    context: Context = request.scope[CONTEXT]
    return context


def engine_of(request: Request) -> Engine:
    return context_of(request).engine


async def _engine(request: Request) -> Engine:
    """Return the engine. Async, because FastAPI runs other functions in a thread."""
    return context_of(request).engine


EngineDep = Annotated[Engine, Depends(_engine)]
