"""How much may come in and go out: sizes, and how many runs may wait.

Sizes are compared where the text is at hand anyway. A lane's queue is counted by the store, under the lane's lock. How
much an owner has waiting is looked up in the background, at most once a second, so no request waits for it and the
limit is kept about, not exactly.
"""

import asyncio
from contextvars import Context
from typing import NamedTuple

from runyard.clock import Clock
from runyard.errors import Invalid, QueueFull, RunyardError, TooLarge
from runyard.store import Store

LOOK_SECONDS = 1.0
FULL_SECONDS = 10.0  # after which another attempt makes sense
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
    """What an agent that is made over the API may think with and spend. Code that declares agents is not limited."""

    models: frozenset[str] | None = None
    usd: float | None = None

    def check_model(self, model: str) -> None:
        """Invalid if no agent of the API may use this model. An address in its name would make a worker call it."""
        if has_address(model):
            raise Invalid("A model's name may not contain an address.")
        if self.models is not None and model not in self.models:
            allowed = ", ".join(sorted(self.models)) or "none"
            raise Invalid(f"This model is not allowed here. Allowed: {allowed}. RUNYARD_AGENT_MODELS sets the list.")

    def check_usd(self, usd: float) -> None:
        if self.usd is not None and usd > self.usd:
            raise Invalid(f"The budget is above the limit of {self.usd} USD, which RUNYARD_AGENT_MAX_USD sets.")


def has_address(model: str) -> bool:
    return "//" in model


def not_blank(text: str) -> str:
    """Return the text. Invalid if there is nothing in it but white space."""
    if not text.strip():
        raise Invalid("The text is blank. Write at least one visible character.")
    return text


class _Known:
    def __init__(self, looked: float) -> None:
        self.looked = looked
        self.queued = 0


class Backlogs:
    """How many runs of each owner wait, more or less."""

    def __init__(self, store: Store, clock: Clock, most: int | None) -> None:
        self._store = store
        self._clock = clock
        self._most = most
        self._known: dict[str, _Known] = {}
        self._looking: set[asyncio.Task[None]] = set()

    def check(self, owner: str) -> None:
        """QueueFull if too many waited at the last look, which was a moment ago."""
        if self._most is None:
            return
        now = self._clock.monotonic()
        known = self._known.get(owner)
        if known is None:
            if len(self._known) >= MOST_OWNERS:
                del self._known[next(iter(self._known))]
            known = self._known[owner] = _Known(now - LOOK_SECONDS)
        if now - known.looked >= LOOK_SECONDS:
            known.looked = now
            looking = asyncio.create_task(self._look(owner, known), name="backlog", context=Context())
            self._looking.add(looking)
            looking.add_done_callback(self._looking.discard)
        if known.queued >= self._most:
            raise QueueFull(f"{self._most} runs of yours wait already.", retry_after=FULL_SECONDS)

    async def _look(self, owner: str, known: _Known) -> None:
        try:
            known.queued = await self._store.count_queued(owner, self._most or 0)
        except RunyardError:
            known.queued = 0  # nobody is refused because nobody knows


class Admission:
    """Whether one more thing may come in; the store looks after `queued_per_lane` itself."""

    def __init__(self, store: Store, clock: Clock, limits: InputLimits) -> None:
        self._chars = limits.message_chars
        self.queued_per_lane = limits.queued_per_lane
        self.backlogs = Backlogs(store, clock, limits.queued_per_owner)

    def check(self, owner: str, text: str = "") -> None:
        """TooLarge or QueueFull, if not."""
        if self._chars is not None and len(text) > self._chars:
            raise TooLarge(f"A message may have at most {self._chars} characters.")
        self.backlogs.check(owner)
