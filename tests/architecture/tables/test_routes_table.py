"""Every route is documented, and what is documented answers."""

from __future__ import annotations

import re

from scripts.tables import routes_table

# What the seed and the design name; the faces that come later add theirs.
NAMED = {
    "POST /api/threads",
    "GET /api/threads/{thread_id}",
    "POST /api/threads/{thread_id}/messages",
    "GET /api/runs/{run_id}",
    "GET /api/runs/{run_id}/events",
    "POST /api/runs/{run_id}/cancel",
    "GET /api/threads",
    "DELETE /api/threads/{thread_id}",
    "GET /api/runs",
    "GET /api/runs/{run_id}/log",
    "GET /api/runs/{run_id}/state",
    "POST /api/runs/{run_id}/retry",
    "GET /api/approvals",
    "POST /api/approvals/{approval_id}",
    "POST /agents/runs",
    "GET /agents/runs/{run_id}",
    "GET /agents/runs/{run_id}/stream",
    "POST /agents/runs/{run_id}/cancel",
    "GET /health",
    "GET /health/ready",
    "GET /metrics",
}


def test_every_route_is_in_the_table_once() -> None:
    told = re.findall(r"^\| `([A-Z]+ /[^`]*)` \|", routes_table.PAGE.text, re.M)
    found = [f"{method} {path}" for method, path, _ in routes_table.operations(routes_table.document())]
    assert sorted(told) == sorted(set(found))
    assert set(told) >= NAMED


def test_every_route_says_what_it_does() -> None:
    for method, path, operation in routes_table.operations(routes_table.document()):
        assert operation.get("summary"), f"{method} {path}"
        assert operation.get("tags"), f"{method} {path}"


def test_no_two_operations_have_the_same_id() -> None:
    ids = [operation["operationId"] for _, _, operation in routes_table.operations(routes_table.document())]
    assert len(set(ids)) == len(ids)
