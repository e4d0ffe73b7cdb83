"""Webhooks: the request that tells an address how a run has ended, or that it waits for the client.

A webhook is a push (`engine/log/pushes.py`): it is durable, and it is sent again until the receiver answers 2xx. Its
body depends on the log and the stored address alone.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from runyard.domain.events import Event
from runyard.domain.push import Push
from runyard.domain.times import iso
from runyard.engine.log.pushes import PushRequest
from runyard.faces.langgraph import objects
from runyard.faces.langgraph.follow import Started
from runyard.faces.langgraph.translate import Translation

KIND = "langgraph"


def webhook(url: str, started: Started) -> Push:
    """Return the webhook of a part. Its address is checked."""
    data = {"url": url, "thread": started.thread, "part": started.part}
    return Push(run_id=started.run_id, id=f"webhook-{started.part}", kind=KIND, data=data)


class Webhook:
    """Makes the request of one webhook."""

    def __init__(self, push: Push) -> None:
        self._translation = Translation(push.run_id)
        self._data: dict[str, Any] = push.data
        self._queued_at = 0

    def take(self, event: Event) -> Sequence[PushRequest]:
        state, part = self._translation.state, self._data["part"]
        is_over = len(state.ended) >= part
        self._translation.take(event)
        self._queued_at = self._queued_at or event.ts
        if is_over or len(state.ended) < part:
            return ()
        return [PushRequest(self._data["url"], {}, msgspec.json.encode(self._body(event.ts)))]

    def _body(self, ts: int) -> dict[str, Any]:
        """Return the run as the API shows it, and the values that it has added to its thread."""
        state, part = self._translation.state, self._data["part"]
        values, interrupts = self._translation.values(), self._translation.interrupts()
        return {
            "run_id": objects.shown_run_id(state.run_id, part),
            "thread_id": self._data["thread"],
            "assistant_id": state.agent,
            "status": state.ended[part - 1],
            "metadata": state.echo.get("metadata") or {},
            "multitask_strategy": state.echo.get("multitask_strategy") or "enqueue",
            "created_at": iso(self._queued_at),
            "updated_at": iso(ts),
            "run_ended_at": iso(ts),
            "values": {**values, objects.INTERRUPT: interrupts} if interrupts else values,
            "error": None if state.error is None else objects.failure(state.error),
            "kwargs": {},
        }
