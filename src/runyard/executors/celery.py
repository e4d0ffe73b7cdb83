"""Celery executes runs: `celery -A runyard.executors.celery worker`.

A task is a message without content. It calls `work_once` for the agents of its queue, so a lost, duplicated or late
task costs time only. Celery never retries: Runyard counts attempts, and its lease and fence decide who may write. A
task is acknowledged when its run has ended, waits or is back in the queue; if the worker dies first, the broker
delivers it again, and the reaper gives the run to another worker.

On SIGTERM the worker takes no more tasks. Runs have `RUNYARD_DRAIN_SECONDS` to end; then they go back into the queue.
With prefork, the main process passes this on to its children by SIGURG, which a process without a handler ignores.
"""

import functools
import os
import signal
from contextlib import suppress
from typing import Any

from billiard import active_children
from celery import signals

from runyard.agents.declared.loading import App
from runyard.app.announcing import agents_of_queue
from runyard.app.factories import load_app
from runyard.app.on_demand import borrowed_host, close_hosts, open_hosts
from runyard.doorbells import DEFAULT_QUEUE
from runyard.doorbells.celery import TASK, configured
from runyard.errors import StartupError, Unavailable
from runyard.settings import Settings
from runyard.telemetry import logs
from runyard.telemetry.logger import get_logger

log = get_logger()

MARGIN_SECONDS = 5.0  # for the last writes of a drain
DRAIN_SIGNAL = signal.SIGURG

settings = Settings().with_defaults(log_format="json")
if settings.executor is None:
    raise StartupError("Set RUNYARD_EXECUTOR to the broker, for example celery://127.0.0.1:6379/0.")
if settings.sqlite_path is not None:
    raise StartupError("SQLite has one process: `runyard serve`. Use Postgres to execute runs with Celery.")

app = configured(settings.executor_broker)
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_acks_on_failure_or_timeout=True,
    worker_prefetch_multiplier=1,
    worker_soft_shutdown_timeout=settings.drain_seconds + settings.stop_seconds + MARGIN_SECONDS,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    worker_send_task_events=False,
)


@functools.cache
def declared() -> App:
    """Return the app, loaded once: with prefork in the main process, so that the children share its memory."""
    return load_app(settings)


def work_once(task: Any) -> None:
    """Execute one run of the agents of the queue that the message came from."""
    queue = (task.request.delivery_info or {}).get("routing_key") or DEFAULT_QUEUE
    try:
        with borrowed_host(declared(), settings) as host:
            host.work(settings.executor_max_seconds, agents_of_queue(settings, queue))
    except Unavailable as error:  # a poll sends another message
        log.warning("executor.claim_failed", code=error.code)


app.task(name=TASK, bind=True, max_retries=0, ignore_result=True)(work_once)


def _configure_logs(**_: Any) -> None:
    logs.configure(settings.log_format, settings.log_level)
    logs.catch_tracebacks()


def _load(**_: Any) -> None:
    declared()


def _tell_started(sender: Any, **_: Any) -> None:
    pool = str(sender.pool.__class__.__module__).rpartition(".")[2]
    queues = sorted(app.amqp.queues.consume_from)
    log.info("executor.started", pool=pool, queues=queues, agents=sorted(declared().agents))


def _drain(**_: Any) -> None:
    """Begin to drain, in this process and in the children of a prefork pool."""
    for host in open_hosts():
        host.start_drain()
    for child in active_children():
        with suppress(ProcessLookupError):
            os.kill(child.pid, DRAIN_SIGNAL)


def _begin_child(**_: Any) -> None:
    signal.signal(DRAIN_SIGNAL, lambda *_: [host.start_drain() for host in open_hosts()])


def _end_child(**_: Any) -> None:
    close_hosts()


signals.setup_logging.connect(_configure_logs)
signals.worker_init.connect(_load)
signals.worker_ready.connect(_tell_started)
signals.worker_shutting_down.connect(_drain)
signals.worker_process_init.connect(_begin_child)
signals.worker_process_shutdown.connect(_end_child)
