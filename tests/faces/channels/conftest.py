"""A server with channels, on SQLite and on Postgres. A test names the caller of a request in the header `x-caller`."""

from typing import Any

import pytest
from msgspec.structs import replace
from starlette.types import Receive, Scope, Send

from runyard.domain.api_key import LOCAL
from runyard.web.body import BodyLimit
from runyard.web.errors.problems import CALLER
from tests.faces.channels.agents_on_demand import ChannelServer
from tests.support.in_process.live_server import Serve

AT_ONCE: dict[str, Any] = {"group_pause_min_seconds": 0, "group_pause_max_seconds": 0}


@pytest.fixture
def callers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Change the owner of each request to the one that it names, after the guard has let it in."""
    pass_on = BodyLimit.__call__

    async def change_owner(self: BodyLimit, scope: Scope, receive: Receive, send: Send) -> None:
        owner = dict(scope["headers"]).get(b"x-caller", LOCAL.encode()).decode()
        scope[CALLER] = replace(scope[CALLER], owner=owner)
        await pass_on(self, scope, receive, send)

    monkeypatch.setattr(BodyLimit, "__call__", change_owner)


@pytest.fixture
async def channel_server(serve: Serve, callers: None) -> ChannelServer:
    made = ChannelServer()
    made.server = await serve(made.app(), **AT_ONCE)
    return made
