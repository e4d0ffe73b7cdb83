"""Runs a process until a signal: a server, or a worker without HTTP.

On SIGTERM or SIGINT the process drains (`Process.drain`) and then closes. A second signal skips the wait.
"""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal

from runyard.agents.declared.loading import App
from runyard.app.asgi import create_app, warn_if_no_api_key
from runyard.app.listening import is_loopback, listen, metrics_ports
from runyard.app.process import Process
from runyard.app.processes import Processes
from runyard.engine.running.run_services import ShowTraceback
from runyard.errors import StartupError
from runyard.settings import Settings, address
from runyard.telemetry import logs
from runyard.telemetry.logger import get_logger

if TYPE_CHECKING:
    from runyard.web.limits.connections import Bounded

log = get_logger()

# Longer than proxies and clients keep an idle connection, so that they close it, and never in the middle of a request.
KEEP_ALIVE_SECONDS = 75
_handled: list[asyncio.AbstractEventLoop] = []  # loops with signal handlers, where Ctrl-C raises nothing
Keys = Literal["needed", "needed_off_loopback", "not_needed"]


async def serve(
    settings: Settings,
    app: App,
    *,
    worker: bool = True,
    keys: Keys = "needed",
    ready: Callable[[str, bool], None] | None = None,
    on_traceback: ShowTraceback | None = None,
    listener: socket.socket | None = None,
    metrics_listener: socket.socket | None = None,
) -> None:
    """Serve HTTP until SIGTERM or SIGINT. `ready` is called with the address, and whether it requires an API key. The
    listeners are sockets that are open already.

    `keys`: without keys, every caller may do everything. `on_traceback` is called with what agents raise. This is
    content, so only a developer's own server sets it."""
    import uvicorn

    from runyard.web.loopback import LoopbackOnly

    logs.configure(settings.log_format, settings.log_level)
    logs.catch_tracebacks()
    signals = _Signals()
    process = Process(settings, app, worker=worker, may_exit=True, on_traceback=on_traceback)
    listener = listener or listen(settings.host, settings.port)
    is_guarded = keys == "needed" or (keys == "needed_off_loopback" and not is_loopback(listener))
    served = create_app(settings, process=process, keys=is_guarded)
    config = uvicorn.Config(
        served if keys != "needed_off_loopback" or is_guarded else LoopbackOnly(served, settings.origins),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        http=http_protocol(settings, process),
        timeout_graceful_shutdown=5,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        lifespan="off",
    )
    server = uvicorn.Server(config)
    server.capture_signals = nullcontext  # type: ignore[assignment, method-assign]
    await _start(process, signals)
    await warn_if_no_api_key(process, settings, is_guarded)
    _reduce_garbage_collection()
    stopping = _on_signal(signals, process, settings.drain_seconds, lambda: setattr(server, "should_exit", True))
    if ready is not None:
        ready(address(settings.host, listener.getsockname()[1]), is_guarded)
    async with _metrics_server(settings, process, metrics_listener):
        with _HiddenCuts():
            await server.serve([listener])
    stopping.cancel()
    await process.stop()


def http_protocol(settings: Settings, process: Process) -> "type[Bounded]":
    """Return uvicorn's HTTP protocol with the connection limits of the settings."""
    from runyard.web.limits.connections import ConnectionLimits, bounded

    limits = ConnectionLimits(
        settings.max_header_bytes,
        settings.header_seconds,
        settings.body_seconds,
        settings.max_connections,
        settings.max_connections_per_address,
        settings.max_file_bytes,
    )
    return bounded(limits, process.metrics.refused)


async def work(settings: Settings, app: App) -> None:
    """Run a worker without HTTP until SIGTERM or SIGINT."""
    logs.configure(settings.log_format, settings.log_level)
    logs.catch_tracebacks()
    if settings.database_url.startswith("sqlite"):
        raise StartupError(
            "SQLite has one process: `runyard serve` includes the worker. Use Postgres to run separate workers."
        )
    signals = _Signals()
    process = Process(settings, app, may_exit=True)
    await _start(process, signals)
    _reduce_garbage_collection()
    done = asyncio.Event()
    stopping = _on_signal(signals, process, settings.drain_seconds, done.set)
    async with _metrics_server(settings, process):
        await done.wait()
    stopping.cancel()
    await process.stop()


@asynccontextmanager
async def _metrics_server(
    settings: Settings, process: Process, listener: socket.socket | None = None
) -> AsyncIterator[None]:
    """Serve health and metrics on a separate port, if the settings name one."""
    if settings.metrics_port is None:
        yield
        return
    import uvicorn

    from runyard.web.metrics_port import MetricsPort

    listener = listener or listen(settings.metrics_host, settings.metrics_port, "RUNYARD_METRICS_PORT")
    answering = MetricsPort(process.engine, process.metrics)
    config = uvicorn.Config(
        answering,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        http=http_protocol(settings, process),
        lifespan="off",
    )
    server = uvicorn.Server(config)
    server.capture_signals = nullcontext  # type: ignore[assignment, method-assign]
    serving = asyncio.create_task(server.serve([listener]), name="metrics")
    log.info("metrics_server.started", url=f"{address(settings.metrics_host, listener.getsockname()[1])}/metrics")
    try:
        yield
    finally:
        server.should_exit = True
        await serving


