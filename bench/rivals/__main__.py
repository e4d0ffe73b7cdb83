"""`python -m bench.rivals`: 200 tiny events to 1, 10 and 50 clients from bare FastAPI, from Runyard on Postgres, and
from others, in one interleaved session; every event is checked. And empty runs, where runs are durable jobs.

A rival that cannot be installed, started or measured is named, with the reason."""

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from bench.cases import streams
from bench.client.clients import ClientFailed
from bench.report.results import FOLDER, Results, Row, save
from bench.report.table import tables
from bench.rivals.environment import NotInstalled, install
from bench.rivals.rivals import DBOS, RIVALS, Rival
from bench.scaling import capacity
from bench.servers import machine
from bench.servers.processes import NotReady, Server
from bench.servers.stand import BARE, POSTGRES, Stand
from bench.size import FULL, TINY, Size
from bench.steps import Step, console, walk

OWN = (BARE, POSTGRES)
ROUNDS = 2


class Contest:
    def __init__(self, stand: Stand, size: Size) -> None:
        self._stand = stand
        self._size = size
        self._servers: dict[str, Server] = {}
        self._dialects: dict[str, str] = {}
        self._jobs = [POSTGRES]
        self.missing: dict[str, str] = {}

    def enter(self, stack: ExitStack, rival: Rival) -> None:
        console.print(f"[dim]installing and starting {rival.name}[/]")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="runyard-rival-")))
        try:
            install(rival.packages)
            self._servers[rival.name] = stack.enter_context(rival.serve(self._stand, folder))
        except (NotInstalled, NotReady, OSError) as error:
            self._leave_out(rival.name, error)
        else:
            self._dialects[rival.name] = rival.dialect
            self._jobs += [rival.name] if rival.jobs else []

    def enter_own(self, stack: ExitStack) -> None:
        for kind in OWN:
            self._servers[kind] = stack.enter_context(self._stand.server(kind))

    def warm_up(self) -> list[Step]:
        """Rows that are thrown away."""
        return [self._step("flat", name, 1) for name in self._servers]

    def steps(self) -> list[Step]:
        size = self._size
        return [
            *(
                self._step("flat", name, clients)
                for clients in size.clients
                for _ in range(size.rounds)
                for name in self._servers
            ),
            *(self._step("noop", name, size.in_flight) for _ in range(size.rounds) for name in self._jobs),
            Step("capacity", self._capacity),
        ]

    def _capacity(self) -> Sequence[Row]:
        return capacity.measured(self._climbers(), self._size)

    def _climbers(self) -> list[capacity.Contestant]:
        return [
            capacity.Contestant(
                name=name,
                serve=partial(_running, server),
                dialect=self._dialects.get(name, "threads"),
                may_fail=name not in OWN,
            )
            for name, server in self._servers.items()
            if name != DBOS and name not in self.missing
        ]

    def _step(self, case: str, name: str, clients: int) -> Step:
        return Step(f"{case}, {clients} at once, {name}", partial(self._measure, case, name, clients))

    def _measure(self, case: str, name: str, clients: int) -> list[Row]:
        if name in self.missing:
            return []
        dialect = self._dialects.get(name, "threads")
        try:
            return [streams.stream(case, self._servers[name], clients, self._size, dialect)]
        except ClientFailed as error:
            self._leave_out(name, error)
            return []

    def _leave_out(self, name: str, error: Exception) -> None:
        self.missing[name] = str(error)
        console.print(f"{name} is left out: {error}")


def _running(server: Server) -> AbstractContextManager[Server]:
    return nullcontext(server)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.rivals", description="Measure other servers.")
    parser.add_argument("--tiny", action="store_true", help="sizes that show in a minute that it works")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where rivals.json goes")
    asked = parser.parse_args()
    size = TINY if asked.tiny else replace(FULL, rounds=ROUNDS)
    begun = time.monotonic()
    with Stand(OWN) as stand, ExitStack() as stack:
        contest = Contest(stand, size)
        for rival in RIVALS:
            contest.enter(stack, rival)
        contest.enter_own(stack)
        walk(contest.warm_up(), begun)
        rows = walk(contest.steps(), begun)
        measured = [row for row in rows if row.server not in contest.missing]
        results = Results(machine.facts(stand.postgres_version), measured, contest.missing)
    save(results, "rivals", asked.folder)
    console.print(*tables(results), sep="\n")


if __name__ == "__main__":
    main()
