"""A company on SQLite and on Postgres, and callers who say who they are."""

from typing import Any

import pytest
from starlette.requests import Request

from runyard.domain.api_key import LOCAL
from runyard.faces.channels import routes
from runyard.web.auth import owner_of
from tests.faces.channels.company import Company
from tests.faces.serving import Serve

AT_ONCE: dict[str, Any] = {"group_pause_min_seconds": 0, "group_pause_max_seconds": 0}


async def _says_who(request: Request) -> str:
    return request.headers.get("x-caller", LOCAL)


@pytest.fixture
def callers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends `x-caller` is that one: what API keys will decide."""
    monkeypatch.setattr(routes, "owner_of", _says_who)


@pytest.fixture
async def company(serve: Serve, callers: None) -> Company:
    made = Company()
    made.server = await serve(made.app(), **AT_ONCE)
    made.server.uvicorn.config.app.dependency_overrides[owner_of] = _says_who  # type: ignore[union-attr]
    return made
