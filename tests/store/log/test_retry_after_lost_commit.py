"""After a lost answer to a commit the same parts are sent again, and committed parts are not written twice."""

import pytest

from runyard.domain.events import StepFinished
from runyard.domain.runs.append import Appended, Release, Repeated
from runyard.domain.runs.run import Status
from runyard.errors import Fenced
from runyard.store import Store
from tests.store.factories import (
    ANN,
    MANY,
    MINUTE,
    Writer,
    a_post,
    a_thread,
    an_approval,
    append,
    approval_request,
    claimed,
    claims,
    decide,
    draft,
    ending,
    log,
    lose,
    post,
    running,
    token,
    written,
)

pytestmark = pytest.mark.invariant(5)


async def test_a_part_sent_again_is_recognised_and_not_written(store: Store) -> None:
    run = await running(store)
    part = Writer(run).part(token("a"), token("b"))
    assert await append(store, part) == Appended(2, 3)
    assert await append(store, part) == Repeated(3)
    assert await log(store, run.id) == ["run.queued", "model.token", "model.token"]


async def test_an_older_part_is_recognised_too(store: Store) -> None:
    writer = Writer(await running(store))
    old = writer.part(token("a"))
    await written(store, old)
    await written(store, writer.part(token("b")))
    assert await append(store, old) == Repeated(3)
    assert await append(store, writer.part(token("c"))) == Appended(4, 4)


async def test_of_a_group_only_what_was_not_committed_is_written(store: Store) -> None:
    await post(store)
    await post(store)
    one, two = map(Writer, await claims(store))
    first, second = one.part(token("a")), two.part(token("b"))
    await written(store, first)
    assert await store.append([first, second]) == [Repeated(2), Appended(2, 2)]


@pytest.mark.invariant(3)
@pytest.mark.req("S4.23")
async def test_a_finish_sent_again_is_recognised_and_ends_nothing_twice(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    run = await running(store, a_post(thread))
    part = Writer(run).finish(answer="hello")
    await written(store, part)
    ended = await store.get_run(ANN, run.id)
    follower = await post(store, a_post(thread))
    assert await append(store, part) == Repeated(3)
    assert await store.get_run(ANN, run.id) == ended
    assert await log(store, run.id) == ["run.queued", "run.output", "run.finished"]
    assert [m.role for m in await store.list_messages(thread.id)] == ["user", "assistant", "user"]
    assert (await claimed(store)).id == follower


async def test_a_finish_sent_again_does_not_free_the_lane_of_the_next_run(store: Store) -> None:
    writer = Writer(await running(store, a_post(lane="agent:a")))
    part = writer.finish()
    await written(store, part)
    await running(store, a_post(lane="agent:a"))
    await post(store, a_post(lane="agent:a"))
    assert await append(store, part) == Repeated(3)
    assert await claims(store) == []


async def test_a_park_sent_again_changes_nothing(store: Store) -> None:
    run = await running(store)
    approval = an_approval(run)
    part = Writer(run).park(approval)
    await written(store, part)
    parked = await store.get_run(ANN, run.id)
    assert isinstance(await append(store, part), Fenced | Repeated)
    assert await store.get_run(ANN, run.id) == parked
    assert len(await log(store, run.id)) == 3
    await decide(store, approval)
    assert isinstance(await append(store, part), Fenced | Repeated)
    assert (await claimed(store)).id == run.id


async def test_a_release_sent_again_changes_nothing(store: Store) -> None:
    run = await running(store)
    part = Writer(run).part(token("a"), move=Release())
    await written(store, part)
    released = await store.get_run(ANN, run.id)
    assert isinstance(await append(store, part), Fenced | Repeated)
    assert await store.get_run(ANN, run.id) == released
    successor = await claimed(store)
    assert isinstance(await append(store, part), Fenced | Repeated)
    assert await store.get_run(ANN, run.id) == successor


async def test_approvals_sent_again_are_asked_once(store: Store) -> None:
    run = await running(store)
    approval = an_approval(run)
    part = Writer(run).part(approval_request(approval), waits=[approval])
    await written(store, part)
    await decide(store, approval)
    assert await append(store, part) == Repeated(3)
    assert (await store.get_wait(ANN, approval.id)).state == "approved"


async def test_progress_sent_again_does_not_count_again(store: Store) -> None:
    writer = Writer(await running(store))
    part = writer.part(draft(StepFinished("s#1", "look up")))
    await written(store, part)
    await lose(store, writer.run)
    again = await claimed(store)
    assert again.attempts == 1
    assert isinstance(await append(store, part), Fenced)
    assert (await store.get_run(ANN, again.id)).attempts == 1


async def test_a_refused_part_keeps_its_number(store: Store) -> None:
    """The number counts what was committed: a refused part may be replaced by another one with the same number."""
    writer = Writer(await running(store))
    refused = writer.part(token("a"), expected_seq=9)
    await append(store, refused)
    assert await append(store, writer.part(token("b"), batch=refused.batch)) == Appended(2, 2)


async def test_numbers_begin_again_with_each_claim(store: Store) -> None:
    writer = Writer(await running(store))
    await written(store, writer.part(token("a")))
    await written(store, writer.part(token("b"), move=Release()))
    assert await append(store, Writer(await claimed(store)).part(token("c"), batch=1)) == Appended(4, 4)


async def test_a_repeat_still_tells_of_a_cancel(store: Store) -> None:
    run = await running(store)
    part = Writer(run).part(token("a"))
    await written(store, part)
    await store.cancel(ANN, run.id, MINUTE, ending)
    assert await append(store, part) == Repeated(2, cancel_requested=True)


async def test_a_part_that_lost_the_race_with_the_reaper_is_not_taken_for_written(store: Store) -> None:
    """The first commit never happened: the retry must report that the run is deleted."""
    writer = Writer(await running(store))
    unsent = writer.part(token("a"))
    await lose(store, writer.run, max_attempts=1)
    assert isinstance(await append(store, unsent), Fenced)
    assert (await store.get_run(ANN, writer.run.id)).status is Status.ERROR
    assert [e.type for e in await store.read(writer.run.id, 0, MANY)] == ["run.queued", "run.error", "run.finished"]
