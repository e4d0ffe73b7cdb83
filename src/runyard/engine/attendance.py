"""Runs whose client went away: canceled after a grace, unless somebody comes back (DESIGN decision 1).

Only a client that is seen to close starts the grace: not a shutdown (streams are cut, or the process drains), not a
crash (then nobody sees anything), and not a run that waits for a person. Anybody who follows the run, on any pod and
any face, ends it: on the pod and face that was left at once, elsewhere as soon as that pod's watch comes by. The reaper
cancels what is past it.
"""

from contextlib import suppress

import structlog

from runyard.engine.stream import Streams
from runyard.errors import RunyardError
from runyard.store import Store

log = structlog.get_logger()


class Attendance:
    def __init__(self, store: Store, streams: Streams, grace_seconds: float | None) -> None:
        """Without a grace, a run goes on whoever leaves."""
        self._store = store
        self._streams = streams
        self._grace_ms = None if grace_seconds is None else int(grace_seconds * 1000)
        self._left: set[str] = set()

    async def leave(self, run_id: str) -> None:
        """A client of this run closed its connection."""
        stopping = self._streams.is_cut or self._streams.is_draining
        if self._grace_ms is None or stopping or self._streams.is_followed(run_id):
            return
        try:
            await self._store.detach(run_id, self._grace_ms)
        except RunyardError as error:
            log.warning("attendance.not_noted", run_id=run_id, code=error.code)
            return
        self._left.add(run_id)
        if self._streams.is_followed(run_id):  # somebody came while that was written
            await self.come(run_id)

    async def come(self, run_id: str) -> None:
        """Somebody follows this run."""
        if run_id in self._left:
            self._left.discard(run_id)
            with suppress(RunyardError):  # the watch tries again
                await self._store.attach([run_id])
