"""`runyard follow`: everything that happens, live, in all runs of the caller."""

from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Annotated

from runyard.cli.clients.open_client import run_knowing_workers
from runyard.cli.parsing.commands import Option
from runyard.cli.parsing.options import OfAgent
from runyard.cli.terminal.output import secho
from runyard.errors import Conflict, RunyardError, Unavailable

if TYPE_CHECKING:
    from asyncio import Task
    from datetime import datetime

    from runyard.cli.clients.open_client import AnyClient
    from runyard.client import RunInfo

POLL_SECONDS = 0.5
MOST = 50  # runs that are followed at once; the next ones wait until one of them ends
PAGE = 50
LATE_SECONDS = 10  # between the time of a run and its commit
ACTIVE = ("running", "queued")  # `running` includes runs that wait


def follow(
    agent: OfAgent = None,
    json: Annotated[bool, Option("--json", help="Print every event as a line of JSON.")] = False,
    quiet: Annotated[bool, Option("--quiet", help="Print only when runs begin and end.")] = False,
) -> None:
    """Follow everything that happens in all runs, until Ctrl-C: text, tools, waits, ends.

    Runs that are under way are shown from now on, new ones from their beginning. A line has the time, the end of the
    run's id and the agent. At most 50 runs are followed at once; the next ones are shown when one of them ends.
    """

    async def work(client: "AnyClient", has_workers: bool) -> None:
        if not has_workers:
            raise Conflict("No server executes runs. Start one with `runyard dev`.")
        await Follower(client, agent, json=json, quiet=quiet).run()

    run_knowing_workers(work, quiet=quiet)


class Follower:
    def __init__(self, client: "AnyClient", agent: str | None, *, json: bool, quiet: bool) -> None:
        import asyncio

        self._client = client
        self._agent = agent
        self._json = json
        self._quiet = quiet
        self._known: set[str] = set()
        self._since: datetime | None = None
        self._tasks: set[Task[None]] = set()
        self._slots = asyncio.Semaphore(MOST)

    async def run(self) -> None:
        """Follow runs until cancelled. A server that does not answer is asked again."""
        import asyncio

        is_away = False
        await self._new_runs()  # those that are there already
        for run in await self._under_way():
            self._start(run, run.last_seq)
        if not self._quiet:
            secho(f"Following {len(self._tasks)} runs and all new ones; Ctrl-C ends.", dim=True, err=True)
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                for run in await self._new_runs():
                    self._start(run, 0)
                is_away = False
            except Unavailable as error:
                if not is_away:
                    secho(error.message, fg="yellow", err=True)
                is_away = True

    async def _under_way(self) -> "list[RunInfo]":
        """Return the runs that have not ended, those that work first."""
        found = [run for status in ACTIVE async for run in self._client.runs(status=status, agent=self._agent)]
        return sorted(found, key=lambda run: run.waiting)

    async def _new_runs(self) -> "list[RunInfo]":
        """Return the runs that appeared since the last call, oldest first. A run is committed a little after it got its
        time, so the last seconds are read again."""
        from datetime import timedelta

        from runyard.cli.terminal.text import moment

        found: list[RunInfo] = []
        newest: datetime | None = None
        async with aclosing(self._client.runs(agent=self._agent, page=PAGE)) as runs:
            async for run in runs:
                created = moment(run.created_at)
                newest = newest or created
                if created < (self._since or newest - timedelta(seconds=LATE_SECONDS)):
                    break
                if run.run_id not in self._known:
                    found.append(run)
        self._known.update(run.run_id for run in found)
        if newest is not None:
            self._since = newest - timedelta(seconds=LATE_SECONDS)
        return found[::-1]

    def _start(self, run: "RunInfo", after: int) -> None:
        import asyncio

        task = asyncio.create_task(self._follow(run, after), name=f"follow {run.run_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, run: "RunInfo", after: int) -> None:
        from runyard.cli.terminal.line_printer import LinePrinter
        from runyard.cli.terminal.run_printer import JsonPrinter

        printer = JsonPrinter() if self._json else LinePrinter(run, quiet=self._quiet)
        with suppress(RunyardError):  # deleted meanwhile, or its server does not come back
            async with self._slots, aclosing(self._client.follow(run.run_id, after)) as events:
                if after == 0 and isinstance(printer, LinePrinter):
                    printer.begin(run)
                async for event in events:
                    printer.take(event)
        printer.end()