def run(main: Coroutine[Any, Any, None], last: Callable[[], None] | None = None) -> None:
    """asyncio.run, on uvloop where it is installed. `last` is called when `main` has ended, while signals are still
    handled."""
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):
        from uvloop import new_event_loop as factory
    with asyncio.Runner(loop_factory=factory) as runner:
        task = runner.get_loop().create_task(_run_and_clean_up(main, last), name="main")
        while True:
            try:
                return runner.run(_result(task))
            except (SystemExit, KeyboardInterrupt) as error:
                # raised by a callback of an agent: its tasks are contained, and Ctrl-C raises nothing once handled
                if task.done() or (isinstance(error, KeyboardInterrupt) and not _handled):
                    raise
                log.error("event_loop.exit_ignored", error=type(error).__name__)


async def _result(task: "asyncio.Task[None]") -> None:
    await task


def _is_stray(task: "asyncio.Task[Any]") -> bool:
    """Whether this is not one of the two tasks that `run` creates. The other one may not have begun yet."""
    code = getattr(task.get_coro(), "cr_code", None)
    return task is not asyncio.current_task() and code is not _result.__code__


async def _run_and_clean_up(main: Coroutine[Any, Any, None], last: Callable[[], None] | None) -> None:
    """Run `main`, then cancel the tasks that agents left. One that ignores its cancellation does not keep the process
    alive: its run is back in the queue by then."""
    await main
    strays = set(filter(_is_stray, asyncio.all_tasks()))
    for task in strays:
        task.cancel()
    left = (await asyncio.wait(strays, timeout=1))[1] if strays else set()
    if left:
        log.warning("process.tasks_abandoned", tasks=len(left))
    if last is not None:
        last()
    if left or _is_loading():
        _leave()


def _reduce_garbage_collection() -> None:
    """Exclude loaded modules from garbage collection, and collect less often. Saves a fifth of the CPU."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


class _Signals:
    """Handlers of SIGTERM and SIGINT, from the start: process 1 of a container has no default handlers."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.first, self.second = asyncio.Event(), asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._caught)
        _handled.append(loop)

    def _caught(self) -> None:
        (self.second if self.first.is_set() else self.first).set()


async def _start(process: Process, signals: _Signals) -> None:
    """Start the process. If a signal comes first, exit at once: there is nothing to drain yet."""
    starting = asyncio.create_task(process.start(), name="start")
    stopped = asyncio.create_task(signals.first.wait())
    await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():
        log.info("process.stop_requested")
        _leave()
    stopped.cancel()
    await starting


def _leave() -> None:
    """Exit without Python's own clean-up, which would wait for threads and locks for ever."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the disk is full, or the stream is closed
            stream.flush()
    os._exit(0)


def _is_loading() -> bool:
    """Whether a thread still imports the library of models."""
    loading = sys.modules.get("runyard.models.loading")
    return loading is not None and loading.is_loading()


def _on_signal(signals: _Signals, process: Process, grace: float, then: Callable[[], None]) -> "asyncio.Task[None]":
    """On the first signal drain, then call `then`. On the second, stop waiting for runs to end."""

    async def shut_down() -> None:
        await signals.first.wait()
        log.info("process.stop_requested")
        draining = asyncio.create_task(process.drain(grace))
        hurry = asyncio.create_task(signals.second.wait())
        await asyncio.wait({draining, hurry}, return_when=asyncio.FIRST_COMPLETED)
        hurry.cancel()
        if not draining.done():
            draining.cancel()
            await asyncio.gather(draining, return_exceptions=True)
            await process.drain(0)
        then()

    return asyncio.create_task(shut_down(), name="signals")


def serve_in_processes(
    settings: Settings, count: int, load: Callable[[], App], *, worker: bool = True, keys: Keys = "needed"
) -> int:
    """Serve HTTP in several processes behind one socket until SIGTERM or SIGINT. Return the exit code.

    `load` loads the app in each process. With a metrics port, each process has one: that port and the next ones."""
    logs.configure(settings.log_format, settings.log_level)
    listener = listen(settings.host, settings.port)
    metrics: list[socket.socket] = []
    if settings.metrics_port is not None:
        ports = metrics_ports(settings.metrics_port, count)
        metrics = [listen(settings.metrics_host, port, "RUNYARD_METRICS_PORT") for port in ports]

    def serve_child(listener: socket.socket, metrics: socket.socket | None, tell: Callable[[], None]) -> None:
        def ready(url: str, needs_key: bool) -> None:
            log.info("server.started", url=url, worker=worker, agents=sorted(app.agents))
            tell()

        try:
            app = load()
            run(
                serve(
                    settings,
                    app,
                    worker=worker,
                    keys=keys,
                    ready=ready,
                    listener=listener,
                    metrics_listener=metrics,
                )
            )
        except StartupError as error:
            print(f"runyard: {error.message}", file=sys.stderr)
            raise SystemExit(1) from None

    return Processes(listener, metrics, count, serve_child).run()


class _HiddenCuts:
    """Hides uvicorn's error lines about streams that were cut on purpose, and about requests that a shutdown cut."""

    def __enter__(self) -> None:
        from runyard.web.streaming.sse import StreamCut

        def keep(record: logging.LogRecord) -> bool:
            return not (record.exc_info and isinstance(record.exc_info[1], StreamCut | asyncio.CancelledError))

        self._keep = keep
        logging.getLogger("uvicorn.error").addFilter(keep)

    def __exit__(self, *_: object) -> None:
        logging.getLogger("uvicorn.error").removeFilter(self._keep)
