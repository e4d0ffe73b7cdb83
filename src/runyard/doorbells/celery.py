"""Rings Celery: tops up its queues to the number of ready runs.

Celery sends with blocking calls, so they happen in a thread. A daemon thread: a broker that does not answer never keeps
a process from ending. While the thread is busy, newer counts replace older ones.
"""

import queue
import threading
from collections.abc import Mapping
from typing import Any

from celery import Celery

from runyard.telemetry.logger import get_logger

log = get_logger()

TASK = "runyard.work_once"
BROKER_SECONDS = 5.0
LAST_SECONDS = 2.0  # for messages that were not sent when the process ends
ONE_RETRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}  # for a stale connection


def configured(broker: str) -> Any:
    """Return a Celery app for both sides of the broker: the sender and the worker."""
    app = Celery("runyard", broker=broker, set_as_current=False)
    app.conf.update(
        broker_connection_timeout=BROKER_SECONDS,
        broker_connection_retry_on_startup=True,
        task_create_missing_queues=True,
        task_ignore_result=True,
        task_default_queue="runyard",
    )
    if broker.startswith("redis"):
        app.conf.broker_transport_options = {
            "socket_timeout": BROKER_SECONDS,
            "socket_connect_timeout": BROKER_SECONDS,
        }
    return app


class CeleryDoorbell:
    def __init__(self, broker: str) -> None:
        self._app = configured(broker)
        self._counts: queue.SimpleQueue[Mapping[str, int] | None] = queue.SimpleQueue()
        self._is_failing = False
        self._thread = threading.Thread(target=self._send_all, name="doorbell", daemon=True)
        self._thread.start()

    def ring(self, ready: Mapping[str, int]) -> None:
        self._counts.put(ready)

    def close(self) -> None:
        self._counts.put(None)
        self._thread.join(LAST_SECONDS)

    # --- in the thread

    def _send_all(self) -> None:
        counts = self._counts.get()
        while counts is not None:
            ready, is_last = counts, False
            while not self._counts.empty() and not is_last:
                newer = self._counts.get()
                ready, is_last = (ready, True) if newer is None else (newer, False)
            self._send(ready)
            counts = None if is_last else self._counts.get()

    def _send(self, ready: Mapping[str, int]) -> None:
        try:
            for name, count in ready.items():
                for _ in range(count - self._depth(name)):
                    self._app.send_task(TASK, queue=name, retry=True, retry_policy=ONE_RETRY)
        except Exception as error:  # drivers of brokers raise errors of many libraries
            if not self._is_failing:
                log.warning("executor.notify_failed", error=type(error).__name__)
            self._is_failing = True
        else:
            self._is_failing = False

    def _depth(self, name: str) -> int:
        """Return how many messages a queue holds. A queue that does not exist yet holds none."""
        with self._app.connection_for_write() as connection:
            connection.ensure_connection(**ONE_RETRY, timeout=BROKER_SECONDS)
            try:
                return int(connection.default_channel.queue_declare(name, passive=True).message_count)
            except connection.channel_errors:
                return 0
