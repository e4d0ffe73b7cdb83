"""Celery executes runs, and a message of its broker is a doorbell: lost, duplicated, late or revoked, it costs time
only.
Real workers of Celery, a real Redis, real kills; the invariant checker runs after every scenario. `RABBITMQ=1` adds a
real RabbitMQ, which must be installed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from celery import Celery

from runyard.doorbells.celery import TASK
from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow
from tests.support.servers.brokers import Broker, RabbitBroker, RedisBroker
from tests.support.servers.celery_worker import RECORDING, THREADS, CeleryWorkers, kill

WITH_RABBITMQ = pytest.mark.skipif("RABBITMQ" not in os.environ, reason="docs/scaling.md says how to run it")

SHUTS_DOWN = "Hitting Ctrl+C again will terminate all running tasks"  # Celery's words when it gets SIGQUIT


@pytest.fixture
def redis() -> Iterator[RedisBroker]:
    with RedisBroker() as server:
        yield server


@pytest.fixture(params=["redis", pytest.param("rabbitmq", marks=WITH_RABBITMQ)])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with RedisBroker() if request.param == "redis" else RabbitBroker() as server:
        yield server


@pytest.fixture
async def celery(flow: Flow, broker: Broker) -> AsyncIterator[CeleryWorkers]:
    workers = CeleryWorkers(flow, broker.url)
    yield workers
    await workers.close()


@pytest.fixture
async def celery_on_redis(flow: Flow, redis: RedisBroker) -> AsyncIterator[CeleryWorkers]:
    workers = CeleryWorkers(flow, redis.url)
    yield workers
    await workers.close()


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
    flow: Flow, celery_on_redis: CeleryWorkers, redis: RedisBroker
) -> None:
    await celery_on_redis.serve()
    await celery_on_redis.start(module=RECORDING, variables={"VISIBILITY": "1"})
    held = await flow.post(["call", "pay"], ["wait", "storm"], ["tokens", 2])
    await flow.at_gate("storm")
    ringer = Celery("ringer", broker=redis.url, set_as_current=False)
    for _ in range(30):
        ringer.send_task(TASK, queue="runyard", ignore_result=True)
    later = await flow.post(["call", "pay"], ["tokens", 2])
    [[running, _]] = flow.notes.read("tasks")

    def delivered_again() -> bool:
        """Whether Redis gave the message of the held run back, because it was not acknowledged for a second."""
        return running in redis.ids()

    await eventually("a message is delivered again", delivered_again, 60)
    revoked = redis.ids() - {running}
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


async def test_a_message_that_is_revoked_in_the_queue_is_dropped_and_another_one_starts_the_run(
    flow: Flow, celery: CeleryWorkers, broker: Broker
) -> None:
    await celery.serve()
    await celery.start(module=RECORDING)
    held = await flow.post(["wait", "end"], ["tokens", 2])
    await flow.at_gate("end")
    ringer = Celery("ringer", broker=broker.url, set_as_current=False)
    revoked = {ringer.send_task(TASK, queue="runyard", ignore_result=True).id for _ in range(20)}
    ringer.control.revoke(sorted(revoked))
    later = await flow.post(["call", "pay"])
    flow.notes.open_gate("end")
    for run_id in (held, later):
        await flow.reached(run_id, "done")
    assert flow.effects("pay") == [f"{later}:pay#1"]
    assert not revoked & {words[0] for words in flow.notes.read("tasks")}


async def test_a_broker_that_is_emptied_or_away_delays_runs(flow: Flow, celery: CeleryWorkers, broker: Broker) -> None:
    await celery.serve()
    lost = await flow.post(["tokens", 2])
    await eventually("the server rings", broker.queued)
    broker.empty()
    await celery.start(*THREADS)
    await flow.reached(lost, "done")
    # Celery 5.7 ends itself if the broker goes away between the end of a task and its acknowledgement
    await eventually("the task is acknowledged", broker.is_settled)

    broker.kill()
    meanwhile = await flow.post(["tokens", 2])
    assert await flow.status(meanwhile) == "queued"
    broker.start()
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


async def test_a_worker_that_is_told_to_quit_lets_short_runs_end_and_loses_no_other(
    flow: Flow, celery: CeleryWorkers
) -> None:
    """SIGQUIT: the soft shutdown of Celery, and then its cold one, which kills the tasks that are left."""
    await celery.serve()
    first = await celery.start("-P", "prefork", "-c", "2")
    short = await flow.post(["step", "look_up"], ["wait", "short"], ["tokens", 3])
    long = await flow.post(["step", "look_up"], ["wait", "long"], ["tokens", 3])
    for gate in ("short", "long"):
        await flow.at_gate(gate)
    first.signal(signal.SIGQUIT)
    await eventually("the worker shuts down", lambda: SHUTS_DOWN in first.log.read_text())
    flow.notes.open_gate("short")
    await flow.reached(short, "done")
    assert first.alive, "it waits for the other task"
    await first.end()
    await celery.start(*THREADS)
    flow.notes.open_gate("long")
    await flow.reached(long, "done")
    began = [words[0] for words in flow.notes.read("began")]
    assert (began.count(short), began.count(long)) == (1, 2)
    assert sorted(flow.effects("step")) == sorted([f"{short}:look_up", f"{long}:look_up"])


async def test_a_whole_worker_that_is_killed_in_the_middle_of_runs_loses_nothing(
    flow: Flow, celery: CeleryWorkers
) -> None:
    await celery.serve()
    first = await celery.start(*THREADS)
    program = (["step", "look_up"], ["call", "pay"], ["wait", "end"], ["tokens", 3])
    runs = [await flow.post(*program) for _ in range(3)]

    def standing() -> bool:
        return len([gate for gate, _ in flow.notes.read("reached") if gate == "end"]) == len(runs)

    await eventually("one process executes all runs", standing)
    await kill(first)
    flow.notes.open_gate("end")
    second = await celery.start(*THREADS)
    for run_id in runs:
        await flow.reached(run_id, "done")
        assert flow.effects("pay").count(f"{run_id}:pay#1") == 1
    assert sorted(flow.effects("step")) == sorted(f"{run_id}:look_up" for run_id in runs)
    began = [(words[0], int(words[1])) for words in flow.notes.read("began")]
    assert sorted(began) == sorted((run_id, pod.pid) for run_id in runs for pod in (first, second))


async def test_an_agent_with_a_queue_of_its_own_runs_there_only(
    flow: Flow, celery: CeleryWorkers, broker: Broker
) -> None:
    queues: dict[str, Any] = {"executor_queues": "second=gpu"}
    await celery.serve(**queues)
    await flow.start("worker", executor=celery.executor, **queues)
    await celery.start(*THREADS, **queues)
    painted = await flow.post(["tokens", 2], agent="second")
    written = await flow.post(["tokens", 2])
    await flow.reached(written, "done")
    await eventually("the server rings the other queue", lambda: broker.queued("gpu"))
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
async def test_two_celery_workers_and_two_workers_write_one_log_each(flow: Flow, celery: CeleryWorkers) -> None:
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
