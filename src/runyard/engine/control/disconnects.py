"""Runs whose client went away: canceled after a grace, unless somebody comes back (DESIGN decision 1).

Only a client that is seen to close starts the grace: not a shutdown (streams are cut, or the process drains), not a
crash (then nobody sees anything), and not a run that waits for a person. Anybody who follows the run, on any pod and
any face, ends it: at once where a face says so (`come`), otherwise as soon as that pod's watch comes by. The reaper
cancels what is past it.
"""

import structlog

from runyard.domain.run import Run
from runyard.engine.log.stream import Streams
from runyard.errors import RunyardError
from runyard.store import Store

log = structlog.get_logger()


class Disconnects:
    def __init__(self, store: Store, streams: Streams, grace_seconds: float | None) -> None:
        """Without a grace, a run goes on whoever leaves."""
        self._store = store
        self._streams = streams
        self._grace_ms = None if grace_seconds is None else int(grace_seconds * 1000)

    async def leave(self, run_id: str) -> None:
        """A client of this run closed its connection."""
        stopping = self._streams.is_cut or self._streams.is_draining
        if self._grace_ms is None or stopping or self._streams.is_followed(run_id):
            return
        try:
            await self._store.detach(run_id, self._grace_ms)
        except RunyardError as error:
            log.warning("disconnect.save_failed", run_id=run_id, code=error.code)

    async def come(self, run: Run) -> None:
        """Somebody is about to follow this run, as it was a moment ago; who leaves just now is seen by the watch."""
        if run.detach_deadline is not None:
            await self._store.attach([run.id])
