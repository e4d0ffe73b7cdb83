"""The clock of a process on Postgres: it follows the database's time when the machine's clock jumps."""

import pytest

from runyard.base.clock import SteadyClock, SystemClock

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
