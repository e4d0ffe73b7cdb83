"""Hints of one process reach all others, never the sender, and only valid hints are received."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog.testing

from runyard.base.ids import new_id
from runyard.buses.bus import Hint
from runyard.buses.reconnecting import WINDOW_SECONDS
from tests.engine.bus.brokers import Broker, Remote
from tests.engine.bus.bus_processes import eavesdropping, processes, until

JUNK = [
    "",
    " ",
    "hello",
    "runyard1",
    "runyard1 ",
    "runyard1 sender",
    "runyard1 sender  ",
    "runyard1 sender x1 l:: l:x lä:1 c:-1 \n l1:1\n",
    "runyard2 sender l1:1",
    "RUNYARD1 sender l1:1",
    "runyard1 sender l1:" + "9" * 5_000,
    "l" * 7_000,
    '{"kind": "log"}',
    "ünï\ufffd",
]


async def test_all_other_processes_receive_a_hint(broker: Broker) -> None:
    sent = [Hint("log", new_id(), 7), Hint("work"), Hint("cancel", new_id())]
    async with processes(broker.bus(), broker.bus(), broker.bus()) as (one, *others):
        one.bus.send(sent)
        for other in others:
            for hint in sent:
                await other.has_heard(hint)


async def test_a_process_does_not_receive_its_own_hints(broker: Broker) -> None:
    question, answer = Hint("log", new_id(), 1), Hint("log", new_id(), 2)
    async with processes(broker.bus(), broker.bus()) as (one, other):
        one.bus.send([question])
        await other.has_heard(question)
        other.bus.send([answer])
        await one.has_heard(answer)
        assert one.heard == [answer]
        assert other.heard == [question]


async def test_alone_on_a_bus_one_may_still_talk(broker: Broker) -> None:
    async with processes(broker.bus()) as (one,):
        assert one.bus.is_connected
        one.bus.send([Hint("work")])
        one.bus.send([])


async def test_a_burst_becomes_a_handful_of_messages_with_every_largest_seq(broker: Broker) -> None:
    runs = [new_id() for _ in range(50)]
    async with processes(broker.bus(), broker.bus()) as (one, other), eavesdropping(broker.bus()) as (messages, _):
        begun = asyncio.get_running_loop().time()
        for seq in range(1, 21):
            for run in runs:
                one.bus.send([Hint("log", run, seq)])
            await asyncio.sleep(0)
        for run in runs:
            await other.has_heard(Hint("log", run, 20))
        await until(lambda: bool(messages))
        windows = (asyncio.get_running_loop().time() - begun) / WINDOW_SECONDS + 2
        assert len(messages) <= windows
        assert len(messages) < 20


async def test_a_smaller_seq_that_comes_late_does_not_hide_a_larger_one(broker: Broker) -> None:
    run = new_id()
    async with processes(broker.bus(), broker.bus()) as (one, other):
        one.bus.send([Hint("log", run, 9)])
        one.bus.send([Hint("log", run, 3)])
        await other.has_heard(Hint("log", run, 9))


async def test_more_runs_than_fit_one_message_all_arrive(broker: Broker) -> None:
    sent = [Hint("log", new_id(), number) for number in range(1, 1_001)]
    async with processes(broker.bus(), broker.bus()) as (one, other), eavesdropping(broker.bus()) as (messages, _):
        one.bus.send(sent)
        await until(lambda: len(other.heard) == len(sent))
        assert sorted(other.heard, key=lambda hint: hint.seq) == sent
        await until(lambda: sum(message.count(" l") for message in messages) == len(sent))
        assert max(len(message.encode()) for message in messages) < 7_900


async def test_unreadable_messages_are_ignored(broker: Broker) -> None:
    last = Hint("log", new_id(), 5)
    async with (
        processes(broker.bus(), broker.bus()) as (one, other),
        eavesdropping(broker.bus()) as (messages, publish),
    ):
        for junk in JUNK:
            await publish([junk])  # type: ignore[misc]
        await until(lambda: len(messages) == len(JUNK))
        one.bus.send([last])
        await other.has_heard(last)
        assert other.heard == [last]
        assert other.bus.is_connected


async def test_a_listener_that_raises_hears_the_next_hint_too(broker: Broker) -> None:
    first, second = Hint("log", new_id(), 1), Hint("log", new_id(), 2)
    heard: list[Hint] = []

    def stumble(hints: Sequence[Hint]) -> None:
        heard.extend(hints)
        raise RuntimeError("with a secret in it")

    clumsy = broker.bus()
    with structlog.testing.capture_logs() as logs:
        async with processes(broker.bus()) as (one,):
            await clumsy.open(stumble)
            one.bus.send([first])
            await until(lambda: first in heard)
            one.bus.send([second])
            await until(lambda: second in heard)
            await clumsy.close()
    assert {line["error"] for line in logs if line["event"] == "bus.handler_failed"} == {"RuntimeError"}
    assert "secret" not in str(logs)


async def test_hints_sent_just_before_closing_are_received(broker: Broker) -> None:
    last = Hint("work")
    async with processes(broker.bus(), broker.bus()) as (one, other):
        one.bus.send([Hint("log", new_id(), 1)])
        await asyncio.sleep(0)
        one.bus.send([last])
        await one.bus.close()
        await other.has_heard(last)


async def test_nothing_is_heard_after_closing(broker: Broker) -> None:
    async with processes(broker.bus(), broker.bus(), broker.bus()) as (one, other, gone):
        await gone.bus.close()
        assert not gone.bus.is_connected
        one.bus.send([Hint("work")])
        await other.has_heard(Hint("work"))
        gone.bus.send([Hint("cancel", "x")])
        assert gone.heard == []


async def test_two_runyards_on_one_server_do_not_wake_each_other(remote: Remote) -> None:
    mine, theirs = Hint("log", new_id(), 1), Hint("log", new_id(), 2)
    buses = [remote.bus(), remote.bus(), remote.bus(remote.apart), remote.bus(remote.apart)]
    async with processes(*buses) as (one, other, stranger, their_friend):
        stranger.bus.send([theirs])
        await their_friend.has_heard(theirs)
        one.bus.send([mine])
        await other.has_heard(mine)
        assert (other.heard, their_friend.heard) == ([mine], [theirs])
