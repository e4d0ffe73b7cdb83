"""Two stores give the same results and end in the same state, for any sequence of operations."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.store.agreement.agreement_on_intake import IntakeRules
from tests.store.agreement.agreement_on_work import WorkRules
from tests.store.agreement.store_pairs import OnPostgres, OnSqlite, Setting
from tests.store.conftest import postgres_store

# Time enough to make a failing example small.
pytestmark = pytest.mark.timeout(600)


def _explore(setting: Setting, examples: int, steps: int) -> None:
    class Here(IntakeRules, WorkRules):
        def __init__(self) -> None:
            super().__init__(setting)

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.invariant(1, 3)
@pytest.mark.req("S0.11", "S0.12", "S4.8", "S4.10", "S4.23")
def test_memory_and_sqlite_agree(empty_sqlite: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    with asyncio.Runner() as runner:
        _explore(OnSqlite(runner, empty_sqlite, tmp_path / "examples"), examples=50, steps=40)


@pytest.mark.invariant(1, 3)
@pytest.mark.req("S0.11", "S0.12", "S4.8", "S4.10", "S4.23")
@pytest.mark.postgres
def test_memory_and_postgres_agree(postgres_dsn: str) -> None:
    with asyncio.Runner() as runner:
        store = postgres_store(postgres_dsn)
        runner.run(store.open())
        try:
            _explore(OnPostgres(runner, postgres_dsn, store), examples=25, steps=30)
        finally:
            runner.run(store.close())
