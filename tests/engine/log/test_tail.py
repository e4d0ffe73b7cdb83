"""The tail is bounded, answers only where it is contiguous, and is shared by followers."""

import asyncio

import pytest

from runyard.domain.events import Event, RunFinished, place
from runyard.engine.log.tail import Tail
from tests.engine.fakes import NO_LISTENER
from tests.store.factories import draft, token

SIZE = 1000


def events(first: int, count: int, run_id: str = "a", size: int = 10) -> list[Event]:
    return place(run_id, first, [token("x" * size) for _ in range(count)])


def seqs(tail: Tail, after: int, run_id: str = "a") -> list[int] | None:
    chunks = tail.read(run_id, after)
    return None if chunks is None else [event.seq for chunk in chunks for event in chunk.events]


def subscribed(tail: Tail, run_id: str) -> asyncio.Event:
    wakeup = asyncio.Event()
    tail.wakeups.subscribe(run_id, wakeup.set)
    return wakeup


def test_a_tail_answers_where_it_is_contiguous_and_returns_none_elsewhere() -> None:
    tail = Tail(NO_LISTENER)
    assert seqs(tail, 0) is None
    tail.add("a", events(5, 3))
    assert seqs(tail, 3) is None
    assert seqs(tail, 4) == [5, 6, 7]
    assert seqs(tail, 6) == [7]
    assert seqs(tail, 7) == []
    assert seqs(tail, 9) == []


def test_consecutive_events_are_added_and_a_gap_drops_the_earlier_ones() -> None:
    tail = Tail(NO_LISTENER)
    tail.add("a", events(1, 2))
    tail.add("a", events(3, 2))
    assert seqs(tail, 0) == [1, 2, 3, 4]
    assert seqs(tail, 2) == [3, 4]
    tail.add("a", events(9, 1))
    assert seqs(tail, 4) is None
    assert seqs(tail, 8) == [9]


def test_at_the_end_of_a_log_it_promises_no_more_events() -> None:
    tail = Tail(NO_LISTENER)
    tail.add("a", place("a", 1, [token("x"), draft(RunFinished("done", "end_turn"))]))
    assert seqs(tail, 0) == [1, 2]
    assert seqs(tail, 2) is None


def test_the_least_recently_written_run_goes_first() -> None:
    one = Tail(NO_LISTENER, SIZE * 1000)
    one.add("a", events(1, 1, size=SIZE))
    tail = Tail(NO_LISTENER, budget=int(3.5 * one._size))
    for run_id in ("a", "b", "c"):
        tail.add(run_id, events(1, 1, run_id, SIZE))
    tail.add("a", events(2, 1, "a", SIZE))
    assert [seqs(tail, 0, run_id) for run_id in ("a", "b", "c")] == [[1, 2], None, [1]]


@pytest.mark.parametrize("runs", [1, 2, 10])
def test_the_budget_holds_however_many_runs_share_it(runs: int) -> None:
    budget = 50_000
    tail = Tail(NO_LISTENER, budget)
    for n in range(200):
        for run in range(runs):
            tail.add(f"{run}", events(n + 1, 1, f"{run}", SIZE))
            size = sum(len(event.data) for chunks in tail._runs.values() for c in chunks for event in c.events)
            assert size <= budget
    assert tail._size <= budget
    assert seqs(tail, 199, f"{runs - 1}") == [200]


def test_dropping_a_run_frees_its_memory() -> None:
    tail = Tail(NO_LISTENER)
    for n in range(10):
        tail.add(f"{n}", events(1, 3, f"{n}"))
    for n in range(10):
        tail.forget(f"{n}")
    tail.forget("never there")
    assert (tail._size, len(tail._runs)) == (0, 0)


def test_followers_of_one_face_share_what_was_encoded() -> None:
    tail = Tail(NO_LISTENER)
    tail.add("a", events(1, 3))
    first, second = tail.read("a", 0), tail.read("a", 0)
    assert first is not None
    assert second is not None
    assert first[0] is second[0]
    first[0].frames["threads"] = b"encoded"
    assert second[0].frames == {"threads": b"encoded"}
    part = tail.read("a", 1)
    assert part is not None
    assert part[0].frames == {}


def test_a_wakeup_is_for_its_run_only_and_until_it_is_unsubscribed() -> None:
    tail = Tail(NO_LISTENER)
    here, there = subscribed(tail, "a"), subscribed(tail, "b")
    tail.add("a", events(1, 1))
    assert (here.is_set(), there.is_set()) == (True, False)
    tail.wakeups.wake_all()
    assert there.is_set()
    assert sorted(tail.wakeups.runs) == ["a", "b"]
    tail.wakeups.unsubscribe("a", here.set)
    tail.wakeups.unsubscribe("a", here.set)
    assert tail.wakeups.runs == {"b"}
    here.clear()
    tail.wakeups.wake("a")
    assert not here.is_set()


def test_a_longer_log_in_the_store_sends_followers_there_until_the_tail_has_caught_up() -> None:
    tail = Tail(NO_LISTENER)
    wakeup = subscribed(tail, "a")
    tail.add("a", events(1, 2))
    wakeup.clear()
    tail.set_stored_end("a", 2)
    assert (wakeup.is_set(), seqs(tail, 2)) == (False, [])
    tail.set_stored_end("a", 5)
    assert (wakeup.is_set(), seqs(tail, 0), seqs(tail, 2)) == (True, [1, 2], None)
    wakeup.clear()
    tail.set_stored_end("a", 5)
    assert (wakeup.is_set(), seqs(tail, 5)) == (False, None)
    tail.add("a", events(6, 1))
    assert (seqs(tail, 5), seqs(tail, 6)) == ([6], [])


def test_a_stale_run_is_dropped_and_its_followers_read_the_store() -> None:
    tail = Tail(NO_LISTENER)
    wakeup = subscribed(tail, "a")
    tail.add("a", events(1, 2))
    wakeup.clear()
    tail.mark_stale("a")
    assert (wakeup.is_set(), seqs(tail, 2)) == (True, None)
