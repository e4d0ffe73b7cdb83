"""Simulates the claim and journal load of many virtual shards over several Postgres: `python -m bench.scaling.shards`.

Nothing of it is built (`docs/scaling.md`, "Beyond one Postgres"). It measures what one claim and one commit of a
journal cost on a private Postgres, and feeds these costs to a simulation of discrete events in virtual time.

A loop claims runs and commits their events, like a process of today: one claim and one commit are under way at a time,
and events that arrive during a commit are in the next one. A hint wakes its claim at once; without a hint it polls.
`loops` is the plan to compare: one for each shard, or one for each process and server, which serves all shards there.
A server executes at most `SLOTS` statements at a time, others queue in order. A statement occupies a slot for the whole
time that was measured, also for its round trips: this overstates the load of a server.
"""

import asyncio
import heapq
import os
import random
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import count
from statistics import median
from time import perf_counter

from msgspec import Struct, field

from bench.report.results import percentile
from runyard.app.factories import open_store
from runyard.settings import Settings
from runyard.store import Store
from tests.store.factories import MINUTE, Writer, a_post, a_worker, token
from tests.support.servers.postgres_server import PrivatePostgres

SLOTS = 8
SHARDS, SERVERS, PROCESSES = 1000, 10, 20
LOADS = (10, 100, 500)  # runs a second
SECONDS = 10.0


class Costs(Struct, frozen=True):
    """Milliseconds of a claim that finds nothing, of each run in a claim, of a commit, and of each event in it."""

    claim: float
    run: float
    commit: float
    event: float


class Plan(Struct, frozen=True):
    name: str
    loops: int
    servers: int = SERVERS
    poll: float = 1.0  # seconds between claims without a hint
    events: int = 20  # of each run
    pause: float = 0.05  # seconds between two events of a run


class Outcome(Struct):
    """The runs and writes in the simulated time, and those that were under way at its end."""

    seconds: float
    arrived: int = 0
    claimed: int = 0
    queued: int = 0
    offered: int = 0
    committed: int = 0
    buffered: int = 0
    statements: int = 0
    empty_claims: int = 0
    busy: float = 0.0  # seconds of slots
    most_at_once: int = 0  # statements of one server, under way or waiting for a slot
    area: float = 0.0  # the number of uncommitted events, integrated over time
    residual: float = 0.0  # how long the uncommitted events at the end have waited, in total
    claim_ms: list[float] = field(default_factory=list)
    commit_ms: list[float] = field(default_factory=list)


class _Server:
    def __init__(self) -> None:
        self.free = [0.0] * SLOTS
        self.open = 0


class _Loop:
    def __init__(self, server: _Server) -> None:
        self.server = server
        self.runs: list[float] = []  # when they arrived
        self.claim: list[float] | None = None  # the runs of the claim under way
        self.events: list[float] = []  # when they were offered
        self.commit: list[float] | None = None  # the events of the commit under way


class Simulation:
    """One plan under one load. Times are seconds. Runs arrive at random until `until`, uniformly over the loops."""

    def __init__(
        self,
        plan: Plan,
        costs: Costs,
        runs_s: float,
        seconds: float = SECONDS,
        until: float | None = None,
        seed: int = 1,
    ) -> None:
        self._plan = plan
        self._costs = costs
        self._rate = runs_s
        self._until = seconds if until is None else until
        self._random = random.Random(seed)
        self._now = 0.0
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        servers = [_Server() for _ in range(plan.servers)]
        self._loops = [_Loop(servers[place % plan.servers]) for place in range(plan.loops)]
        self.outcome = Outcome(seconds)

    def run(self) -> Outcome:
        found = self.outcome
        for loop in self._loops:
            self._after(self._random.random() * self._plan.poll, partial(self._poll, loop))
        self._after(self._random.expovariate(self._rate), self._arrive)
        while self._due and self._due[0][0] <= found.seconds:
            due, _, act = heapq.heappop(self._due)
            self._pass_time(due)
            act()
        self._pass_time(found.seconds)
        left = [offered for loop in self._loops for offered in (*loop.events, *(loop.commit or ()))]
        found.queued = sum(len(loop.runs) + len(loop.claim or ()) for loop in self._loops)
        found.buffered = len(left)
        found.residual = sum(found.seconds - offered for offered in left)
        return found

    def _pass_time(self, until: float) -> None:
        self.outcome.area += (self.outcome.offered - self.outcome.committed) * (until - self._now)
        self._now = until

    def _after(self, seconds: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._due, (self._now + seconds, next(self._numbers), act))

    def _execute(self, loop: _Loop, cost_ms: float, then: Callable[[], None]) -> None:
        """Execute a statement when a slot of the server is free."""
        server, found = loop.server, self.outcome
        begins = max(self._now, heapq.heappop(server.free))
        ends = begins + cost_ms / 1000
        heapq.heappush(server.free, ends)
        found.statements += 1
        found.busy += max(0.0, min(ends, found.seconds) - min(begins, found.seconds))
        server.open += 1
        found.most_at_once = max(found.most_at_once, server.open)

        def ended() -> None:
            server.open -= 1
            then()

        self._after(ends - self._now, ended)

    # --- claims

    def _arrive(self) -> None:
        if self._now > self._until:
            return
        self.outcome.arrived += 1
        loop = self._random.choice(self._loops)
        loop.runs.append(self._now)
        self._claim(loop)
        self._after(self._random.expovariate(self._rate), self._arrive)

    def _poll(self, loop: _Loop) -> None:
        self._claim(loop)
        self._after(self._plan.poll, lambda: self._poll(loop))

    def _claim(self, loop: _Loop) -> None:
        if loop.claim is not None:
            return
        taken, loop.runs = loop.runs, []
        loop.claim = taken
        self.outcome.empty_claims += not taken

        def claimed() -> None:
            loop.claim = None
            self.outcome.claimed += len(taken)
            self.outcome.claim_ms += [(self._now - arrived) * 1000 for arrived in taken]
            for _ in taken:
                self._emit(loop, self._plan.events)
            if loop.runs:
                self._claim(loop)

        self._execute(loop, self._costs.claim + self._costs.run * len(taken), claimed)

    # --- the journal

    def _emit(self, loop: _Loop, left: int) -> None:
        self.outcome.offered += 1
        loop.events.append(self._now)
        self._commit(loop)
        if left > 1:
            self._after(self._plan.pause, lambda: self._emit(loop, left - 1))

    def _commit(self, loop: _Loop) -> None:
        if loop.commit is not None or not loop.events:
            return
        part, loop.events = loop.events, []
        loop.commit = part

        def committed() -> None:
            loop.commit = None
            self.outcome.committed += len(part)
            self.outcome.commit_ms += [(self._now - offered) * 1000 for offered in part]
            self._commit(loop)

        self._execute(loop, self._costs.commit + self._costs.event * len(part), committed)


