"""How many conversations one process holds: answers at 50 tokens a second, each token durable before it is seen, with a
p99 of the added latency below 50 ms.

The latency of a token counts from the time at which it was due, so the number shows a server that falls behind.
Conversations begin one after the other, and only tokens count that were due while all of them were live. The number of
conversations grows by half until the limit is passed, then the last interval is halved, so the result is at most a
fifth too low. A server that does not hold the first number begins with fewer. A number holds if one of two attempts
does: one pause of the machine does not decide. All servers climb together, each measured in its turn with each number,
while the others are idle. They share the machine with their clients, so only the ratios are comparable."""

import base64
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from bench.cases.measure import measure
from bench.client.clients import ClientFailed
from bench.client.load import Talk
from bench.report.results import Row
from bench.rivals.pace import CONVERSING
from bench.servers.processes import Server
from bench.servers.stand import POSTGRES, Stand
from bench.size import Size
from bench.steps import Step, console

CASE = "capacity"
TWO, SEALED, AI = "postgres, two processes", "postgres, sealed and redacted", "postgres, AI SDK"
MOST_MS = 50.0
MOST_START_MS = 2000.0
SPREAD = 1.0  # seconds in which the conversations begin
FIRST, LEAST, GROWTH, HALVINGS = 180, 10, 1.5, 1


class Contestant(Struct, frozen=True, kw_only=True):
    """A server under a name. `dialect`: how it is spoken to. `may_fail`: an error of its clients does not end the
    benchmark, only its climb."""

    name: str
    serve: Callable[[], AbstractContextManager[Server]]
    dialect: str = "threads"
    may_fail: bool = False


def contestants(stand: Stand) -> Iterator[Contestant]:
    """Every kind of server. With Postgres also two processes, stored content that is sealed and redacted, and the
    protocol of the AI SDK."""
    for kind in stand.kinds:
        yield Contestant(name=kind, serve=partial(stand.server, kind, "capacity"))
    if POSTGRES in stand.kinds:
        secret = base64.b64encode(bytes(range(32))).decode()
        sealed = {"encryption_keys": f"bench:{secret}", "redact": "email,phone,card"}
        serve = partial(stand.server, POSTGRES)
        yield Contestant(name=TWO, serve=partial(serve, "capacity_two", name=TWO, processes=2))
        yield Contestant(name=SEALED, serve=partial(serve, "capacity_sealed", name=SEALED, **sealed))
        yield Contestant(name=AI, serve=partial(serve, "capacity_ai", name=AI), dialect="ai")


def steps(stand: Stand, size: Size) -> list[Step]:
    return [Step("capacity", partial(measured, list(contestants(stand)), size))]


def measured(contestants: Sequence[Contestant], size: Size) -> Sequence[Row]:
    """Return, for each server, the row of the largest number of conversations that held, if one did."""
    with ExitStack() as stack:
        climbs = [Climb(each, stack.enter_context(each.serve()), size) for each in contestants]
        climbing = climbs
        while climbing:
            climbing = [climb for climb in climbing if climb.step()]
        return [replace(climb.best, case=CASE, size=climb.best.clients) for climb in climbs if climb.best is not None]


class Climb:
    """The search for the capacity of one server."""

    def __init__(self, contestant: Contestant, server: Server, size: Size) -> None:
        self._contestant = contestant
        self._server = server
        self._size = size
        self._ramp = Ramp(FIRST, size.most_conversations)
        self._is_warm = False

    @property
    def best(self) -> Row | None:
        return self._ramp.held

    def step(self) -> bool:
        """Measure the next number of conversations. Return whether there is another one."""
        if (clients := self._ramp.next) is None:
            return False
        try:
            self._ramp.take(self._best_of_two(clients))
        except ClientFailed as error:
            if not self._contestant.may_fail:
                raise
            console.print(f"{self._contestant.name} fails with {clients} conversations: {error}")
            self._ramp.next = None
        return self._ramp.next is not None

    def _best_of_two(self, clients: int) -> Row:
        if not self._is_warm:
            _measure(self._server, self._contestant.dialect, self._size.warm_up(), FIRST)
            self._is_warm = True
        row = _measure(self._server, self._contestant.dialect, self._size, clients)
        return row if holds(row) else _measure(self._server, self._contestant.dialect, self._size, clients)


class Ramp:
    """The numbers of conversations to measure. `next` is the next one, None at the end; `held` is the row of the
    largest number that held, None if not even `LEAST` did."""

    def __init__(self, first: int, most: int) -> None:
        self.next: int | None = first
        self.held: Row | None = None
        self._most = most
        self._failed: int | None = None
        self._halvings = HALVINGS

    def take(self, row: Row) -> None:
        """Take the row that was measured with the number `next`."""
        if holds(row):
            self.held = row
        elif self.held is None and row.clients // 2 >= LEAST:
            self.next = row.clients // 2
            return
        else:
            self._failed = row.clients
        self.next = self._after(self.held)

    def _after(self, held: Row | None) -> int | None:
        if held is None or held.clients >= self._most:
            return None
        if self._failed is None:
            return min(self._most, int(held.clients * GROWTH))
        if not self._halvings:
            return None
        self._halvings -= 1
        return (held.clients + self._failed) // 2


def holds(row: Row) -> bool:
    """Return whether tokens came in time, and conversations were live at the same time: a server may not let some wait
    until others end."""
    if row.delay_ms_p99 is None or row.first_ms_p99 is None:
        return False
    return row.delay_ms_p99 < MOST_MS and row.first_ms_p99 < MOST_START_MS


def _measure(server: Server, dialect: str, size: Size, clients: int) -> Row:
    spread, whole = min(SPREAD, size.seconds), size.conversation_tokens * CONVERSING
    job = Talk(
        port=server.port,
        clients=clients,
        seconds=0.0,
        agent="conversing",
        tokens=size.conversation_tokens,
        spread=spread,
        counted=max(whole - spread, 0.0) or None,
        dialect=dialect,
    )
    row = measure(CASE, server, job)
    console.print(f"[dim]       {clients} conversations, {server.name}: p99 {row.delay_ms_p99 or 0:.1f} ms[/]")
    return row
