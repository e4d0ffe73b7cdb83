"""Celery executes runs, and a message of its broker is a doorbell: lost, doubled, late or revoked, it costs time only.
Real workers of Celery, a real Redis, real kills; the invariant checker runs after every scenario."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from celery import Celery
from redis import Redis

from runyard.doorbells.celery import TASK
from tests.support.celery_worker import RECORDING, THREADS, CeleryWorkers, kill
from tests.support.eventually import eventually
from tests.support.flow import Flow
from tests.support.redis_server import PrivateRedis


@pytest.fixture
def redis() -> Iterator[PrivateRedis]:
    with PrivateRedis() as server:
        yield server


@pytest.fixture
async def celery(flow: Flow, redis: PrivateRedis) -> AsyncIterator[CeleryWorkers]:
    workers = CeleryWorkers(flow, redis.url)
    yield workers
    await workers.close()


def _doorbells(redis: PrivateRedis, queue: str = "runyard") -> list[dict[str, Any]]:
    client = Redis.from_url(redis.url)
    with client:
        return [json.loads(message) for message in client.lrange(queue, 0, -1)]


def _ids(redis: PrivateRedis) -> set[str]:
    """The ids of the messages in the queue."""
    return {message["headers"]["id"] for message in _doorbells(redis)}


async def test_a_killed_child_loses_nothing_and_a_parked_run_resumes_on_another_host(
    flow: Flow, celery: CeleryWorkers
) -> None:
    await celery.serve()
    first = await celery.start()
    run_id = await flow.post(
        ["step", "look_up"], ["wait", "end"], ["call", "pay"], ["approve", "May I?"], ["tokens", 3]
    )
    reader = flow.follow(run_id)
    child = await flow.at_gate("end")
    os.kill(child, signal.SIGKILL)
    flow.notes.open_gate("end")
    approval = await flow.approval(run_id, "confirmation")
    assert flow.effects("step") == [f"{run_id}:look_up"], "a finished step is not repeated"
    assert not await flow.database.rows("select id from runs where status = 'running'"), "its slot is free"
    other = await flow.post(["tokens", 1])
    await flow.reached(other, "done")

    await kill(first)
    await celery.start(*THREADS)
    assert (await flow.decide(approval, "approve")).status_code == 200
    await reader.end()
    assert (await flow.run(run_id))["status"] == "done"
    assert flow.effects("pay") == [f"{run_id}:pay#1"]
    began = {int(words[1]) for words in flow.notes.read("began") if words[0] == run_id}
    assert len(began) == 3, "three processes worked on one log"


async def test_a_storm_of_doubled_and_revoked_messages_costs_time_only(
    flow: Flow, celery: CeleryWorkers, redis: PrivateRedis
) -> None:
    await celery.serve()
    await celery.start(module=RECORDING, variables={"VISIBILITY": "1"})
    held = await flow.post(["call", "pay"], ["wait", "storm"], ["tokens", 2])
    await flow.at_gate("storm")
    ringer = Celery("ringer", broker=redis.url, set_as_current=False)
    for _ in range(30):
        ringer.send_task(TASK, queue="runyard", ignore_result=True)
    later = await flow.post(["call", "pay"], ["tokens", 2])
    [[running, _]] = flow.notes.read("tasks")

    def delivered_again() -> bool:
        """Whether Redis gave the message of the held run back, because it was not acknowledged for a second."""
        return running in _ids(redis)

    await eventually("a message is delivered again", delivered_again, 60)
    revoked = _ids(redis) - {running}
    assert len(revoked) >= 30, "one child is busy, so messages stay in the queue"
    ringer.control.revoke(sorted(revoked))
    flow.notes.open_gate("storm")
    for run_id in (held, later):
        await flow.reached(run_id, "done")
        assert flow.effects("pay").count(f"{run_id}:pay#1") == 1

    def executed() -> list[str]:
        return [words[0] for words in flow.notes.read("tasks")]

    await eventually("the doubled message is executed", lambda: executed().count(running) >= 2)
    assert not revoked & set(executed()), "a revoked message is dropped; another one made the run start"


async def test_a_broker_that_is_emptied_or_away_delays_runs(
    flow: Flow, celery: CeleryWorkers, redis: PrivateRedis
) -> None:
    await celery.serve()
    lost = await flow.post(["tokens", 2])
    await eventually("the server rings", lambda: _doorbells(redis))
    with Redis.from_url(redis.url) as client:
        client.flushall()
    await celery.start(*THREADS)
    await flow.reached(lost, "done")
    with Redis.from_url(redis.url) as client:
        # Celery 5.7 ends itself if the broker goes away between the end of a task and its acknowledgement
        await eventually("the task is acknowledged", lambda: not client.exists("unacked"))

    redis.kill()
    meanwhile = await flow.post(["tokens", 2])
    assert await flow.status(meanwhile) == "queued"
    redis.start()
    await flow.reached(meanwhile, "done")


async def test_a_stopped_worker_hands_its_run_over_within_the_drain_time(flow: Flow, celery: CeleryWorkers) -> None:
    await celery.serve()
    first = await celery.start()
    run_id = await flow.post(["step", "look_up"], ["wait", "end"], ["tokens", 3])
    await flow.at_gate("end")
    first.terminate()
    assert await first.end() == 0
    row = await flow.run(run_id)
    assert (row["status"], row["attempts"]) == ("queued", 0), "handed back, not lost: no lease had to expire"
    flow.notes.open_gate("end")
    await celery.start(*THREADS)
    await flow.reached(run_id, "done")
    assert flow.effects("step") == [f"{run_id}:look_up"]


async def test_an_agent_with_a_queue_of_its_own_runs_there_only(
    flow: Flow, celery: CeleryWorkers, redis: PrivateRedis
) -> None:
    queues: dict[str, Any] = {"executor_queues": "second=gpu"}
    await celery.serve(**queues)
    await flow.start("worker", executor=celery.executor, **queues)
    await celery.start(*THREADS, **queues)
    painted = await flow.post(["tokens", 2], agent="second")
    written = await flow.post(["tokens", 2])
    await flow.reached(written, "done")
    await eventually("the server rings the other queue", lambda: _doorbells(redis, "gpu"))
    assert await flow.status(painted) == "queued"
    gpu = await celery.start(*THREADS, "-Q", "gpu", **queues)
    await flow.reached(painted, "done")
    assert gpu.alive


async def test_cancel_is_a_row_and_stops_a_run_on_celery(flow: Flow, celery: CeleryWorkers) -> None:
    await celery.serve()
    await celery.start(*THREADS)
    run_id = await flow.post(["tokens", 2], ["wait", "never"])
    await flow.at_gate("never")
    assert await flow.cancel(run_id) == "canceled"


@pytest.mark.req("S0.38")
async def test_two_celery_workers_and_two_of_ours_write_one_log_each(flow: Flow, celery: CeleryWorkers) -> None:
    await celery.serve()
    prefork, _ = await asyncio.gather(celery.start("-P", "prefork", "-c", "2"), celery.start(*THREADS))
    for _ in range(2):
        await flow.start("worker", slots=2, executor=celery.executor)
    program = (["wait", "go"], ["tokens", 6, 10], ["call", "pay"], ["step", "s"])
    runs = [await flow.post(*program) for _ in range(24)]

    def of_celery() -> int | None:
        """A child of the first worker that executes a run."""
        pids = [int(pid) for gate, pid in flow.notes.read("reached") if gate == "go"]
        return next((pid for pid in pids if os.getpgid(pid) == prefork.pid), None)

    os.kill(await eventually("a child executes a run", of_celery), signal.SIGKILL)
    flow.notes.open_gate("go")
    for run_id in runs:
        await flow.reached(run_id, "done")
    assert sorted(flow.effects("pay")) == sorted(f"{run_id}:pay#1" for run_id in runs)


@pytest.mark.skipif("RABBITMQ" not in os.environ, reason="docs/scaling.md says how to run it with RabbitMQ")
async def test_rabbitmq_delivers_doorbells_and_a_killed_child_loses_nothing(flow: Flow) -> None:
    workers = CeleryWorkers(flow, os.environ["RABBITMQ"])
    try:
        await workers.serve()
        await workers.start()
        run_id = await flow.post(["step", "look_up"], ["wait", "end"], ["call", "pay"], ["tokens", 3])
        os.kill(await flow.at_gate("end"), signal.SIGKILL)
        flow.notes.open_gate("end")
        await flow.reached(run_id, "done")
        assert flow.effects("pay") == [f"{run_id}:pay#1"]
    finally:
        await workers.close()
