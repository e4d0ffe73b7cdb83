"""The log of a run: seq 1, 2, 3 ... without gap, append-only, refused part by part, closed by one terminal event."""

import pytest
from anyio import create_task_group

from runyard.base.ids import new_id
from runyard.domain.events import Event, StepFinished, Trace
from runyard.domain.runs.append import Appended
from runyard.domain.runs.run import Status
from runyard.errors import Fenced, NonMonotonicSeq
from runyard.store import Head, Store
from tests.store.factories import (
    ANN,
    MANY,
    Writer,
    a_post,
    an_approval,
    append,
    approval_request,
    claims,
    decide,
    draft,
    log,
    post,
    running,
    token,
    written,
)


@pytest.mark.invariant(1)
@pytest.mark.req("S0.11", "S4.10")
async def test_drafts_get_the_next_seqs_without_gap(store: Store) -> None:
    run = await running(store)
    writer = Writer(run)
    assert await append(store, writer.part(token("a"), token("b"))) == Appended(2, 3)
    assert await append(store, writer.part(token("c"))) == Appended(4, 4)
    assert [event.seq for event in await store.read(run.id, 0, MANY)] == [1, 2, 3, 4]
    assert (await store.get_run(ANN, run.id)).last_seq == 4


@pytest.mark.req("S0.12")
async def test_an_event_is_kept_exactly_as_it_was_drafted_and_never_changes(store: Store) -> None:
    run = await running(store)
    writer = Writer(run)
    drafts = [draft(Trace("tool.check")), token("naïve \u2603 \U0001f600"), draft(StepFinished("s#1", "look up"))]
    await written(store, writer.part(*drafts))
    events = await store.read(run.id, 1, MANY)
    assert events == [
        Event(run.id, seq, d.id, d.ts, d.type, d.data, d.name, d.fn, d.source) for seq, d in enumerate(drafts, 2)
    ]
    assert [type(event.data) for event in events] == [bytes] * 3
    await written(store, writer.part(token("more")))
    await written(store, writer.finish())
    assert (await store.read(run.id, 1, 3)) == events


async def test_reading_resumes_after_any_seq(store: Store) -> None:
    run = await running(store)
    await written(store, Writer(run).part(*(token(f"{n}") for n in range(5))))
    whole = list(await store.read(run.id, 0, MANY))
    for after in range(7):
        assert await store.read(run.id, after, MANY) == whole[after:]
        assert await store.read(run.id, after, 2) == whole[after : after + 2]


async def test_reading_an_unknown_run_finds_nothing(store: Store) -> None:
    assert await store.read(new_id(), 0, MANY) == []


@pytest.mark.req("S0.12")
async def test_a_part_without_drafts_leaves_the_log_as_it_is(store: Store) -> None:
    run = await running(store)
    writer = Writer(run)
    assert await append(store, writer.part()) == Appended(2, 1)
    assert await append(store, writer.part(token("a"))) == Appended(2, 2)


@pytest.mark.req("S4.8")
async def test_an_expected_seq_that_is_not_the_next_one_fails_and_changes_nothing(store: Store) -> None:
    run = await running(store)
    writer = Writer(run)
    for wrong in (0, 1, 3):
        outcome = await append(store, writer.part(token("no"), batch=1, expected_seq=wrong))
        assert isinstance(outcome, NonMonotonicSeq)
    assert await log(store, run.id) == ["run.queued"]
    assert await append(store, writer.part(token("yes"), batch=1, expected_seq=2)) == Appended(2, 2)


@pytest.mark.invariant(1)
@pytest.mark.req("S4.9", "S0.11")
async def test_two_writers_of_one_seq_cannot_both_succeed(store: Store) -> None:
    run = await running(store)
    outcomes = []

    async def write(text: str) -> None:
        outcomes.append(await append(store, Writer(run).part(token(text), expected_seq=2)))

    async with create_task_group() as tasks:
        for n in range(5):
            tasks.start_soon(write, f"{n}")
    assert [outcome for outcome in outcomes if isinstance(outcome, Appended)] == [Appended(2, 2)]
    assert [event.seq for event in await store.read(run.id, 0, MANY)] == [1, 2]


