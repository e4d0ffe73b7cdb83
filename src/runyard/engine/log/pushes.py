"""Sends the updates of runs to addresses that clients gave: push notifications.

A push is a cursor over the log of a run (`domain/push.py`), as the outbox has one. A round claims pushes that have
events to deliver. It runs when this process commits an event that pauses, continues or ends a run, and every
`POLL_SECONDS` for events of other processes. A face makes the requests from the events (`Renderer`). They are sent in
order, and the cursor moves after each event.

Authority: the cursor in the store says what is delivered. A claim is a time until which no other process has the push.
Guarantees: each request is sent in order, until the receiver answers 2xx; after a crash it may be sent again. After
`attempts` failures in a row, or an answer 410, the push ends. Only allowed addresses are called.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from msgspec.structs import replace

from runyard.domain.events import Event
from runyard.domain.push import Push
from runyard.errors import Invalid, NotFound, RunyardError
from runyard.store import LogStore, PushStore
from runyard.telemetry.logger import get_logger

log = get_logger()

POLL_SECONDS = 1.0
PACE_SECONDS = 0.02
MOST_AT_ONCE = 32  # deliveries of one process
MOST_PER_RUN = 10
MOST_FOLDS = 256  # translations that are kept for the next delivery
READ_EVENTS = 500
LONGEST_WAIT = 3600.0
GONE = 410
MOVES = frozenset({"run.waiting", "run.finished", "approval.decided", "wait.answered"})
REFUSED = (
    "The address of the push notifications is private, local or not valid. Use a public http or https address, or let"
    " the operator allow its network (RUNYARD_PUSH_ALLOW)."
)


class PushRequest(NamedTuple):
    """A request to send: a POST of JSON."""

    url: str
    headers: Mapping[str, str]
    body: bytes


class Renderer(Protocol):
    """Makes the requests of one push. It takes all events of the run in order, also those that are delivered."""

    def take(self, event: Event) -> Sequence[PushRequest]: ...


class Fold(NamedTuple):
    data: Any
    renderer: Renderer
    seq: int


class PushedLogs(LogStore, PushStore, Protocol):
    """Logs, and the pushes of their events."""


class Pushes:
    def __init__(
        self,
        store: PushedLogs,
        renderers: Mapping[str, Callable[[Push], Renderer]],
        *,
        allow: Sequence[str] = (),
        attempts: int = 15,
        timeout_seconds: float = 10.0,
    ) -> None:
        """`renderers` by the kind of a push. `allow`: private networks that may be called."""
        self._store = store
        self._renderers = renderers
        self._allow = tuple(allow)
        self._attempts = attempts
        self._timeout = timeout_seconds
        self._lease_ms = int(timeout_seconds * 3000)
        self._folds: OrderedDict[tuple[str, str], Fold] = OrderedDict()
        self._deliveries: set[asyncio.Task[None]] = set()
        self._moved: set[str] = set()
        self._has_live = True  # until a poll says otherwise
        self._wakeup = asyncio.Event()

    # --- the pushes of a run

    async def check_address(self, url: str) -> None:
        """Raise Invalid if a push may not call this address."""
        from runyard.agents.tools.outbound import Allowed, OutboundRefused  # here: HTTP costs time to load

        scheme, separator, rest = url.partition("://")
        if scheme.lower() not in ("http", "https") or not separator or not rest:
            raise Invalid(REFUSED)
        try:
            await Allowed(self._allow).check(url)
        except (OutboundRefused, ValueError, UnicodeError):
            raise Invalid(REFUSED) from None

    async def put(self, push: Push, *, at_end: bool) -> Push:
        """Store a push. With `at_end` it gets later events only."""
        found = await self._store.put_push(push, MOST_PER_RUN, at_end=at_end)
        self.add_stored(push.run_id)
        return found

    def add_stored(self, run_id: str) -> None:
        """Deliver soon what a run has for a push that was just stored."""
        self._has_live = True
        self._moved.add(run_id)
        self._wakeup.set()

    async def all(self, run_id: str) -> Sequence[Push]:
        return await self._store.list_pushes(run_id)

    async def get(self, run_id: str, push_id: str) -> Push:
        for push in await self._store.list_pushes(run_id):
            if push.id == push_id:
                return push
        raise NotFound("There is no push configuration with that id.")

    async def drop(self, run_id: str, push_id: str) -> None:
        await self._store.drop_push(run_id, push_id)

    # --- rounds

    def add_committed(self, run_id: str, last_type: str) -> None:
        """Deliver soon if this event of a run, which this process has just committed, changes what a client sees."""
        if self._has_live and last_type in MOVES:
            self._moved.add(run_id)
            self._wakeup.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        loop = asyncio.get_running_loop()
        polled_at = loop.time() - POLL_SECONDS
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(polled_at + POLL_SECONDS):
                    await self._wakeup.wait()
            self._wakeup.clear()
            is_poll = loop.time() >= polled_at + POLL_SECONDS
            if is_poll:
                polled_at = loop.time()
            try:
                await self.round(is_poll=is_poll)
            except RunyardError as error:
                log.warning("push.claim_failed", code=error.code)
            await asyncio.sleep(PACE_SECONDS)

    async def round(self, *, is_poll: bool = True) -> None:
        """Claim pushes and start their deliveries: all that are due, or those of runs that moved in this process."""
        moved, self._moved = self._moved, set()
        room = MOST_AT_ONCE - len(self._deliveries)
        if room <= 0 or not (is_poll or moved):
            return
        claimed, self._has_live = await self._store.claim_pushes(
            room, self._lease_ms, None if is_poll else sorted(moved)
        )
        for push in claimed:
            task = asyncio.create_task(self._deliver(push), name="push")
            self._deliveries.add(task)
            task.add_done_callback(self._deliveries.discard)

    async def close(self) -> None:
        """Cancel the deliveries that are under way. Their claims end with their leases."""
        for task in list(self._deliveries):
            task.cancel()
        await asyncio.gather(*self._deliveries, return_exceptions=True)

    # --- one delivery

    async def _deliver(self, push: Push) -> None:
        try:
            await self._send_events(push)
        except asyncio.CancelledError:
            with suppress(RunyardError):
                await asyncio.shield(self._store.settle_push(push, 0))
            raise
        except RunyardError as error:
            log.warning("push.claim_failed", code=error.code)

    async def _send_events(self, push: Push) -> None:
        """Send what the events after the cursor make, and record how far that is."""
        fold = self._fold_of(push)
        renderer, seq, is_over = fold.renderer, fold.seq, False
        from runyard.agents.tools.outbound import Allowed, outbound_client  # here: HTTP costs time to load

        async with outbound_client(Allowed(self._allow)) as http:
            while events := await self._store.read(push.run_id, seq, READ_EVENTS):
                for event in events:
                    requests = renderer.take(event)
                    seq, is_over = event.seq, event.type == "run.finished"
                    if event.seq <= push.seq or not requests:
                        continue
                    if (failure := await self._send_all(http, requests)) is not None:
                        await self._fail(push, failure)
                        return
                    done = await self._store.settle_push(replace(push, seq=seq, failures=0), self._lease_ms)
                    if done is None:
                        return
                    push = done
        if await self._store.settle_push(replace(push, seq=max(seq, push.seq)), None if is_over else 0) and not is_over:
            self._keep(push, Fold(push.data, renderer, seq))

    def _fold_of(self, push: Push) -> Fold:
        kept = self._folds.pop((push.run_id, push.id), None)
        if kept is not None and kept.data == push.data and kept.seq <= push.seq:
            return kept
        return Fold(push.data, self._renderers[push.kind](push), 0)

    def _keep(self, push: Push, fold: Fold) -> None:
        self._folds[push.run_id, push.id] = fold
        while len(self._folds) > MOST_FOLDS:
            self._folds.popitem(last=False)

    async def _send_all(self, http: Any, requests: Sequence[PushRequest]) -> str | int | None:
        """Send the requests of one event, while the claim lasts. Return like `_send`."""
        try:
            async with asyncio.timeout(self._timeout * 2.5):
                for request in requests:
                    if (failure := await self._send(http, request)) is not None:
                        return failure
        except TimeoutError as error:
            return type(error).__name__
        return None

    async def _send(self, http: Any, request: PushRequest) -> str | int | None:
        """Send a request. Return None if the receiver took it, otherwise its status or the name of the error."""
        import httpx2

        from runyard.agents.tools.outbound import OutboundRefused

        headers = {"Content-Type": "application/json", **request.headers}
        try:
            async with (
                asyncio.timeout(self._timeout),
                http.stream("POST", request.url, content=request.body, headers=headers) as response,
            ):
                return None if response.is_success else int(response.status_code)
        except (httpx2.HTTPError, httpx2.InvalidURL, OutboundRefused, TimeoutError, OSError, ValueError) as error:
            return type(error).__name__

    async def _fail(self, push: Push, failure: str | int) -> None:
        failures = push.failures + 1
        facts = {"run_id": push.run_id, "attempt": failures, "reason": failure}
        if failures >= self._attempts or failure == GONE:
            log.warning("push.given_up", **facts)
            await self._store.settle_push(replace(push, failures=failures), None)
            return
        log.info("push.failed", **facts)
        wait = min(2.0 ** (failures - 1), LONGEST_WAIT)
        await self._store.settle_push(replace(push, failures=failures), int(wait * 1000))
