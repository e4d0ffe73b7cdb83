"""Doorbells: tell another engine that runs are ready, so that one of its tasks calls `runyard.work_once`.

A message has no content, not even the id of a run: its receiver claims what the store has. Messages may be
lost, duplicated or late. That costs time only, because ready runs are counted again by a poll.
"""

from collections.abc import Mapping
from typing import Protocol

DEFAULT_QUEUE = "runyard"


class Doorbell(Protocol):
    def ring(self, ready: Mapping[str, int]) -> None:
        """Make each queue hold at least so many messages. Never waits and never raises; failures are logged."""

    def close(self) -> None:
        """Send what is left, if that is quick, and nothing more."""
