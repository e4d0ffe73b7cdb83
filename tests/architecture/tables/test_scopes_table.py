"""Every scope is documented, and the table says what the code does."""

from __future__ import annotations

from typing import get_args

from runyard.domain.api_key import ALL_SCOPES, DEFAULT_SCOPES, SCOPES, Scope
from runyard.web.auth import NEEDS, OPEN, need


def test_every_scope_says_what_it_is_for() -> None:
    assert list(SCOPES) == list(get_args(Scope))
    assert all(SCOPES.values())
    assert set(SCOPES) == ALL_SCOPES > DEFAULT_SCOPES


def test_a_request_needs_the_scope_in_the_table() -> None:
    for (method, path), scope in NEEDS.items():
        assert need(method, path) == scope
    assert [need(method, path) for path in OPEN for method in ("GET", "HEAD")] == [None] * 2 * len(OPEN)
    assert [need(method, "/any/other") for method in ("GET", "HEAD", "OPTIONS")] == ["read"] * 3
    assert [need(method, "/any/other") for method in ("POST", "PUT", "DELETE", "ODD")] == ["write"] * 4
    assert [need("POST", path) for path in OPEN] == ["write"] * len(OPEN)
