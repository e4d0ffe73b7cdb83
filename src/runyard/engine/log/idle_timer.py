"""The timer of a follower that waits for events."""

import asyncio


class IdleTimer:
    """Sets an event when a follower has waited too long. One timer serves many waits: when it fires, it checks
    whether the latest wait is over, and is set again otherwise."""

    def __init__(self, wakeup: asyncio.Event) -> None:
        self._wakeup = wakeup
        self._loop = asyncio.get_running_loop()
        self._until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self, seconds: float) -> None:
        self._until = self._loop.time() + seconds
        if self._timer is None or self._timer.when() > self._until:
            self.cancel()
            self._timer = self._loop.call_at(self._until, self._fire)

    @property
    def has_expired(self) -> bool:
        return self._loop.time() >= self._until

    def _fire(self) -> None:
        self._timer = None
        if self.has_expired:
            self._wakeup.set()
        else:
            self._timer = self._loop.call_at(self._until, self._fire)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