# --- what one claim and one commit cost --------------------------------------------------------------------------


async def measured_costs(store: Store, times: int = 40, many: int = 50) -> Costs:
    """Measure on an empty database: medians, the cost of each run and event from a claim and a commit of many."""
    worker = await a_worker(store, 60 * MINUTE)
    writers: list[Writer] = []

    async def claim(limit: int) -> None:
        writers.extend(Writer(found.run) for found in await store.claim(worker, limit, suspects=False))

    async def append(runs: int) -> None:
        await store.append([writer.part(token("t ")) for writer in writers[:runs]])

    nothing = await _median_ms(times, lambda: claim(1))
    await store.accept([a_post() for _ in range(many * 8)])
    full = await _median_ms(8, lambda: claim(many))
    one = await _median_ms(times, lambda: append(1))
    group = await _median_ms(times, lambda: append(many))
    event = max(0.0, group - one) / (many - 1)
    return Costs(nothing, max(0.0, full - nothing) / many, max(0.0, one - event), event)


async def _median_ms(times: int, work: Callable[[], Awaitable[None]]) -> float:
    took = []
    for _ in range(times):
        begun = perf_counter()
        await work()
        took.append((perf_counter() - begun) * 1e3)
    return median(took)


# --- the table ---------------------------------------------------------------------------------------------------


def plans(shards: int = SHARDS, servers: int = SERVERS, processes: int = PROCESSES) -> list[Plan]:
    return [
        Plan("a loop for each shard", shards, servers),
        Plan("a loop for each process and server", servers * processes, servers),
    ]


def row(plan: Plan, load: float, found: Outcome) -> str:
    """Return a row of the table. A loop keeps two connections open: one for its claims, one for its commits."""
    statements = found.statements / found.seconds / plan.servers
    part = found.committed / max(1, found.statements)
    cells = [
        plan.name,
        f"{load:.0f}",
        f"{statements:.0f}",
        f"{found.empty_claims / found.seconds / plan.servers:.0f}",
        f"{part:.1f}",
        f"{100 * found.busy / (found.seconds * plan.servers * SLOTS):.0f} %",
        f"{2 * plan.loops / plan.servers:.0f} ({found.most_at_once})",
        _half_and_most(found.claim_ms),
        _half_and_most(found.commit_ms),
    ]
    return f"| {' | '.join(cells)} |"


def _half_and_most(took_ms: Sequence[float]) -> str:
    found = [percentile(took_ms, part) for part in (0.5, 0.99)]
    return " / ".join("none" if each is None else f"{each:.1f}" for each in found)


HEAD = (
    "| plan | runs/s | statements/s per server | empty claims/s per server | events per statement | busy |"
    " connections per server (most in use) | claim ms p50 / p99 | commit ms p50 / p99 |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
)


def table(costs: Costs, loads: Sequence[float] = LOADS, seconds: float = SECONDS) -> list[str]:
    return [row(plan, load, Simulation(plan, costs, load, seconds).run()) for load in loads for plan in plans()]


async def _costs_of(url: str) -> Costs:
    store = open_store(Settings(database_url=url))
    await store.open()
    try:
        return await measured_costs(store)
    finally:
        await store.close()


def main() -> None:
    with PrivatePostgres() as postgres:
        costs = asyncio.run(_costs_of(postgres.create_database("shards")))
    spent = (
        f"claim {costs.claim:.2f} + {costs.run:.3f} per run, commit {costs.commit:.2f} + {costs.event:.3f} per event"
    )
    print(f"Measured, in ms: {spent}. {os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}.\n\n{HEAD}")
    print("\n".join(table(costs)))


if __name__ == "__main__":
    main()
