"""A process that hears no other one sends no hints, and sends them again as soon as one comes."""

from __future__ import annotations

from runyard.base.ids import new_id
from runyard.buses.bus import Hint
from runyard.buses.reconnecting import MISSED, PRESENCE_SECONDS
from tests.engine.bus.brokers import Broker, Remote
from tests.engine.bus.bus_processes import eavesdropping, processes, until

QUICK = 0.05  # seconds between two announcements, so that a process is soon known to be alone


async def test_a_process_that_was_just_started_expects_others(remote: Remote) -> None:
    async with processes(remote.bus()) as (one,):
        assert one.bus.has_others


async def test_a_process_that_hears_no_other_one_sends_no_hints(remote: Remote) -> None:
    async with processes(remote.bus(presence=QUICK)) as (one,), eavesdropping(remote.bus()) as (messages, _):
        await until(lambda: not one.bus.has_others)
        one.bus.send([Hint("log", new_id(), 1)])
        await one.bus.close()  # sends what is pending
        assert messages == []


async def test_a_process_that_was_alone_sends_hints_to_a_new_one(broker: Broker) -> None:
    hint = Hint("log", new_id(), 1)
    async with processes(broker.bus(presence=QUICK)) as (one,):
        await until(lambda: not one.bus.has_others)
        async with processes(broker.bus()) as (other,):

            def is_received() -> bool:
                one.bus.send([hint])
                return hint in other.heard

            await until(is_received)


async def test_a_process_is_alone_again_after_the_others_have_ended(broker: Broker) -> None:
    async with processes(broker.bus(presence=QUICK)) as (one,):
        async with processes(broker.bus()):
            await until(lambda: one.bus.has_others)
        await until(lambda: not one.bus.has_others)


async def test_a_process_announces_itself_several_times_before_it_counts_as_gone(broker: Broker) -> None:
    announced: list[str] = []
    async with eavesdropping(broker.bus(), announced), processes(broker.bus(presence=QUICK)):
        await until(lambda: len(announced) > MISSED)
    assert len(set(announced)) == 1
    assert MISSED >= 3
    assert PRESENCE_SECONDS * MISSED < 10


async def test_a_process_without_a_connection_expects_others(remote: Remote) -> None:
    async with processes(remote.bus(presence=QUICK)) as (one,):
        await until(lambda: not one.bus.has_others)
        remote.stop()
        await until(lambda: not one.bus.is_connected)
        assert one.bus.has_others
        remote.start()
