"""Events that are pushed to a client at once, and those that the follower returns, are together the log."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runyard.domain.events import TERMINAL
from runyard.engine.log import wakeups as wakeups_module
from runyard.engine.log.stream import Follower, Pause
from runyard.engine.log.tail import Chunk
from runyard.engine.log.wakeups import Wakeups
from tests.engine.fakes import until
from tests.engine.log.test_stream import Log

OPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["here", "elsewhere"]), st.integers(1, 4)),
        st.tuples(st.sampled_from(["forget", "watch", "take", "decline", "yield"]), st.just(0)),
    ),
    max_size=40,
)


class Client:
    """Reads a log to its end as a stream does. It takes pushed events while `takes` is true."""

    def __init__(self, follower: Follower) -> None:
        self.takes: bool = True
        self.pushed: list[int] = []
        self.seen: list[int] = []
        self.idle = 0
        self._follower = follower
        follower.push_to(self._push)

    def _push(self, chunks: Sequence[Chunk]) -> bool | None:
        if not self.takes:
            return None
        seqs = [event.seq for chunk in chunks for event in chunk.events]
        assert TERMINAL not in [event.type for chunk in chunks for event in chunk.events]
        self.pushed += seqs
        self.seen += seqs
        return True

    async def read(self, patience: float = 0.05) -> None:
        while (found := await self._follower.next(patience)) is not Pause.END:
            if isinstance(found, list):
                self.seen += [event.seq for chunk in found for event in chunk.events]
            self.idle += found is Pause.IDLE


@pytest.mark.invariant(7)
@settings(max_examples=60, deadline=None)
@given(ops=OPS, cursor=st.integers(0, 6), budget=st.sampled_from([0, 1500, 10**6]))
def test_pushed_and_returned_events_have_no_gap_and_no_repetition(
    ops: list[tuple[str, int]], cursor: int, budget: int
) -> None:
    async def play() -> None:
        log = Log(budget)
        await log.start([cursor])
        client = Client(log.followers[0])
        reading = asyncio.create_task(client.read())
        for op, count in ops:
            match op:
                case "here" | "elsewhere":
                    await log.write(count, here=op == "here")
                case "forget":
                    log.tail.forget(log.run.id)
                case "watch":
                    head = (await log.store.heads([log.run.id]))[log.run.id]
                    log.tail.set_stored_end(log.run.id, head.last_seq)
                case "take" | "decline":
                    client.takes = op == "take"
                case _:
                    await asyncio.sleep(0)
        await log.write(0, here=True, end=True)
        await reading
        last = (await log.store.heads([log.run.id]))[log.run.id].last_seq
        assert client.seen == list(range(min(cursor, last) + 1, last + 1))

    asyncio.run(play())


async def test_a_follower_that_waits_gets_its_events_pushed() -> None:
    log = Log(10**6)
    await log.start([0])
    client = Client(log.followers[0])
    reading = asyncio.create_task(client.read(20))
    while not client.pushed:  # the first events may come before the follower waits
        await log.write(1, here=True)
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    known = len(client.pushed)
    await log.write(3, here=True)
    assert client.pushed[known:] == client.seen[-3:]
    assert len(client.pushed) == known + 3
    await log.write(0, here=True, end=True)
    await reading


async def test_a_push_that_fails_ends_its_stream_and_not_the_commit() -> None:
    def fail(chunks: Sequence[Chunk]) -> bool | None:
        raise ValueError("an encoder failed")

    log = Log(10**6)
    await log.start([1, 1])
    log.followers[0].push_to(fail)
    other = Client(log.followers[1])
    waiting = asyncio.create_task(log.followers[0].next(20))
    reading = asyncio.create_task(other.read(20))
    for _ in range(50):  # rounds of the event loop in which both find the end of the log, and wait
        await asyncio.sleep(0)
    await log.write(1, here=True)
    with pytest.raises(ValueError, match="an encoder failed"):
        await waiting
    await log.write(0, here=True, end=True)
    await reading
    assert other.seen == list(range(2, other.seen[-1] + 1))


async def test_an_interrupted_wait_returns_no_chunks() -> None:
    log = Log(10**6)
    await log.start([1])
    waiting = asyncio.create_task(log.followers[0].next(20))
    await asyncio.sleep(0)
    log.followers[0].interrupt()
    assert await waiting == []


async def test_a_crowd_is_woken_in_several_rounds_of_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakeups_module, "AT_ONCE", 4)
    wakeups, woken = Wakeups(lambda _: None), set[int]()
    for number in range(10):
        wakeups.subscribe("a", lambda number=number: woken.add(number))  # type: ignore[misc]
    wakeups.wake("a")
    assert len(woken) == 4
    await until(lambda: len(woken) == 10)


async def test_a_crowd_gets_every_event_before_anyone_gets_the_end_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a response costs more than an event, so the first clients would delay the events of the last ones."""
    monkeypatch.setattr(wakeups_module, "AT_ONCE", 2)
    log = Log(10**6)
    await log.start([1] * 9)
    clients = [Client(follower) for follower in log.followers]
    reading = [asyncio.create_task(client.read(20)) for client in clients]
    for _ in range(50):  # rounds of the event loop in which all find the end of the log, and wait
        await asyncio.sleep(0)
    await log.write(1, here=True)
    await log.write(0, here=True, end=True)
    end = (await log.store.heads([log.run.id]))[log.run.id].last_seq
    while not all(client.pushed for client in clients):
        assert not any(end in client.seen for client in clients)
        await asyncio.sleep(0)
    assert [client.pushed for client in clients] == [[2]] * 9
    await asyncio.gather(*reading)
    assert [client.seen for client in clients] == [list(range(2, end + 1))] * 9


async def test_news_during_the_rounds_of_a_crowd_wake_it_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakeups_module, "AT_ONCE", 4)
    wakeups, woken = Wakeups(lambda _: None), list[int]()
    for number in range(10):
        wakeups.subscribe("a", lambda number=number: woken.append(number))  # type: ignore[misc]
    wakeups.wake("a")
    wakeups.wake("a")
    wakeups.wake("a")
    await until(lambda: len(woken) == 20)
    assert woken == [*range(10), *range(10)]


def test_a_follower_that_asks_for_it_is_woken_again_after_the_others() -> None:
    wakeups, woken = Wakeups(lambda _: None), list[str]()

    def wake() -> bool:
        woken.append("first")
        return len(woken) == 1

    wakeups.subscribe("a", wake)
    wakeups.subscribe("a", lambda: woken.append("second"))
    wakeups.wake("a")
    assert woken == ["first", "second", "first"]
