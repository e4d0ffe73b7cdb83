"""A pod for the flow tests: the product's own `serve` and `work`, on a test app, perhaps with a fault.

Run as a program it is a nursery: it has imported everything, and forks one pod per line of JSON on its standard input
(`spec` below), so that a pod starts in milliseconds. It reports on its standard output, one JSON object per line: a pod
was born, is ready, or has ended. When its input ends it kills what it started.

The faults live here and nowhere in the product. `FAULT` holds `point:n[:action]`, several separated by a space. A point
is `before.` or `after.` and what is counted: a store method (`claim` counts runs, also those that `accept` claims,
`expire` the waits that it answered), a move (`finish`, `park`, `release`), an end (`done`, `error`, `canceled`) or an
event type (`after.model.token:7`: the commit that holds the seventh token). After `@` stands a gate, from whose opening
is counted. The fact that a fault fired names all that the commit held, each with its number. `after.seq:n` is the first
commit or claim of a run whose log has `n` events; the process gets a SIGKILL. Runs that the file `spared` names are not
counted. Actions: `exit` (at once, like kill -9), `lose` (the commit happened, its answer did not arrive), `break` (an
unexpected error), `hang` (until the file `open/<point>` exists). `UNSAFE` names defences to remove (`defences.py`).
`CLOCK_DAYS` and `CLOCK_JUMPS` make its clock wrong (`jumping_clock.py`). `BUS` spoils the hints that this pod sends:
`silent` (none arrives), `doubling` (each arrives twice), `shuffled` (late, last one first). `BROKEN` names a sink of
telemetry that fails (`broken_sinks.py`). Requests need an API key only if `KEYS` is set.

`PRELOAD` names modules that the nursery imports, so that its pods need not. The kind `once` calls `runyard.work_once`:
`CALLS` times, with `MAX_SECONDS` and for `AGENTS`. The kind `celery` is a worker of Celery, and `processes` is `serve
--processes 2`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import selectors
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from celery import signals
from celery.bin.celery import celery

import runyard
from runyard.agents.declared.loading import App
from runyard.app import factories as opening
from runyard.app import process as wiring
from runyard.app import server as serving
from runyard.domain.runs.append import Appended, Finish, Outcome, Part, Repeated
from runyard.errors import Fenced, RunyardError, Unavailable
from runyard.settings import Settings, address
from runyard.store import Accepted, Claim, Post, Store
from runyard.telemetry import logs
from runyard.web.streaming import sse
from tests.support.faults.broken_sinks import BROKEN
from tests.support.faults.defences import REMOVE
from tests.support.faults.faulty_bus import FaultyBus
from tests.support.faults.jumping_clock import install as install_clock
from tests.support.faults.proxy import CHANNEL
from tests.support.in_process.app_factory import create_app
from tests.support.scenario.facts_and_gates import FOLDER, Notes

T = TypeVar("T")


class Fault:
    def __init__(self, text: str) -> None:
        self.point, _, rest = text.partition(":")
        number, _, action = rest.partition(":")
        name, _, self.gate = self.point.partition("@")
        self.when, _, self.what = name.partition(".")
        self.at, self.action, self.fired = int(number or 1), action or "exit", False


class FaultyStore:
    """A store that does everything the real one does, records what it acknowledged, and fails at the chosen points."""

    def __init__(self, store: Store, faults: Sequence[Fault], notes: Notes) -> None:
        self._store, self._faults, self._notes = store, faults, notes
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._store, name)
        if not asyncio.iscoroutinefunction(real):
            return real

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await self._around({name: 1}, real(*args, **kwargs), lambda _: {name: 1})

        return call

    async def append(self, parts: Sequence[Part]) -> Sequence[Outcome]:
        call = self._store.append(parts)
        names = _names([part for part in parts if part.run_id not in self._spared()])
        return await self._around(names, call, lambda outcomes: self._note(parts, outcomes))

    async def accept(self, posts: Sequence[Post], *args: Any) -> Sequence[Accepted | RunyardError]:
        def names(answers: Sequence[Accepted | RunyardError]) -> dict[str, int]:
            claims = [each.claim for each in answers if isinstance(each, Accepted) and each.claim is not None]
            self._reach({claim.run.id: claim.run.last_seq for claim in claims})
            claimed = len(claims)
            return {"accept": 1} | ({"claim": claimed} if claimed else {})

        return await self._around({"accept": 1}, self._store.accept(posts, *args), names)

    async def claim(self, *args: Any, **kwargs: Any) -> Sequence[Claim]:
        def names(claims: Sequence[Claim]) -> dict[str, int]:
            self._reach({claim.run.id: claim.run.last_seq for claim in claims})
            return {"claim": len(claims)} if claims else {}

        return await self._around({}, self._store.claim(*args, **kwargs), names)

    async def expire(self, *args: Any) -> Any:
        def names(found: Any) -> dict[str, int]:
            return {"expire": len(found[0])} if found[0] else {}

        return await self._around({}, self._store.expire(*args), names)

    async def _around(self, before: dict[str, int], call: Awaitable[T], after: Callable[[T], dict[str, int]]) -> T:
        await self._count("before", before)
        answer = await call
        await self._count("after", after(answer))
        return answer

    def _note(self, parts: Sequence[Part], outcomes: Sequence[Outcome]) -> dict[str, int]:
        for part, outcome in zip(parts, outcomes, strict=True):
            if isinstance(outcome, Appended | Repeated):
                for draft in part.drafts:
                    self._notes.write("acknowledged", part.run_id, draft.id, os.getpid())
            elif isinstance(outcome, Fenced):
                self._notes.write("refused", part.run_id, part.fence, os.getpid())
        done = [(part, each) for part, each in zip(parts, outcomes, strict=True) if isinstance(each, Appended)]
        self._reach({part.run_id: each.last_seq for part, each in done})
        return _names([part for part, _ in done if part.run_id not in self._spared()])

    def _spared(self) -> set[str]:
        return {run_id for [run_id] in self._notes.read("spared")} if self._faults else set()

    def _reach(self, lengths: Mapping[str, int]) -> None:
        """End the process if the log of a run has reached the length that a fault names."""
        for fault in (each for each in self._faults if each.point == "after.seq"):
            if any(length >= fault.at for run_id, length in lengths.items() if run_id not in self._spared()):
                self._notes.write("faults", fault.point, os.getpid())
                os.kill(os.getpid(), signal.SIGKILL)

    async def _count(self, when: str, names: dict[str, int]) -> None:
        due = []
        for gate in {fault.gate for fault in self._faults if fault.when == when and not fault.fired}:
            if not gate or self._notes.is_open(gate):
                self._counts.update({(when, gate, name): count for name, count in names.items()})
                due += [fault for fault in self._faults if (fault.when, fault.gate) == (when, gate)]
        for fault in due:
            if fault.what in names and self._counts[when, fault.gate, fault.what] >= fault.at and not fault.fired:
                fault.fired = True
                await self._strike(fault, names)

    async def _strike(self, fault: Fault, names: dict[str, int]) -> None:
        ends = {name: self._counts[fault.when, fault.gate, name] for name in names}
        held = [f"{name}:{n}" for name, end in ends.items() for n in range(end - names[name] + 1, end + 1)]
        self._notes.write("faults", fault.point, os.getpid(), *held)
        match fault.action:
            case "exit":
                os._exit(137)
            case "lose":
                raise Unavailable("The answer was lost on purpose.")
            case "break":
                raise RuntimeError("on purpose")
            case "hang":
                while not self._notes.is_open(fault.point):  # noqa: ASYNC110 (the gate is a file)
                    await asyncio.sleep(0.005)
            case other:
                raise ValueError(other)


def _names(parts: Sequence[Part]) -> dict[str, int]:
    names: Counter[str] = Counter()
    for part in parts:
        names["append"] += 1
        names.update(draft.type for draft in part.drafts)
        if part.move is not None:
            names[type(part.move).__name__.lower()] += 1
            if isinstance(part.move, Finish):
                names[part.move.status.value] += 1
    return dict(names)


# --- one pod ---------------------------------------------------------------------------------------------------------


def prepare() -> None:
    """Build the faults that the environment names into this process."""
    notes = Notes(Path(os.environ[FOLDER]))
    for name in os.environ.get("UNSAFE", "").split():
        REMOVE[name]()
    if broken := os.environ.get("BROKEN"):
        BROKEN[broken]()
    sse.STALL_SECONDS = float(os.environ.get("STALL_SECONDS", sse.STALL_SECONDS))
    faults = [Fault(text) for text in os.environ.get("FAULT", "").split()]

    install_clock()

    def open_store(*args: Any, **kwargs: Any) -> Any:
        store = opening.open_store(*args, **kwargs)
        for channel, connections in getattr(store, "_lines", {}).items():
            connections._settings = connections._settings | {CHANNEL: channel}
        return FaultyStore(store, faults, notes)

    wiring.open_store = open_store  # type: ignore[attr-defined]
    if spoilt := os.environ.get("BUS"):
        wiring.open_bus = lambda settings: FaultyBus(opening.open_bus(settings), spoilt)  # type: ignore[attr-defined]


async def be(kind: str, ready: Callable[[str, bool], None]) -> None:
    """`serve` (with a worker), `api` (without) or `worker`, as the environment says."""
    prepare()
    settings = Settings()
    app = opening.load_app(settings)
    if kind != "worker":
        keys: serving.Keys = "needed" if os.environ.get("KEYS") else "not_needed"
        await serving.serve(settings, app, worker=kind == "serve", keys=keys, ready=ready)
        return
    start = wiring.Process.start

    async def started(process: wiring.Process) -> None:
        await start(process)
        ready("", False)

    wiring.Process.start = started  # type: ignore[method-assign, assignment]
    await serving.work(settings, app)


def work_once(ready: Callable[[str, bool], None]) -> None:
    """Call `runyard.work_once` as often as `CALLS` says, and record what each call did."""
    prepare()
    notes = Notes(Path(os.environ[FOLDER]))
    logs.configure("json", "info")
    ready("", False)
    seconds, agents = os.environ.get("MAX_SECONDS"), os.environ.get("AGENTS", "").split()
    for _ in range(int(os.environ.get("CALLS", "1"))):
        worked = runyard.work_once(max_seconds=None if seconds is None else float(seconds), agents=agents or None)
        notes.write("worked", *(("nothing",) if worked is None else (worked.outcome, worked.run_id)))


def work_for_celery(ready: Callable[[str, bool], None]) -> None:
    """Be `celery -A $CELERY_APP worker $CELERY_OPTIONS`."""
    prepare()
    signals.worker_ready.connect(lambda **_: ready("", False), weak=False)
    celery.main(args=["-A", os.environ["CELERY_APP"], "worker", *os.environ["CELERY_OPTIONS"].split()])


# --- the nursery -----------------------------------------------------------------------------------------------------


def main() -> None:
    """Forks until the input ends; in a forked pod, returns when the pod is done. An app is built before, so that
    everything is imported and every type known that a pod's own will need."""
    create_app(Settings(database_url="sqlite:///unused.db"), App({}, {}), worker=False)
    for module in os.environ.get("PRELOAD", "").split():
        import_module(module)
    gc.freeze()  # what is here stays, and no pod's collector need look at it
    report = os.dup(1)
    os.dup2(2, 1)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: set[int] = set()
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(0, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd == wake:
                    os.read(wake, 4096)
                    _bury(children, report)
                    continue
                chunk = os.read(0, 65536)
                if not chunk:
                    for child in children:
                        with suppress(ProcessLookupError):
                            os.kill(child, signal.SIGKILL)
                    return
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    spec = json.loads(line)
                    child = os.fork()
                    if child == 0:
                        selector.close()
                        _live(spec, report, [wake, waker])
                        return
                    children.add(child)


def _bury(children: set[int], report: int) -> None:
    for child in list(children):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            children.discard(child)
            _say(report, {"ended": pid, "code": os.waitstatus_to_exitcode(status)})


def _live(spec: dict[str, Any], report: int, inherited: Sequence[int]) -> None:
    _say(report, {"born": spec["name"], "pid": os.getpid()})  # said by the pod itself, so that it comes before the rest
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for file in inherited:
        os.close(file)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    log = os.open(spec["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ.update(spec["env"])

    def ready(url: str, needs_key: bool) -> None:
        _say(report, {"ready": os.getpid(), "url": url})

    if spec["kind"] == "once":
        work_once(ready)
    elif spec["kind"] == "processes":
        prepare()
        settings = Settings()
        ready(address(settings.host, settings.port), False)
        serving.serve_in_processes(settings, 2, lambda: opening.load_app(settings), keys="not_needed")
    elif spec["kind"] == "celery":
        work_for_celery(ready)
    else:
        serving.run(be(spec["kind"], ready))


def _say(report: int, message: dict[str, Any]) -> None:
    os.write(report, json.dumps(message).encode() + b"\n")  # shorter than PIPE_BUF, so never torn


if __name__ == "__main__":
    main()
