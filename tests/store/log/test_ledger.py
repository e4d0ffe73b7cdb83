"""The run ledger: steps and messages are committed with their events, and are found by agent."""

import asyncio
import sqlite3
from pathlib import Path

import asyncpg
import pytest

from runyard.domain.events import ModelMessage, Payload, StepFinished, StepStarted, ToolFinished, ToolStarted, Usage
from runyard.domain.runs.append import Appended, Outcome
from runyard.domain.runs.ledger import Ledger, LedgerRecorder
from runyard.domain.runs.run import Run, Status
from runyard.errors import Fenced
from runyard.store import Store
from runyard.stores.queries import load
from tests.store.channel_factories import KEVIN, channel, declare_agents, said
from tests.store.factories import ANN, BOB, Writer, a_post, a_worker, draft, written

DAY_MS = 86_400_000
TURN = (
    StepStarted("turn#1", "think", "m"),
    ModelMessage("turn#1", {"role": "assistant", "content": "hm"}, Usage(5, 2, 0.25)),
    StepFinished("turn#1", "think", Usage(5, 2, 0.25)),
    ToolStarted("c1", "send_message", {"text": "hi"}),
    ToolFinished("c1", "send_message", {"messageId": "m1"}),
)


async def claimed(store: Store, owner: str = ANN) -> Run:
    """A run in Kevin's mailbox, at work."""
    await declare_agents(store)
    await said(store, await channel(store, KEVIN, owner=owner), caller=owner)
    [claim] = await store.claim(await a_worker(store), 1, suspects=False)
    return claim.run


def noted(recorder: LedgerRecorder, *payloads: Payload, now: int) -> Ledger:
    """As the journal notes it: a step stands in a part once, as it is in the end."""
    entries = [found for payload in payloads if (found := recorder.entries(payload, now)) is not None]
    steps = {step.id: step for each in entries for step in each.steps}
    return Ledger(list(steps.values()), [m for each in entries for m in each.messages])


async def write(
    store: Store, writer: Writer, recorder: LedgerRecorder, *payloads: Payload, now: int = DAY_MS
) -> Outcome:
    part = writer.part(*map(draft, payloads), ledger=noted(recorder, *payloads, now=now))
    return (await store.append([part]))[0]


@pytest.mark.req("S3.30", "S3.31", "S3.32", "S3.34")
async def test_a_turn_is_a_step_with_its_messages_in_order(store: Store) -> None:
    run = await claimed(store)
    recorder = LedgerRecorder(run.id, 0)
    recorder.set_prompt("You are Kevin.", "hello")
    assert isinstance(await write(store, Writer(run), recorder, *TURN), Appended)
    ledger = await store.read_ledger(run.id)
    [step] = ledger.steps
    assert (step.number, step.status, step.model, step.usage) == (1, "completed", "m", Usage(5, 2, 0.25))
    assert [(m.type, m.content, m.tool, m.input) for m in ledger.messages] == [
        ("system_message", "You are Kevin.", None, None),
        ("user_message", "hello", None, None),
        ("assistant_message", "hm", None, None),
        ("tool_call_message", "", "send_message", '{"text":"hi"}'),
        ("tool_return_message", '{"messageId":"m1"}', "send_message", None),
    ]
    assert {m.step_id for m in ledger.messages} == {step.id}


@pytest.mark.req("S3.30")
async def test_refused_writes_are_not_on_record_and_repeated_ones_are_there_once(store: Store) -> None:
    run = await claimed(store)
    recorder, writer = LedgerRecorder(run.id, 0), Writer(run)
    part = writer.part(*[draft(payload) for payload in TURN], ledger=noted(recorder, *TURN, now=DAY_MS))
    for _ in range(2):  # the answer of the first commit was lost
        await store.append([part])
    old = Writer(run)
    old.run = Run(**{**{name: getattr(run, name) for name in run.__struct_fields__}, "fence": run.fence - 1})
    assert isinstance(await write(store, old, LedgerRecorder(run.id, 1), *TURN), Fenced)
    ledger = await store.read_ledger(run.id)
    assert (len(ledger.steps), len(ledger.messages)) == (1, 3)


@pytest.mark.req("S3.30", "S3.21")
@pytest.mark.parametrize("status", [Status.DONE, Status.ERROR, Status.CANCELED])
async def test_a_step_that_has_not_ended_when_its_run_does_has_failed(store: Store, status: Status) -> None:
    run = await claimed(store)
    writer = Writer(run)
    await write(store, writer, LedgerRecorder(run.id, 0), TURN[0])
    assert (await store.read_ledger(run.id)).steps[0].status == "running"
    await written(store, writer.finish(status))
    assert [step.status for step in (await store.read_ledger(run.id)).steps] == ["failed"]


