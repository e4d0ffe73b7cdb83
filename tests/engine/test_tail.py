"""The recent end of logs: bounded, contiguous or silent, shared."""

import pytest

from runyard.domain.events import Event, RunFinished, place
from runyard.engine.log.tail import Tail
from tests.engine.fakes import NO_LISTENER
from tests.store.making import draft, token

SIZE = 1000


def events(first: int, count: int, run_id: str = "a", size: int = 10) -> list[Event]:
    return place(run_id, first, [token("x" * size) for _ in range(count)])


def seqs(tail: Tail, after: int, run_id: str = "a") -> list[int] | None:
    chunks = tail.read(run_id, after)
    return None if chunks is None else [event.seq for chunk in chunks for event in chunk.events]


def test_it_answers_where_it_is_contiguous_and_says_so_where_it_cannot_know() -> None:
    tail = Tail(NO_LISTENER)
    assert seqs(tail, 0) is None
    tail.add("a", events(5, 3))
    assert seqs(tail, 3) is None
    assert seqs(tail, 4) == [5, 6, 7]
    assert seqs(tail, 6) == [7]
    assert seqs(tail, 7) == []
    assert seqs(tail, 9) == []


def test_what_follows_is_added_and_a_gap_starts_anew() -> None:
    tail = Tail(NO_LISTENER)
    tail.add("a", events(1, 2))
    tail.add("a", events(3, 2))
    assert seqs(tail, 0) == [1, 2, 3, 4]
    assert seqs(tail, 2) == [3, 4]
    tail.add("a", events(9, 1))
    assert seqs(tail, 4) is None
    assert seqs(tail, 8) == [9]


def test_at_the_end_of_a_log_it_does_not_pretend_that_more_may_come() -> None:
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
            held = sum(len(event.data) for chunks in tail._runs.values() for c in chunks for event in c.events)
            assert held <= budget
    assert tail._size <= budget
    assert seqs(tail, 199, f"{runs - 1}") == [200]


def test_forgetting_gives_the_room_back() -> None:
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


def test_a_bell_rings_for_its_run_only_until_it_is_hung_up() -> None:
    tail = Tail(NO_LISTENER)
    here, there = tail.wakeups.subscribe("a"), tail.wakeups.subscribe("b")
    tail.add("a", events(1, 1))
    assert (here.is_set(), there.is_set()) == (True, False)
    tail.wakeups.wake_all()
    assert there.is_set()
    assert sorted(tail.wakeups.runs) == ["a", "b"]
    tail.wakeups.unsubscribe("a", here)
    tail.wakeups.unsubscribe("a", here)
    assert tail.wakeups.runs == {"b"}
    here.clear()
    tail.wakeups.wake("a")
    assert not here.is_set()


def test_news_of_a_longer_log_sends_followers_to_the_store_until_the_tail_has_caught_up() -> None:
    tail = Tail(NO_LISTENER)
    bell = tail.wakeups.subscribe("a")
    tail.add("a", events(1, 2))
    bell.clear()
    tail.set_stored_end("a", 2)
    assert (bell.is_set(), seqs(tail, 2)) == (False, [])
    tail.set_stored_end("a", 5)
    assert (bell.is_set(), seqs(tail, 0), seqs(tail, 2)) == (True, [1, 2], None)
    bell.clear()
    tail.set_stored_end("a", 5)
    assert (bell.is_set(), seqs(tail, 5)) == (False, None)
    tail.add("a", events(6, 1))
    assert (seqs(tail, 5), seqs(tail, 6)) == ([6], [])


def test_what_is_stale_is_forgotten_and_its_followers_look_in_the_store() -> None:
    tail = Tail(NO_LISTENER)
    bell = tail.wakeups.subscribe("a")
    tail.add("a", events(1, 2))
    bell.clear()
    tail.mark_stale("a")
    assert (bell.is_set(), seqs(tail, 2)) == (True, None)
