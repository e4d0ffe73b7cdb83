"""Follows a run to its end within one request, for responses that are not a stream."""

import asyncio
from collections.abc import AsyncGenerator

from starlette.requests import Request

from runyard.domain.events import Event
from runyard.engine.log.stream import Pause, Streams
from runyard.errors import Unavailable

POLL_SECONDS = 15.0


class ShuttingDown(Unavailable):
    """This process is shutting down; the run continues."""

    code = "draining"


class ClientGone(Exception):
    """The client disconnected before the response."""


async def events_until_end(request: Request, streams: Streams, run_id: str) -> AsyncGenerator[Event, None]:
    """Yield every event of a run until its last.

    Raise ShuttingDown if this process stops first, ClientGone if the client disconnects first."""
    follower = streams.follow(run_id, 0)

    async def watch_client() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        follower.leave()

    watching = asyncio.create_task(watch_client(), name=f"client of {run_id}")
    try:
        while True:
            match await follower.next(POLL_SECONDS):
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