@pytest.mark.invariant(1)
@pytest.mark.req("S4.34", "S4.7")
async def test_one_commit_writes_parts_of_several_runs_each_to_its_own_log(store: Store) -> None:
    for _ in range(3):
        await post(store)
    runs = await claims(store)
    parts = [Writer(run).part(*(token(f"{n}") for n in range(n + 1))) for n, run in enumerate(runs)]
    assert await store.append(parts) == [Appended(2, 2), Appended(2, 3), Appended(2, 4)]
    for n, run in enumerate(runs):
        assert [event.seq for event in await store.read(run.id, 0, MANY)] == list(range(1, n + 3))
        assert {event.run_id for event in await store.read(run.id, 0, MANY)} == {run.id}


@pytest.mark.invariant(5)
async def test_a_part_is_refused_alone(store: Store) -> None:
    for _ in range(4):
        await post(store)
    one, two, three, four = map(Writer, await claims(store))
    outcomes = await store.append(
        [
            one.part(token("a")),
            two.part(token("b"), fence=two.run.fence - 1),
            three.part(token("c"), expected_seq=9),
            four.finish(),
            Writer(one.run).part(token("d"), run_id=new_id()),
        ]
    )
    assert [type(outcome) for outcome in outcomes] == [Appended, Fenced, NonMonotonicSeq, Appended, Fenced]
    assert await log(store, one.run.id) == ["run.queued", "model.token"]
    assert await log(store, two.run.id) == ["run.queued"]
    assert await log(store, three.run.id) == ["run.queued"]
    assert await log(store, four.run.id) == ["run.queued", "run.output", "run.finished"]


async def test_an_empty_append_is_nothing(store: Store) -> None:
    assert await store.append([]) == []


@pytest.mark.invariant(3)
@pytest.mark.req("S4.23", "S0.8")
@pytest.mark.parametrize("status", [Status.DONE, Status.ERROR, Status.CANCELED])
async def test_nothing_follows_the_terminal_event(store: Store, status: Status) -> None:
    run = await running(store)
    writer = Writer(run)
    await written(store, writer.finish(status))
    ended = await store.get_run(ANN, run.id)
    whole = await log(store, run.id)
    assert whole[-1] == "run.finished"
    assert isinstance(await append(store, writer.part(token("late"))), Fenced)
    assert isinstance(await append(store, writer.finish(Status.DONE)), Fenced)
    assert await log(store, run.id) == whole
    assert await store.get_run(ANN, run.id) == ended


@pytest.mark.invariant(1)
@pytest.mark.req("S4.10")
async def test_a_log_with_several_writers_stays_contiguous(store: Store) -> None:
    """A worker and people's decisions write to one log at the same time."""
    run = await running(store)
    writer = Writer(run)
    approvals = [an_approval(run) for _ in range(6)]
    await written(store, writer.part(*map(approval_request, approvals), waits=approvals))

    async def work() -> None:
        for _ in range(6):
            await written(store, writer.part(token("a"), token("b")))

    async with create_task_group() as tasks:
        tasks.start_soon(work)
        for approval in approvals:
            tasks.start_soon(decide, store, approval)
    events = await store.read(run.id, 0, MANY)
    assert [event.seq for event in events] == list(range(1, 1 + 1 + 6 + 6 + 12))
    assert sum(event.type == "approval.decided" for event in events) == 6
    assert sum(event.type == "model.token" for event in events) == 12


async def test_heads_tell_how_far_logs_go_and_leave_out_what_is_unknown(store: Store) -> None:
    run = await running(store)
    await written(store, Writer(run).finish())
    other = await post(store, a_post())
    assert await store.heads([run.id, other, new_id()]) == {run.id: Head(3, True, 0), other: Head(1, False, 0)}
    assert await store.heads([]) == {}


@pytest.mark.invariant(3)
@pytest.mark.req("S0.8", "S0.29")
async def test_a_finish_and_its_events_are_one_commit(store: Store) -> None:
    run = await running(store)
    await written(store, Writer(run).finish())
    ended = await store.get_run(ANN, run.id)
    assert (ended.status, ended.stop_reason, ended.worker_id) == (Status.DONE, "end_turn", None)
    assert ended.usage is not None
    assert (ended.usage.input_tokens, ended.usage.output_tokens, ended.usage.usd) == (3, 4, 0.5)
    assert ended.finished_at is not None
    assert await log(store, run.id) == ["run.queued", "run.output", "run.finished"]
