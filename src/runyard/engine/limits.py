"""Limits: sizes of messages and events, lengths of queues, and what agents of the API may use.

The store counts a lane's queue under the lane's lock. The queue of an owner is counted in the background, at most once
a second, so that no request waits for it; this limit is approximate.
"""

import asyncio
from contextvars import Context
from typing import NamedTuple

from runyard.base.clock import Clock
from runyard.errors import Invalid, QueueFull, RunyardError, TooLarge
from runyard.store import IntakeStore

COUNT_SECONDS = 1.0
FULL_SECONDS = 10.0  # after which a client should retry
MOST_OWNERS = 10_000


class InputLimits(NamedTuple):
    message_chars: int | None = None
    queued_per_lane: int | None = None
    queued_per_owner: int | None = None


class OutputLimits(NamedTuple):
    event_bytes: int | None = None
    tool_output_bytes: int | None = None
    history_chars: int | None = None
    tells_tool_errors: bool = True
    answer_bytes: int | None = None


class AgentLimits(NamedTuple):
    """The models and the budget that agents made over the API may use. Agents declared in code are not limited."""

    models: frozenset[str] | None = None
    usd: float | None = None

    def check_model(self, model: str) -> None:
        """Raise Invalid if agents of the API may not use this model. An address in the name is refused, because a
        worker would connect to it."""
        if has_address(model):
            raise Invalid("The model's name contains an address. Pass the name alone, such as openai/gpt-5-mini.")
        if self.models is not None and model not in self.models:
            allowed = ", ".join(sorted(self.models)) or "none"
            raise Invalid(f"This model is not allowed here. Allowed: {allowed}. RUNYARD_AGENT_MODELS sets the list.")

    def check_usd(self, usd: float) -> None:
        if self.usd is not None and usd > self.usd:
            raise Invalid(f"The budget is above the limit of {self.usd} USD, which RUNYARD_AGENT_MAX_USD sets.")


def has_address(model: str) -> bool:
    return "//" in model


def not_blank(text: str) -> str:
    """Return the text. Raises Invalid if it has only white space."""
    if not text.strip():
        raise Invalid("The text is blank. Write at least one visible character.")
    return text


class _Count:
    def __init__(self, counted_at: float) -> None:
        self.counted_at = counted_at
        self.queued = 0


class Backlogs:
    """Approximate numbers of queued runs by owner."""

    def __init__(self, store: IntakeStore, clock: Clock, most: int | None) -> None:
        self._store = store
        self._clock = clock
        self._most = most
        self._counts: dict[str, _Count] = {}
        self._counting: set[asyncio.Task[None]] = set()

    def check(self, owner: str) -> None:
        """Raise QueueFull if the last count reached the limit. Start a new count if that one is old."""
        if self._most is None:
            return
        now = self._clock.monotonic()
        last = self._counts.get(owner)
        if last is None:
            if len(self._counts) >= MOST_OWNERS:
                del self._counts[next(iter(self._counts))]
            last = self._counts[owner] = _Count(now - COUNT_SECONDS)
        if now - last.counted_at >= COUNT_SECONDS:
            last.counted_at = now
            counting = asyncio.create_task(self._count(owner, last), name="backlog", context=Context())
            self._counting.add(counting)
            counting.add_done_callback(self._counting.discard)
        if last.queued >= self._most:
            raise QueueFull(
                f"You have {self._most} queued runs already. Retry when some have ended.", retry_after=FULL_SECONDS
            )

    async def _count(self, owner: str, last: _Count) -> None:
        try:
            last.queued = await self._store.count_queued(owner, self._most or 0)
        except RunyardError:
            last.queued = 0  # without a count, requests are accepted


class Admission:
    """Checks new messages and runs against the limits. The store itself enforces `queued_per_lane`."""

    def __init__(self, store: IntakeStore, clock: Clock, limits: InputLimits) -> None:
        self._chars = limits.message_chars
        self.queued_per_lane = limits.queued_per_lane
        self.backlogs = Backlogs(store, clock, limits.queued_per_owner)

    def check(self, owner: str, text: str = "") -> None:
        """Raise TooLarge or QueueFull if a limit is exceeded."""
        if self._chars is not None and len(text) > self._chars:
            raise TooLarge(f"The message is too long. It may have at most {self._chars} characters.")
        self.backlogs.check(owner)
