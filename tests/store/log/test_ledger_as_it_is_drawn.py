"""The tables and views of the run ledger have the columns, the defaults and the cascades that S3 draws."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from runyard.domain.conversations.thread import Conversation
from runyard.domain.events import StepFinished, StepStarted, Usage
from runyard.domain.runs.ledger import LedgerRecorder
from runyard.domain.runs.run import Run, Status
from runyard.store import Store
from tests.store.channel_factories import A_PERSON, KEVIN, OSCAR, channel, declare_agents, dm, said
from tests.store.factories import ANN, Writer, a_post, a_worker, ended, ending, log, post, running, written
from tests.store.log.test_ledger import TURN, write
from tests.store.raw_sql import OpenDatabase


def parsed(value: Any) -> Any:
    """JSON of a driver that does not decode it."""
    return json.loads(value) if isinstance(value, str) else value


async def started(store: Store, place: Conversation) -> Run:
    await said(store, place)
    [claim] = await store.claim(await a_worker(store), 1, suspects=False)
    return claim.run


async def recorded(store: Store, run: Run, status: Status = Status.DONE) -> None:
    writer = Writer(run)
    recorder = LedgerRecorder(run.id, 0)
    recorder.set_prompt("You are Kevin.", "hello")
    await write(store, writer, recorder, *TURN)
    await written(store, writer.finish(status))


async def steered(database: OpenDatabase, *run_ids: str) -> None:
    """Write rows of messages that steer these runs."""
    for run_id in run_ids:
        event = f"select id, ts, data from run_events where run_id = '{run_id}' and seq = 1"
        await database.rows(
            "insert into steered_messages (message_id, run_id, seq, next_run_id, face, agent, id, ts, data,"
            f" has_client_tools, created_at) select id, '{run_id}', 1, id, 'native', 'kevin', id, ts, data, false, 1"
            f" from ({event}) e"
        )


@pytest.mark.req("S3.28", "S3.34")
async def test_a_run_names_its_channel_or_its_dm_and_its_usage_is_json(database: OpenDatabase) -> None:
    store = database.store
    await declare_agents(store)
    room, talk = await channel(store, KEVIN), await dm(store, A_PERSON, KEVIN)
    for place in (room, talk):
        await recorded(store, await started(store, place))
    rows = await database.rows("select * from agent_runs order by id")
    assert [(row["channel_id"], row["dm_conversation_id"]) for row in rows] == [
        (room.thread.id, None),
        (None, talk.thread.id),
    ]
    assert [(row["agent_id"], row["status"], row["stop_reason"]) for row in rows] == [
        ("kevin", "completed", "end_turn")
    ] * 2
    assert [parsed(row["token_usage"]) for row in rows] == [{"input_tokens": 3, "output_tokens": 4}] * 2
    assert all(row["trigger_message_id"] and row["started_at"] and row["completed_at"] for row in rows)


@pytest.mark.req("S3.28")
async def test_a_run_that_has_not_begun_is_created(database: OpenDatabase) -> None:
    store = database.store
    await declare_agents(store)
    await said(store, await channel(store, KEVIN))
    [row] = await database.rows("select status, token_usage, completed_at from agent_runs")
    assert row == {"status": "created", "token_usage": None, "completed_at": None}


@pytest.mark.req("S3.30", "S3.31")
async def test_the_usage_of_a_step_is_json_and_no_content_or_model_is_null(database: OpenDatabase) -> None:
    store = database.store
    await declare_agents(store)
    run = await started(store, await channel(store, KEVIN))
    await recorded(store, run)
    [step] = await database.rows("select model_id, token_usage from run_steps")
    assert (step["model_id"], parsed(step["token_usage"])) == ("m", {"input_tokens": 5, "output_tokens": 2})
    assert None not in await database.values("select content from run_messages")
    for table, column in (("run_steps", "model_id"), ("run_messages", "content")):
        with pytest.raises(Exception, match=r"(?i)not.null"):
            await database.rows(f"update {table} set {column} = null")


@pytest.mark.req("S3.30")
async def test_a_step_that_goes_on_after_a_crash_keeps_its_model(store: Store) -> None:
    await declare_agents(store)
    run = await started(store, await channel(store, KEVIN))
    writer = Writer(run)
    await write(store, writer, LedgerRecorder(run.id, 0), StepStarted("turn#1", "think", "m"))
    await write(store, writer, LedgerRecorder(run.id, 0), StepFinished("turn#1", "think", Usage(5, 2, 0.25)))
    assert [(step.model, step.status) for step in (await store.read_ledger(run.id)).steps] == [("m", "completed")]


@pytest.mark.req("S3.30")
@pytest.mark.parametrize("by", ["its worker", "the reaper"])
async def test_the_last_step_of_a_run_that_failed_has_failed(store: Store, by: str) -> None:
    await declare_agents(store)
    run = await started(store, await channel(store, KEVIN))
    writer, recorder = Writer(run), LedgerRecorder(run.id, 0)
    await write(store, writer, recorder, *TURN)
    await write(store, writer, recorder, StepStarted("turn#2", "think", "m"), StepFinished("turn#2", "think", Usage()))
    if by == "its worker":
        await written(store, writer.finish(Status.ERROR))
    else:
        assert run.worker_id is not None
        await store.heartbeat(run.worker_id, 0)
        await store.reap(10, 0, ending)
    assert (await store.get_run(ANN, run.id)).status is Status.ERROR
    steps = (await store.read_ledger(run.id)).steps
    assert [(step.number, step.status) for step in steps] == [(1, "completed"), (2, "failed")]


@pytest.mark.req("S3.30")
@pytest.mark.parametrize("status", [Status.DONE, Status.CANCELED])
async def test_the_finished_steps_of_a_run_that_did_not_fail_stay_completed(store: Store, status: Status) -> None:
    await declare_agents(store)
    run = await started(store, await channel(store, KEVIN))
    await recorded(store, run, status)
    assert [step.status for step in (await store.read_ledger(run.id)).steps] == ["completed"]


@pytest.mark.req("S3.33", "S3.28")
async def test_deleting_the_row_of_an_agent_takes_its_runs_and_their_ledger(database: OpenDatabase) -> None:
    store = database.store
    await declare_agents(store)
    room, other = await channel(store, KEVIN), await channel(store, OSCAR)
    done = await started(store, room)
    await recorded(store, done)
    parent = await started(store, room)  # still at work
    child = await running(store, replace(a_post(agent="oscar"), parent_run_id=parent.id))
    kept = await started(store, other)
    own = await ended(store, replace(a_post(agent="kevin"), parent_run_id=kept.id))
    await recorded(store, kept)
    grandchild = await post(store, replace(a_post(agent="oscar"), parent_run_id=child.id))
    await steered(database, parent.id, grandchild)
    await said(store, room)  # still in the queue
    assert len(await database.rows("select id from runs")) == 7
    await database.rows("delete from agents where id = 'kevin'")
    # A child of another agent's run stays, although this agent ran it.
    assert await database.values("select id from runs order by id") == [kept.id, own.id]
    assert await database.values("select distinct run_id from run_steps") == [kept.id]
    assert await database.values("select distinct run_id from run_messages") == [kept.id]
    for table in ("run_outbox", "run_events"):
        assert await database.values(f"select distinct run_id from {table} order by run_id") == [kept.id, own.id]
    for table in ("waits", "steered_messages"):
        assert await database.values(f"select run_id from {table}") == []
    assert await log(store, done.id) == []
    assert await database.values("select key from lanes order by key") == sorted([kept.lane_key, own.lane_key])
    assert await store.claim(await a_worker(store), 10, suspects=False) == []
    assert len(await store.recent_messages(room.thread.id, None, 10)) == 3, "what people said stays"
