"""Cancels runs whose client disconnected, after a grace period, unless a client reconnects.

Only a connection that a client closes starts the grace period: not a shutdown, not a crash, and not the connection of
a run that waits for a decision. A follower in any process and on any face clears it: at once where the face calls
`reconnected`, otherwise at the next poll of `Streams.watch` in that process. The reaper cancels runs whose grace period
is over.
"""

from runyard.domain.runs.run import Run
from runyard.engine.log.stream import Streams
from runyard.errors import RunyardError
from runyard.store import RunStore
from runyard.telemetry.logger import get_logger

log = get_logger()


class Disconnects:
    def __init__(self, store: RunStore, streams: Streams, grace_seconds: float | None) -> None:
        """With `grace_seconds=None`, runs continue without clients."""
        self._store = store
        self._streams = streams
        self._grace_ms = None if grace_seconds is None else int(grace_seconds * 1000)

    async def disconnected(self, run_id: str) -> None:
        """Start the grace period, because a client closed its connection, unless the run has another follower here."""
        stopping = self._streams.is_cut or self._streams.is_draining
        if self._grace_ms is None or stopping or self._streams.is_followed(run_id):
            return
        try:
            await self._store.detach(run_id, self._grace_ms)
        except RunyardError as error:
            log.warning("disconnect.save_failed", run_id=run_id, code=error.code)

    async def reconnected(self, run: Run) -> None:
        """Clear the grace period of a run that a client is about to follow. `run` may be slightly out of date: if a
        client leaves meanwhile, `Streams.watch` clears it."""
        if run.detach_deadline is not None:
            await self._store.attach([run.id])
