"""How many conversations one process holds: answers at 50 tokens a second, each token durable before it is seen, with a
p99 of the added latency below 50 ms.

The latency of a token counts from the time at which it was due, so a server that falls behind its pace is found out.
Conversations begin one after the other, as they do in life. The number of conversations grows by half until the limit
is passed, then the last interval is halved twice. A number holds if one of two attempts does: one hiccup of the machine
decides nothing. The row has the largest number that held. All servers share the machine with their clients, so only the
ratios mean anything."""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from bench.load import Talk
from bench.measure import measure
from bench.processes import Server
from bench.results import Row
from bench.size import Size
from bench.stand import Stand
from bench.steps import Step, console

CASE = "capacity"
MOST_MS = 50.0
SPREAD = 1.0  # seconds in which the conversations begin
FIRST, GROWTH, HALVINGS = 60, 1.5, 2


def steps(stand: Stand, size: Size) -> list[Step]:
    return [Step(f"capacity, {kind}", partial(_find, stand, kind, size)) for kind in stand.kinds]


def _find(stand: Stand, kind: str, size: Size) -> Sequence[Row]:
    with stand.server(kind, "capacity") as server:
        _measure(server, FIRST, size)  # warms up
        best = knee(partial(_best_of_two, server, size=size), FIRST, size.most_conversations)
        return [] if best is None else [replace(best, case=CASE, size=best.clients)]


def knee(measure: Callable[[int], Row], first: int, most: int) -> Row | None:
    """Return the row of the largest number of conversations that held, or None if the first one did not."""
    held: Row | None = None
    count, failed = first, None
    while failed is None and (held is None or held.clients < most):
        row = measure(count)
        if not holds(row):
            failed = count
        else:
            held, count = row, min(most, int(count * GROWTH))
    for _ in range(HALVINGS if held is not None and failed is not None else 0):
        assert held is not None
        assert failed is not None
        row = measure(middle := (held.clients + failed) // 2)
        held, failed = (row, failed) if holds(row) else (held, middle)
    return held


def holds(row: Row) -> bool:
    return row.delay_ms_p99 is not None and row.delay_ms_p99 < MOST_MS


def _best_of_two(server: Server, clients: int, size: Size) -> Row:
    row = _measure(server, clients, size)
    return row if holds(row) else _measure(server, clients, size)


def _measure(server: Server, clients: int, size: Size) -> Row:
    tokens = size.conversation_tokens
    spread = min(SPREAD, size.seconds)
    job = Talk(
        port=server.port, clients=clients, seconds=size.seconds, agent="conversing", tokens=tokens, spread=spread
    )
    row = measure(CASE, server, job)
    console.print(f"[dim]       {clients} conversations, {server.name}: p99 {row.delay_ms_p99:.1f} ms[/]")
    return row
