"""`python -m bench.large.long_runs`: the cost of reading a long run, with and without snapshots.

One thread has one answer of a million tokens, another one twenty answers of two thousand. A process of this program
writes them as any other would. Then `/state`, the chat object and the conversation that the next message begins with
are read, alternately from the first event of the log (as if there were no snapshots) and from the newest snapshot."""

import argparse
import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import structlog
from rich.table import Table

from bench.servers.stand import POSTGRES, SQLITE, Stand
from bench.steps import console
from runyard.agents.context.context import Context
from runyard.agents.declared.kinds import agent
from runyard.agents.declared.loading import App
from runyard.app.process import Process
from runyard.domain.events import Event
from runyard.domain.runs.run import Run
from runyard.engine.intake.user_message import UserMessage
from runyard.engine.log import snapshots as snapshots_module
from runyard.engine.log.snapshots import Snapshots
from runyard.engine.running import run_snapshots
from runyard.engine.running.earlier_runs import earlier_conversations
from runyard.faces.chats.interaction_builder import InteractionBuilder
from runyard.settings import Settings
from runyard.store import Snapshot

OWNER = "ann"
HISTORY = 20
Ask = Callable[[], Awaitable[Any]]


@agent(name="writer")
async def writer(ctx: Context) -> str:
    assert ctx.message is not None
    for _ in range(int(ctx.message.text)):
        await ctx.token("word ")
    return "word " * int(ctx.message.text)


class Reads:
    """The reads of a process from its store: counts events, and hides snapshots while they are not wanted."""

    def __init__(self, process: Process) -> None:
        self.events = 0
        self.are_snapshots_used = True
        store: Any = process.store
        read, snapshot, save = store.read, store.snapshot, store.save_snapshot

        async def counted(run_id: str, after: int, limit: int) -> list[Event]:
            found: list[Event] = await read(run_id, after, limit)
            self.events += len(found)
            return found

        async def newest(run_id: str, kind: str, upto: int) -> Snapshot | None:
            return await snapshot(run_id, kind, upto) if self.are_snapshots_used else None

        async def saved(run_id: str, kind: str, each: Snapshot) -> None:
            if self.are_snapshots_used:
                await save(run_id, kind, each)

        store.read, store.snapshot, store.save_snapshot = counted, newest, saved


class LoopClock:
    """The longest time for which the event loop did not come round."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            self.longest, last = max(self.longest, now - last), now

    def stop(self) -> float:
        self._task.cancel()
        return self.longest * 1e3


async def said(process: Process, thread_id: str, tokens: int) -> Run:
    accepted = await process.engine.intake.post(thread_id, UserMessage(OWNER, "threads", str(tokens), None))
    while not (run := await process.engine.views.run(OWNER, accepted.run_id)).status.is_terminal:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    return run


async def measured(table: Table, name: str, reads: Reads, ask: Ask) -> None:
    for use in (False, True):
        reads.are_snapshots_used = use
        await ask()  # the first reader of a log saves what is worth saving
        await asyncio.sleep(0.2)
        reads.events, loop, cpu, began = 0, LoopClock(), time.process_time(), time.perf_counter()
        await ask()
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        await asyncio.sleep(0.005)
        numbers = (f"{reads.events:,}", f"{cpu * 1e3:,.0f}", f"{took * 1e3:,.0f}", f"{loop.stop():,.0f}")
        table.add_row(name, "newest snapshot" if use else "first event", *numbers)


async def measure(url: str, tokens: int, folder: Path) -> Table:
    settings = Settings(database_url=url, workspaces=folder, max_answer_bytes=10**9, checkpoint_folder=folder / "c")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    process = Process(settings, App({"writer": writer}, {}, "writer"))
    reads = Reads(process)
    await process.start()
    try:
        table = Table("asked for", "from", "events read", "CPU ms", "ms", "longest hold of the loop, ms")
        long, short = [await process.engine.intake.open_thread(OWNER, None, None) for _ in range(2)]
        for use in (False, True):
            vars(run_snapshots)["EVERY"] = snapshots_module.EVERY if use else snapshots_module.FAR
            cpu, began = time.process_time(), time.perf_counter()
            run = await said(process, long.id, tokens)
            cpu, took = time.process_time() - cpu, time.perf_counter() - began
            kept = "with snapshots" if use else "without"
            table.add_row(f"writing {tokens:,} tokens", kept, "", f"{cpu * 1e3:,.0f}", f"{took * 1e3:,.0f}", "")
        for _ in range(20):
            await said(process, short.id, 2000)
        after_long, after_short = await said(process, long.id, 1), await said(process, short.id, 1)
        interactions, snapshots = InteractionBuilder(process.engine), Snapshots(process.store)

        def conversation(of: Run) -> Ask:
            async def ask() -> None:
                async for _ in earlier_conversations(process.store, snapshots, of, 1 if of is after_long else HISTORY):
                    pass

            return ask

        size = f"{tokens:,} tokens"
        await measured(table, f"state of {size}", reads, lambda: process.engine.views.state(OWNER, run.id, None))
        await measured(table, f"chat of {size}", reads, lambda: interactions.page(long, False, None, 2))
        await measured(table, f"next message after {size}", reads, conversation(after_long))
        await measured(table, "next message after 20 x 2,000 tokens", reads, conversation(after_short))
    finally:
        await process.stop()
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.large.long_runs", description="Measure long runs.")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="tokens of the long answer")
    parser.add_argument("--on", choices=(SQLITE, POSTGRES), action="append", help="databases; both if not given")
    asked = parser.parse_args()
    kinds = tuple(asked.on or (SQLITE, POSTGRES))
    with Stand(kinds) as stand, TemporaryDirectory() as folder:
        for kind in kinds:
            console.print(kind, asyncio.run(measure(stand.url(kind, "long"), asked.tokens, Path(folder))))


if __name__ == "__main__":
    main()
