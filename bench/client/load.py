"""The client, a separate process: `python -m bench.client.load <job as JSON>`.

It connects, says `ready`, waits for a line on its standard input, does its job, says `done`, and prints its results as
one JSON line. After the job every stream is checked (`oracle.py`), and a wrong one ends the process with an error."""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from time import monotonic_ns

import msgspec
from msgspec import Struct

from bench.client.dialects import DIALECTS
from bench.client.wire import Piece, Wire

PATIENCE = 120.0
AT_ONCE = 100  # followers that connect together


class Talk(Struct, frozen=True, tag=True, kw_only=True):
    """Conversations at the same time, each asking for one run after the other for `seconds`, at least once. They begin
    one after the other in the first `spread` seconds. `counted`: only tokens that were sent in so many seconds after
    that count."""

    port: int
    clients: int
    seconds: float
    agent: str
    tokens: int
    read_port: int | None = None
    dialect: str = "threads"
    spread: float = 0.0
    counted: float | None = None


class Follow(Struct, frozen=True, tag=True, kw_only=True):
    """Followers of one run; they are ready when all of them are connected."""

    port: int
    clients: int
    run: str
    tokens: int


class Read(Struct, frozen=True, tag=True, kw_only=True):
    """One reader of a run that is over; the clock runs from the request on."""

    port: int
    run: str
    tokens: int
    clients: int = 1


class Heard(Struct, frozen=True, kw_only=True):
    """The results of a client; times in nanoseconds of the monotonic clock. `firsts`: from the request to the first
    event; `delays`: from when a token was made until it was here. `cpu`: seconds of processor time, of one process."""

    begun: int
    ended: int
    runs: int
    events: int
    firsts: list[int]
    delays: list[int]
    cpu: float


Job = Talk | Follow | Read
Told = tuple[int, list[Piece]]  # when it was asked for, what came


async def do(job: Job) -> Heard:
    match job:
        case Talk():
            return await _talk(job)
        case Follow():
            return await _follow(job)
        case Read():
            return await _read(job)


async def _talk(job: Talk) -> Heard:
    dialect = DIALECTS[job.dialect]
    told: list[Told] = []

    async def converse(number: int, post: Wire, read: Wire, thread: str) -> None:
        await asyncio.sleep(job.spread * number / job.clients)
        while True:
            asked = monotonic_ns()
            told.append((asked, await dialect.run(post, read, thread, job.agent, job.tokens)))
            if monotonic_ns() - begun >= job.seconds * 1e9:
                return

    talks = []
    for _ in range(job.clients):
        post = await Wire.connect(job.port)
        read = await Wire.connect(job.read_port) if job.read_port else post
        talks.append((post, read, await dialect.open_thread(post)))
    _say("ready")
    sys.stdin.readline()
    begun, cpu = monotonic_ns(), time.process_time()
    async with asyncio.timeout(PATIENCE + job.seconds):
        await asyncio.gather(*(converse(number, *talk) for number, talk in enumerate(talks)))
    ended, cpu = monotonic_ns(), time.process_time() - cpu
    _say("done")
    for post, read, _ in talks:
        post.close()
        read.close()
    return _judged(job, told, begun, ended, cpu)


async def _follow(job: Follow) -> Heard:
    wires: list[Wire] = []
    while len(wires) < job.clients:
        some = min(AT_ONCE, job.clients - len(wires))
        wires += await asyncio.gather(*(_attached(job) for _ in range(some)))
    _say("ready")
    sys.stdin.readline()
    begun, cpu = monotonic_ns(), time.process_time()
    async with asyncio.timeout(PATIENCE):
        told = [(begun, pieces) for pieces in await asyncio.gather(*(wire.rest() for wire in wires))]
    ended, cpu = monotonic_ns(), time.process_time() - cpu
    _say("done")
    for wire in wires:
        wire.close()
    return _judged(job, told, begun, ended, cpu)


async def _attached(job: Follow) -> Wire:
    wire = await Wire.connect(job.port)
    await wire.open("GET", f"/api/runs/{job.run}/events")
    return wire


async def _read(job: Read) -> Heard:
    wire = await Wire.connect(job.port)
    _say("ready")
    sys.stdin.readline()
    begun, cpu = monotonic_ns(), time.process_time()
    async with asyncio.timeout(PATIENCE):
        pieces = await wire.stream("GET", f"/api/runs/{job.run}/events")
    ended, cpu = monotonic_ns(), time.process_time() - cpu
    _say("done")
    wire.close()
    return _judged(job, [(begun, pieces)], begun, ended, cpu)


def _judged(job: Job, told: list[Told], begun: int, ended: int, cpu: float) -> Heard:
    dialect = DIALECTS[job.dialect if isinstance(job, Talk) else "threads"]
    verdicts = [(asked, dialect.judge(pieces, job.tokens)) for asked, pieces in told]
    since, until = _window(job, begun)
    return Heard(
        begun=begun,
        ended=ended,
        runs=len(told),
        events=len(told) * job.tokens,
        firsts=[verdict.first - asked for asked, verdict in verdicts],
        delays=[
            delay
            for _, verdict in verdicts
            for sent, delay in zip(verdict.sent, verdict.delays, strict=True)
            if since <= sent <= until
        ],
        cpu=cpu,
    )


def _window(job: Job, begun: int) -> tuple[float, float]:
    """Return the times between which a token must have been sent, so that its delay counts."""
    if not isinstance(job, Talk) or job.counted is None:
        return 0, float("inf")
    since = begun + job.spread * 1e9
    return since, since + job.counted * 1e9


def _say(line: str) -> None:
    """Not `print`: with uvloop's io_uring a write to a full pipe may stop halfway, and the rest would be lost."""
    rest = f"{line}\n".encode()
    while rest:
        rest = rest[os.write(1, rest) :]


def main(argument: str) -> None:
    job = msgspec.json.decode(argument, type=Job)
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):
        from uvloop import new_event_loop as factory
    with asyncio.Runner(loop_factory=factory) as runner:
        heard = runner.run(do(job))
    _say(msgspec.json.encode(heard).decode())


if __name__ == "__main__":
    main(sys.argv[1])
