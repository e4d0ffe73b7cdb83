"""Both databases have statements of the same names, and the loader checks that."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from runyard.errors import StartupError
from runyard.stores import queries as _queries
from runyard.stores.queries import FOLDER, Dialect, hot_path, load, parse, statement_files
from runyard.stores.query_names import Queries

DIALECTS: tuple[Dialect, ...] = ("sqlite", "postgres")


def statements(dialect: Dialect) -> dict[str, str]:
    return parse("\n".join(path.read_text() for path in statement_files(dialect)))[0]


def test_both_databases_have_files_and_statements_of_the_same_names() -> None:
    files = [[path.relative_to(FOLDER / dialect) for path in statement_files(dialect)] for dialect in DIALECTS]
    assert files[0] == files[1]
    assert set(statements("sqlite")) == set(statements("postgres")) == set(Queries.__struct_fields__)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_statement_stands_in_the_file_of_the_same_name_on_both_sides(dialect: Dialect) -> None:
    other = "postgres" if dialect == "sqlite" else "sqlite"
    for path in statement_files(dialect):
        same = FOLDER / other / path.relative_to(FOLDER / dialect)
        assert set(parse(path.read_text())[0]) == set(parse(same.read_text())[0]), path.name


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_statement_has_a_sentence_about_its_purpose(dialect: Dialect) -> None:
    for path in (FOLDER / dialect).rglob("*.sql"):
        for name, comment in re.findall(r"^-- name: (\w+)\n(.*)$", path.read_text(), re.M):
            assert comment.startswith("-- "), f"{path.name}: {name}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the SQL of one database that a test may spoil."""
    for dialect in DIALECTS:
        shutil.copytree(FOLDER / dialect, tmp_path / dialect)
    monkeypatch.setattr(_queries, "FOLDER", tmp_path)
    load.cache_clear()
    yield tmp_path
    load.cache_clear()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_loader_takes_what_is_right(folder: Path, dialect: Dialect) -> None:
    assert load(dialect).get_run


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_loader_refuses_a_missing_name(folder: Path, dialect: Dialect) -> None:
    path = folder / dialect / "runs" / "runs.sql"
    path.write_text(path.read_text().replace("-- name: get_run\n", "-- nothing\n"))
    with pytest.raises(StartupError, match="get_run"):
        load(dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_loader_refuses_an_extra_name(folder: Path, dialect: Dialect) -> None:
    path = folder / dialect / "runs" / "runs.sql"
    path.write_text(path.read_text() + "\n-- name: get_everything\n-- Too much.\nselect 1;\n")
    with pytest.raises(StartupError, match="get_everything"):
        load(dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_loader_refuses_a_name_that_is_there_twice(folder: Path, dialect: Dialect) -> None:
    path = folder / dialect / "conversations" / "threads.sql"
    path.write_text(path.read_text() + "\n-- name: get_run\n-- Again.\nselect 1;\n")
    with pytest.raises(StartupError, match="get_run is defined twice"):
        load(dialect)


@pytest.mark.req("S0.12")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_statement_changes_an_event_and_only_deleting_a_thread_or_retention_removes_any(dialect: Dialect) -> None:
    touching = {
        name
        for name, sql in (statements(dialect) | hot_path(dialect)).items()
        if re.search(r"\b(update|delete\s+from|truncate)\s+(only\s+)?run_events\b|\bon conflict.*do update", sql, re.I)
        and "run_events" in sql
    }
    kept = {"delete_thread_events", "swap_events"}  # the latter: the same content under another key
    assert touching == kept | ({"drop_events"} if dialect == "sqlite" else set())  # on Postgres, whole partitions
