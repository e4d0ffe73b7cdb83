"""How many conversations one process holds: answers at 50 tokens a second, each token durable before it is seen, with a
p99 of the added latency below 50 ms.

The latency of a token counts from the time at which it was due, so the number shows a server that falls behind.
Conversations begin one after the other. The number of conversations grows by half until the limit is passed, then the
last interval is halved, so the result is at most a fifth too low. A server that does not hold the first number begins
with fewer. A number holds if one of two attempts does: one pause of the machine does not decide. There is no second
attempt if the first one missed the limit by far. The row has the largest number that held. All servers share the
machine with their clients, so only the ratios are comparable."""

import base64
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from bench.cases.measure import measure
from bench.client.load import Talk
from bench.report.results import Row
from bench.servers.processes import Server
from bench.servers.stand import POSTGRES, Stand
from bench.size import Size
from bench.steps import Step, console

CASE = "capacity"
TWO, SEALED, AI = "postgres, two processes", "postgres, sealed and redacted", "postgres, AI SDK"
MOST_MS = 50.0
FAR_MS = 4 * MOST_MS
SPREAD = 1.0  # seconds in which the conversations begin
FIRST, LEAST, GROWTH, HALVINGS = 120, 10, 1.5, 1


class Contestant(Struct, frozen=True, kw_only=True):
    """A server under a name. `dialect`: how it is spoken to."""

    name: str
    serve: Callable[[], AbstractContextManager[Server]]
    dialect: str = "threads"


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
    return [Step(f"capacity, {each.name}", partial(found, each, size)) for each in contestants(stand)]


def found(contestant: Contestant, size: Size) -> Sequence[Row]:
    """Return the row of the largest number of conversations that held, if one did."""
    with contestant.serve() as server:
        _measure(server, contestant.dialect, size.warm_up(), FIRST)
        best = knee(partial(_best_of_two, server, contestant.dialect, size), FIRST, size.most_conversations)
        return [] if best is None else [replace(best, case=CASE, size=best.clients)]


def knee(measure: Callable[[int], Row], first: int, most: int) -> Row | None:
    """Return the row of the largest number of conversations that held, or None if not even `LEAST` did."""
    held: Row | None = None
    count, failed = first, None
    while failed is None and (held is None or held.clients < most):
        row = measure(count)
        if holds(row):
            held, count = row, min(most, int(count * GROWTH))
        elif held is None and count // 2 >= LEAST:
            count //= 2
        else:
            failed = count
    for _ in range(HALVINGS if held is not None and failed is not None else 0):
        assert held is not None
        assert failed is not None
        row = measure(middle := (held.clients + failed) // 2)
        held, failed = (row, failed) if holds(row) else (held, middle)
    return held


def holds(row: Row) -> bool:
    return row.delay_ms_p99 is not None and row.delay_ms_p99 < MOST_MS


def _best_of_two(server: Server, dialect: str, size: Size, clients: int) -> Row:
    row = _measure(server, dialect, size, clients)
    is_far = row.delay_ms_p99 is None or row.delay_ms_p99 > FAR_MS
    return row if holds(row) or is_far else _measure(server, dialect, size, clients)


def _measure(server: Server, dialect: str, size: Size, clients: int) -> Row:
    tokens = size.conversation_tokens
    spread = min(SPREAD, size.seconds)
    job = Talk(
        port=server.port,
        clients=clients,
        seconds=size.seconds,
        agent="conversing",
        tokens=tokens,
        spread=spread,
        dialect=dialect,
    )
    row = measure(CASE, server, job)
    console.print(f"[dim]       {clients} conversations, {server.name}: p99 {row.delay_ms_p99:.1f} ms[/]")
    return row
