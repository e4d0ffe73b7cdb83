"""The private Postgres has the guarantees that other tests need."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from tests.support.eventually import PATIENCE
from tests.support.servers.postgres_server import (
    PostgresFailedError,
    PostgresServer,
    PrivatePostgres,
    wait_for,
    wheel_programs,
)

_ROOT = Path(__file__).parents[3]

_DURABILITY = "SELECT current_setting('fsync'), current_setting('synchronous_commit')"
_OWNER = """
import sys
from tests.support.servers.postgres_server import PrivatePostgres
server = PrivatePostgres()
server.start()
print(server.folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def private_postgres() -> Iterator[PrivatePostgres]:
    with PrivatePostgres() as server:
        yield server


def test_commits_survive_a_crash(private_postgres: PrivatePostgres) -> None:
    assert private_postgres.execute(_DURABILITY) == "on|on"
    private_postgres.create_database("kept")
    private_postgres.execute("CREATE TABLE fact (word text)", "kept")
    private_postgres.execute("INSERT INTO fact VALUES ('durable')", "kept")

    private_postgres.crash()
    assert not private_postgres.running
    with pytest.raises(PostgresFailedError):
        private_postgres.execute("SELECT 1")
    private_postgres.restart()

    assert private_postgres.execute("SELECT word FROM fact", "kept") == "durable"
    assert "not properly shut down" in private_postgres.log


def test_a_restart_keeps_the_address(private_postgres: PrivatePostgres) -> None:
    before = private_postgres.address()
    private_postgres.restart("smart")
    assert private_postgres.address() == before
    assert "database system is shut down" in private_postgres.log


def test_a_new_database_can_start_as_a_copy(private_postgres: PrivatePostgres) -> None:
    private_postgres.create_database("original")
    private_postgres.execute("CREATE TABLE thing AS SELECT 7 AS n", "original")
    private_postgres.create_database("copy", template="original")
    assert private_postgres.execute("SELECT n FROM thing", "copy") == "7"


def test_closing_leaves_no_process_and_no_folder() -> None:
    server = PrivatePostgres()
    server.start()
    server.close()
    server.close()
    assert not Path(server.folder).exists()
    assert not _processes_of(server.folder)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_the_owner_ends(end: signal.Signals) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert owner.stdout is not None
    folder = owner.stdout.readline().strip()
    assert _processes_of(folder)

    owner.send_signal(end)
    owner.communicate()

    assert wait_for(lambda: not _processes_of(folder) and not Path(folder).exists(), seconds=PATIENCE)


@pytest.mark.skipif(not wheel_programs(), reason="requirements/postgres-server.txt is not installed")
def test_the_server_of_the_wheel_works_too() -> None:
    with PrivatePostgres(wheel_programs()[0]) as server:
        server.create_database("made_by_the_wheel")
        assert server.execute("SELECT 1", "made_by_the_wheel") == "1"


async def test_each_test_has_its_own_empty_database(pg_database: str, postgres: PostgresServer) -> None:
    name = pg_database.rpartition("/")[2]
    for dsn in (pg_database, postgres.socket_dsn(name)):
        connection = await asyncpg.connect(dsn)
        try:
            assert await connection.fetchval("SELECT current_database()") == name
            assert await connection.fetchval("SELECT count(*) FROM pg_stat_user_tables") == 0
        finally:
            await connection.close()


def test_commits_on_the_shared_server_survive_its_crash_and_wait_for_no_disk(postgres: PostgresServer) -> None:
    assert postgres.execute(_DURABILITY) == "off|on"
    assert postgres.execute("SELECT current_setting('max_connections')") == "500"


def test_tests_with_the_database_carry_the_marker(request: pytest.FixtureRequest, pg_database: str) -> None:
    assert request.node.get_closest_marker("postgres") is not None


def _processes_of(folder: str) -> list[str]:
    """The command lines that name the folder; Linux only, where /proc tells."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            line = command.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if folder in line:
                found.append(line)
    return found
