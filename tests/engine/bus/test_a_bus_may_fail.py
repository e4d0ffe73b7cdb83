"""A broker that dies, hangs or never existed costs only latency."""

from __future__ import annotations

import asyncio
import logging

import pytest
import structlog.testing

from runyard.base.ids import new_id
from runyard.buses.bus import Hint
from runyard.buses.nats import NatsBus
from runyard.buses.postgres import PostgresBus
from runyard.buses.reconnecting import MAX_PENDING, ReconnectingBus
from runyard.buses.redis import RedisBus
from tests.engine.bus.brokers import Remote
from tests.engine.bus.bus_processes import processes, until
from tests.support.faults.proxy import Proxy
from tests.support.servers.postgres_server import free_port

SLACK = 5  # for a machine that is busy with other tests


def pending(bus: ReconnectingBus) -> int:
    return len(bus._pending)


async def test_after_a_crash_of_the_broker_all_hear_again_without_help(remote: Remote) -> None:
    async with processes(remote.bus(), remote.bus()) as (one, other):
        remote.stop()
        await until(lambda: not one.bus.is_connected and not other.bus.is_connected)
        remote.start()
        await one.gets_through_to(other)
        await other.gets_through_to(one)


async def test_without_its_broker_hints_are_dropped_and_nothing_grows(remote: Remote) -> None:
    stale = [Hint("log", new_id(), seq) for seq in range(1, 1_001)]
    async with processes(remote.bus(), remote.bus()) as (one, other):
        remote.stop()
        await until(lambda: not one.bus.is_connected and not other.bus.is_connected)
        one.bus.send(stale)
        assert pending(one.bus) == 0
        remote.start()
        await one.gets_through_to(other)
        assert not set(other.heard) & set(stale)


async def test_a_listener_that_was_cut_off_hears_again(remote: Remote) -> None:
    async with processes(remote.bus(), remote.bus()) as (one, other):
        await remote.cut_listeners()
        await one.gets_through_to(other)
        await other.gets_through_to(one)


async def test_a_bus_that_loses_its_connection_reconnects(remote: Remote) -> None:
    async with Proxy(remote.url) as proxy, processes(remote.bus(proxy.url), remote.bus()) as (one, other):
        for _ in range(3):
            await one.gets_through_to(other)
            await other.gets_through_to(one)
            proxy.cut()


async def test_a_broker_that_hangs_is_noticed_without_anything_being_sent(remote: Remote) -> None:
    async with Proxy(remote.url) as proxy, processes(remote.bus(proxy.url), remote.bus()) as (one, other):
        proxy.hang()
        await until(lambda: not one.bus.is_connected)
        proxy.go_on()
        await one.gets_through_to(other)
        await other.gets_through_to(one)


async def test_sending_to_a_broker_that_hangs_does_not_wait_and_stays_small(remote: Remote) -> None:
    async with Proxy(remote.url) as proxy, processes(remote.bus(proxy.url), remote.bus()) as (one, other):
        proxy.hang()
        one.bus.send([Hint("work")])
        await asyncio.sleep(0)
        for number in range(3 * MAX_PENDING):
            one.bus.send([Hint("log", f"run-{number}", 1)])
        assert pending(one.bus) == MAX_PENDING
        await until(lambda: not one.bus.is_connected)
        assert pending(one.bus) == 0
        proxy.go_on()
        await one.gets_through_to(other)


async def test_opening_without_a_broker_is_bounded_and_made_up_for_later(remote: Remote) -> None:
    remote.stop()
    now = asyncio.get_running_loop().time
    begun = now()
    async with processes(remote.bus()) as (one,):
        assert now() - begun < 2 + SLACK
        assert not one.bus.is_connected
        one.bus.send([Hint("work")])
        remote.start()
        async with processes(remote.bus()) as (other,):
            await one.gets_through_to(other)
            await other.gets_through_to(one)


async def test_closing_is_quick_while_the_broker_does_not_answer(remote: Remote) -> None:
    now = asyncio.get_running_loop().time
    async with processes(remote.bus()) as (one,):
        remote.stop()
        await until(lambda: not one.bus.is_connected)
        begun = now()
        await one.bus.close()
        assert now() - begun < 1 + SLACK
    remote.start()


async def test_closing_is_quick_while_the_broker_hangs(remote: Remote) -> None:
    now = asyncio.get_running_loop().time
    async with Proxy(remote.url) as proxy, processes(remote.bus(proxy.url)) as (one,):
        proxy.hang()
        one.bus.send([Hint("work")])
        await asyncio.sleep(0)
        begun = now()
        await one.bus.close()
        assert now() - begun < 2 + SLACK


async def test_a_bus_that_was_never_opened_can_be_closed(remote: Remote) -> None:
    bus = remote.bus()
    bus.send([Hint("work")])
    await bus.close()


@pytest.mark.parametrize(
    "bus",
    [
        PostgresBus(f"postgresql://me:hunter2@127.0.0.1:{free_port()}/x", patience=0.5),
        RedisBus(f"redis://me:hunter2@127.0.0.1:{free_port()}/0", patience=0.5),
        NatsBus(f"nats://me:hunter2@127.0.0.1:{free_port()}", patience=0.5),
    ],
    ids=lambda bus: bus.name,
)
async def test_an_unreachable_broker_is_logged_once_and_without_the_password(
    bus: ReconnectingBus, caplog: pytest.LogCaptureFixture
) -> None:
    with structlog.testing.capture_logs() as logs, caplog.at_level(logging.DEBUG):
        async with processes(bus):
            pass
    assert [line["event"] for line in logs] == ["bus.disconnected"]
    assert "hunter2" not in str(logs) + caplog.text + repr(bus)
