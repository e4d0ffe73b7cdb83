"""A log that is followed to its end inside of one request, for answers that are not a stream."""

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request

from runyard.domain.events import Event
from runyard.engine.log.stream import Pause, Streams
from runyard.errors import Unavailable

LOOK_SECONDS = 15.0


class ShuttingDown(Unavailable):
    """This process is shutting down; the run goes on."""

    code = "draining"


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


async def events_until_end(request: Request, streams: Streams, run_id: str) -> AsyncIterator[Event]:
    """Every event of the run, from its first to its last. ShuttingDown if this process ends before the run does,
    ClientGone if the client does."""
    follower = streams.follow(run_id, 0)

    async def watch_client() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        follower.leave()

    watching = asyncio.create_task(watch_client(), name=f"client of {run_id}")
    try:
        while True:
            match await follower.next(LOOK_SECONDS):
                case list() as chunks:
                    for chunk in chunks:
                        for event in chunk.events:
                            yield event
                case Pause.IDLE:
                    continue
                case Pause.END:
                    return
                case Pause.CUT:
                    raise ShuttingDown
                case Pause.GONE:
                    raise ClientGone
    finally:
        watching.cancel()
        follower.close()
