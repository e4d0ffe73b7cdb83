"""Which scope of a key a message of MCP needs."""

from __future__ import annotations

import pytest

from tests.faces.mcp.test_protocol import MEMORY, TASKS, Peer, call
from tests.support.in_process.live_server import Serve
from tests.web.access.every_route import bearer


@MEMORY
@pytest.mark.parametrize("stateless", [False, True])
async def test_reading_needs_another_scope_than_calling(serve: Serve, stateless: bool) -> None:
    server = await serve(keys=True)
    reader, writer = bearer(await server.key("ann", "read")), bearer(await server.key("ann", "write"))
    server.http.headers.update(reader)
    peer = Peer(server)
    await peer.open(TASKS)
    send = peer.stateless if stateless else peer.session
    for method in ("tools/list", "resources/list", "resources/templates/list"):
        assert (await send(method))[0] == 200, method
    for method in ("tools/call", "tasks/update", "tasks/cancel"):
        status, refused = await send(method, call("happy") if method == "tools/call" else {"taskId": "x"})
        assert (status, refused["error"]["data"]["code"]) == (403, "scope_missing"), method
    assert await peer.notify("notifications/cancelled", requestId=1) == 403
    assert await peer.answer("wait", approved=True) == 403
    server.http.headers.update(writer)
    assert (await send("tools/list"))[0] == 403
