"""`RUNYARD_EXECUTOR` and `RUNYARD_EXECUTOR_QUEUES`: what they accept, and what they mean."""

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
