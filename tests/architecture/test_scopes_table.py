"""Every scope is documented, and the table says what the code does."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from runyard.domain.api_key import ALL_SCOPES, DEFAULT_SCOPES, SCOPES, Scope
from runyard.web.auth import NEEDS, OPEN, need
from scripts import scopes_table


def test_the_table_of_scopes_is_current() -> None:
    assert scopes_table.is_current(), "run 'python -m scripts.scopes_table'"


def test_every_scope_says_what_it_is_for() -> None:
    assert list(SCOPES) == list(get_args(Scope))
    assert all(SCOPES.values())
    assert set(SCOPES) == ALL_SCOPES > DEFAULT_SCOPES


def test_what_the_table_says_is_what_a_request_needs() -> None:
    for (method, path), scope in NEEDS.items():
        assert need(method, path) == scope
    assert [need(method, path) for path in OPEN for method in ("GET", "HEAD")] == [None] * 2 * len(OPEN)
    assert [need(method, "/any/other") for method in ("GET", "HEAD", "OPTIONS")] == ["read"] * 3
    assert [need(method, "/any/other") for method in ("POST", "PUT", "DELETE", "ODD")] == ["write"] * 4
    assert [need("POST", path) for path in OPEN] == ["write"] * len(OPEN)


def test_a_stale_table_is_noticed_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "access.md"
    page.write_text(scopes_table.DOCUMENT.read_text(encoding="utf-8").replace("| `operate` |", "| `rule` |"), "utf-8")
    monkeypatch.setattr(scopes_table, "DOCUMENT", page)
    assert scopes_table.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().err
    assert scopes_table.main([]) == 0
    assert scopes_table.main(["--check"]) == 0