@pytest.mark.req("S3.33")
async def test_a_ledger_goes_with_its_run(store: Store) -> None:
    run = await claimed(store)
    writer = Writer(run)
    await write(store, writer, LedgerRecorder(run.id, 0), *TURN)
    await written(store, writer.finish())
    assert run.thread_id is not None
    await store.delete_thread(ANN, run.thread_id)
    kept = await store.read_ledger(run.id)
    assert (list(kept.steps), list(kept.messages)) == ([], [])


@pytest.mark.req("S3.34")
async def test_usage_is_added_up_by_day_and_owner(store: Store) -> None:
    for owner, days in ((ANN, (1, 1, 3)), (BOB, (1,))):
        for day in days:
            run = await claimed(store, owner)
            writer = Writer(run)
            await write(store, writer, LedgerRecorder(run.id, 0), *TURN, now=day * DAY_MS)
            await written(store, writer.finish())
    found = [(d.day, d.runs, d.steps, d.usage) for d in await store.usage_by_day(ANN, "kevin", 9)]
    assert found == [(3, 1, 1, Usage(5, 2, 0.25)), (1, 2, 2, Usage(10, 4, 0.5))]
    assert [d.day for d in await store.usage_by_day(ANN, "kevin", 1)] == [3]
    assert await store.usage_by_day(ANN, "oscar", 9) == []


@pytest.mark.req("S3.29")
async def test_an_owners_runs_in_a_mailbox_are_listed_newest_first(store: Store) -> None:
    await declare_agents(store)
    mine, others = await channel(store, KEVIN), await channel(store, KEVIN, owner=BOB)
    runs = [(await said(store, mine)).started[0].run_id for _ in range(3)]
    await said(store, others, caller=BOB)
    await store.accept([a_post(agent="kevin")])  # in a separate thread, not in the mailbox
    page = await store.mailbox_runs(ANN, "kevin", None, 2)
    assert [run.id for run in page] == [runs[2], runs[1]]
    assert [run.id for run in await store.mailbox_runs(ANN, "kevin", page[-1].id, 2)] == [runs[0]]
    assert await store.mailbox_runs(ANN, "oscar", None, 2) == []


INDEXES = {"runs_agent_status": "(agent, status)", "runs_status_age": "(status, created_at)"}


@pytest.mark.req("S3.29")
def test_sqlite_finds_runs_by_agent_and_status(sqlite_path: Path) -> None:
    database = sqlite3.connect(sqlite_path)
    found = dict(database.execute("select name, sql from sqlite_master where type = 'index' and name like 'runs_%'"))
    assert all(columns in found[name] for name, columns in INDEXES.items())
    asked = f"explain query plan {load('sqlite').list_mailbox_runs}"
    plan = " ".join(str(row) for row in database.execute(asked, ("ann", "kevin", None, 50)))
    database.close()
    assert "runs_of_agent" in plan
    assert "TEMP B-TREE" not in plan, "no sort"


@pytest.mark.req("S3.29")
@pytest.mark.postgres
def test_postgres_finds_runs_by_agent_and_status(postgres_dsn: str) -> None:
    async def look() -> tuple[dict[str, str], str]:
        connection = await asyncpg.connect(postgres_dsn)
        rows = await connection.fetch("select indexname, indexdef from pg_indexes where tablename = 'runs'")
        await connection.execute(
            "insert into runs (id, owner, face, lane_key, pos, agent, status, created_at)"
            " select gen_random_uuid(), 'ann', 'channels', 'run:' || n, n, 'a' || n % 100, 'done', n"
            " from generate_series(1, 20000) n; analyze runs"
        )
        await connection.execute("set plan_cache_mode = force_generic_plan")
        await connection.execute(f"prepare listing as {load('postgres').list_mailbox_runs}")
        plan = await connection.fetch("explain execute listing('ann', 'kevin', null, 50)")
        await connection.close()
        return {row["indexname"]: row["indexdef"] for row in rows}, " ".join(row[0] for row in plan)

    found, plan = asyncio.run(look())
    assert all(columns in found[name] for name, columns in INDEXES.items())
    assert "runs_of_agent" in plan
    assert "Sort" not in plan
