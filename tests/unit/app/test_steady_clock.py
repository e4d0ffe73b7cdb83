"""The clock of a process on Postgres follows the database's time when the machine's clock jumps; the clock of leases
counts suspended time."""

import time

import pytest

from runyard.base.clock import SteadyClock, SystemClock, since_boot

DAYS_MS = 60 * 24 * 3600 * 1000


def test_a_jump_of_the_machines_clock_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, before = SteadyClock(), SystemClock().now_ms()
    monkeypatch.setattr(SystemClock, "now_ms", lambda _: before + DAYS_MS)
    assert before - 1 <= clock.now_ms() < before + DAYS_MS / 2


def test_a_reading_of_the_database_counts() -> None:
    clock = SteadyClock()
    reading = clock.now_ms() - DAYS_MS
    clock.set(reading)
    assert reading <= clock.now_ms() < reading + DAYS_MS / 2


def test_a_reading_that_is_a_little_late_does_not_set_the_clock_back() -> None:
    clock = SteadyClock()
    before = clock.now_ms()
    clock.set(before - 50)
    assert clock.now_ms() >= before


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="this system has no clock that counts suspended time")
def test_the_time_since_boot_counts_while_the_machine_is_suspended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The monotonic clock of Linux stands still meanwhile."""
    clocks = {time.CLOCK_BOOTTIME: 3600.0, time.CLOCK_MONOTONIC: 60.0}
    monkeypatch.setattr(time, "clock_gettime", clocks.__getitem__)
    monkeypatch.setattr(time, "monotonic", lambda: clocks[time.CLOCK_MONOTONIC])
    assert since_boot() == 3600
