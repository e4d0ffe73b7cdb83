"""`RUNYARD_EXECUTOR` and `RUNYARD_EXECUTOR_QUEUES`: what they accept, and what they mean."""

import json
import os
import subprocess
import sys

import pytest

from runyard.app.announcing import agents_for_workers, agents_of_queue
from runyard.errors import StartupError
from runyard.settings import Settings
from runyard.store import AgentFilter


@pytest.mark.parametrize(
    ("executor", "broker"),
    [
        ("celery://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("celery+redis://:pw@broker/1", "redis://:pw@broker/1"),
        ("celery+rediss://broker/1", "rediss://broker/1"),
        ("celery+amqp://ann:pw@rabbit:5672//", "amqp://ann:pw@rabbit:5672//"),
    ],
)
def test_an_executor_names_a_broker(executor: str, broker: str) -> None:
    settings = Settings(executor=executor)
    assert settings.executor_broker == broker
    assert "pw" not in repr(settings)


@pytest.mark.parametrize("executor", ["redis://x/0", "celery", "celery://", "celery+kafka://x", "celerys://x"])
def test_another_executor_is_refused(executor: str) -> None:
    with pytest.raises(StartupError, match="executor must be celery://host:6379/0"):
        Settings(executor=executor)


@pytest.mark.parametrize("queues", ["painter", "painter=", "=gpu", "painter=g pu", "a=b,,c=d"])
def test_queues_that_cannot_be_read_are_refused(queues: str) -> None:
    with pytest.raises(StartupError, match="painter=gpu,writer=cpu"):
        Settings(executor_queues=queues)


def test_a_queue_has_its_agents_and_workers_have_the_others() -> None:
    settings = Settings(executor="celery://x/0", executor_queues="painter=gpu, video=gpu,writer=cpu")
    assert agents_of_queue(settings, "gpu") == AgentFilter(["painter", "video"])
    others = AgentFilter(["painter", "video", "writer"], are_excluded=True)
    assert agents_of_queue(settings, "runyard") == agents_for_workers(settings) == others
    assert agents_for_workers(Settings(executor_queues="painter=gpu")) is None, "without an executor, workers do it"
    assert agents_of_queue(Settings(executor="celery://x/0"), "runyard") is None


REPORT = """
import json
from runyard.doorbells.celery import TASK
from runyard.executors.celery import app
task = app.tasks[TASK]
asked = ("task_acks_late", "task_reject_on_worker_lost", "task_acks_on_failure_or_timeout", "task_ignore_result",
         "worker_prefetch_multiplier", "worker_soft_shutdown_timeout",
         "worker_cancel_long_running_tasks_on_connection_loss", "worker_send_task_events", "result_backend")
of_task = ("acks_late", "reject_on_worker_lost", "max_retries", "autoretry_for", "ignore_result")
print(json.dumps({name: app.conf[name] for name in asked} | {name: getattr(task, name, ()) for name in of_task}))
"""


def test_celery_acknowledges_late_takes_one_message_and_retries_nothing() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUNYARD_")} | {
        "RUNYARD_EXECUTOR": "celery://127.0.0.1:1/0",
        "RUNYARD_DATABASE_URL": "postgresql://127.0.0.1:1/none",
        "RUNYARD_DRAIN_SECONDS": "40",
        "RUNYARD_STOP_SECONDS": "3",
    }
    told = subprocess.run([sys.executable, "-c", REPORT], env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert found.pop("worker_soft_shutdown_timeout") > 40 + 3, "longer than a drain"
    assert found == {
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_acks_on_failure_or_timeout": True,
        "task_ignore_result": True,
        "worker_prefetch_multiplier": 1,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_send_task_events": False,
        "result_backend": None,
        "acks_late": True,
        "reject_on_worker_lost": True,
        "max_retries": 0,
        "autoretry_for": [],
        "ignore_result": True,
    }
