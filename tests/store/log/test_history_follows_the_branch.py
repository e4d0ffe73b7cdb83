"""The history of a run: the questions and answers of its own branch, and nothing that came later."""

from itertools import zip_longest

import pytest

from runyard.base.ids import new_id
from runyard.domain.conversations.thread import Thread
from runyard.domain.runs.run import Status
from runyard.store import Store
from runyard.stores.postgres.store import PostgresStore
from tests.store.factories import ANN, Writer, a_post, a_thread, claimed, clock, ended, post, running, waiting, written


async def talk(store: Store, thread: Thread, text: str) -> str:
    run = await running(store, a_post(thread, f"{text}?"))
    await written(store, Writer(run).finish(answer=f"{text}!"))
    return run.id


async def texts(store: Store, run_id: str, limit: int = 10) -> list[str]:
    return [message.text for message in await store.history(run_id, limit)]


async def test_the_first_run_has_no_history(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    assert await texts(store, await post(store, a_post(thread))) == []


async def test_history_is_questions_and_answers_oldest_first(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    await talk(store, thread, "one")
    await talk(store, thread, "two")
    run_id = await post(store, a_post(thread, "three?"))
    assert await texts(store, run_id) == ["one?", "one!", "two?", "two!"]
    assert [message.role for message in await store.history(run_id, 10)] == ["user", "assistant"] * 2


async def test_history_is_limited_to_the_last_ancestors(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    for text in ("one", "two", "three"):
        await talk(store, thread, text)
    run_id = await post(store, a_post(thread))
    assert await texts(store, run_id, 2) == ["two?", "two!", "three?", "three!"]
    assert await texts(store, run_id, 1) == ["three?", "three!"]
    assert await texts(store, run_id, 0) == []


async def test_queued_messages_are_not_history_yet(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    await talk(store, thread, "one")
    second = await post(store, a_post(thread, "two?"))
    await post(store, a_post(thread, "three?"))
    assert await texts(store, second) == ["one?", "one!"]


async def test_a_queued_run_will_see_the_answer_of_the_one_before_it(store: Store) -> None:
    """Both questions were asked before the first answer: it stands between them all the same."""
    thread = await store.create_thread(a_thread())
    first = await running(store, a_post(thread, "one?"))
    second = await post(store, a_post(thread, "two?"))
    await written(store, Writer(first).finish(answer="one!"))
    third = await post(store, a_post(thread, "three?"))
    await written(store, Writer(await claimed(store)).finish(answer="two!"))
    assert await texts(store, second) == ["one?", "one!"]
    assert await texts(store, third) == ["one?", "one!", "two?", "two!"]


async def test_a_run_without_an_answer_leaves_only_its_question(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    await ended(store, a_post(thread, "one?"), Status.ERROR)
    assert await texts(store, await post(store, a_post(thread))) == ["one?"]


async def test_a_retry_starts_from_where_the_first_try_did(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    await talk(store, thread, "one")
    failed = await ended(store, a_post(thread, "two?"), Status.ERROR)
    again = a_post()
    await store.retry(ANN, again, failed.id)
    assert await texts(store, again.run_id) == ["one?", "one!"]
    run = await claimed(store)
    await written(store, Writer(run).finish(answer="two!"))
    third = await post(store, a_post(thread, "three?"))
    assert await texts(store, third) == ["one?", "one!", "two?", "two!"]


async def test_threads_do_not_share_history(store: Store) -> None:
    one, two = await store.create_thread(a_thread()), await store.create_thread(a_thread())
    await talk(store, one, "one")
    assert await texts(store, await post(store, a_post(two))) == []


async def test_a_run_that_waits_aside_is_history_by_its_question(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    await waiting(store, a_post(thread, "one?"), hold=False)
    second = await running(store, a_post(thread, "two?"))
    assert await texts(store, second.id) == ["one?"]


async def test_a_run_without_a_thread_and_an_unknown_run_have_no_history(store: Store) -> None:
    assert await texts(store, await post(store, a_post())) == []
    assert await texts(store, new_id()) == []


async def test_ancestors_are_the_runs_of_the_branch_newest_first(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    runs = [await talk(store, thread, text) for text in ("one", "two", "three")]
    last = await post(store, a_post(thread))
    assert [run.id for run in await store.ancestors(last, 10)] == runs[::-1]
    assert [run.id for run in await store.ancestors(last, 2)] == runs[:0:-1]
    assert await store.ancestors(last, 2) == [await store.get_run(ANN, run_id) for run_id in runs[:0:-1]]
    assert await store.ancestors(last, 0) == await store.ancestors(runs[0], 10) == []
    assert await store.ancestors(new_id(), 10) == []


async def test_several_logs_are_read_at_once_each_as_it_is_alone(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    runs = [await talk(store, thread, text) for text in ("one", "two")]
    logs = await store.read_logs([*runs, new_id()], 3)
    assert logs == {run_id: (await store.read(run_id, 0, 10))[:3] for run_id in runs}
    assert [len(log) for log in logs.values()] == [3, 3]
    assert await store.read_logs([], 3) == {}


@pytest.mark.postgres
@pytest.mark.parametrize("analyzed", [False, True])
async def test_postgres_finds_each_ancestor_by_its_id(postgres_dsn: str, analyzed: bool) -> None:
    """Also if it plans the statement while the table is empty, as a new server does, and after autovacuum saw it."""
    store = PostgresStore(postgres_dsn, clock)
    await store.open()
    if analyzed:
        await store._read(lambda tx: tx.rows("analyze runs"))
    plan = await store._read(lambda tx: tx.rows(f"explain {tx.q.ancestors}", new_id(), 20))
    await store.close()
    lines = [row["QUERY PLAN"].strip() for row in plan]
    # A scan without a condition is followed by a line of another kind, or by none.
    conditions = [after for line, after in zip_longest(lines, lines[1:], fillvalue="") if " on runs " in line]
    # Not the name of the index, nor whether it is read through a bitmap: in an empty table that was analyzed, another
    # index that has the id costs the same.
    by_id = [each.startswith(("Index Cond: (id = ", "Recheck Cond: (id = ")) for each in conditions]
    assert by_id == [True] * 4, "\n".join(lines)
