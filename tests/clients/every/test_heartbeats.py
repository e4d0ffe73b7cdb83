"""Every client survives the heartbeats of a stream whose run pauses, and ends with the whole answer. All clients follow
a run of one server side by side."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

from tests.clients.client_app import COUNT
from tests.clients.conftest import ran
from tests.clients.every.clients import CLIENTS, answer_of, lasting
from tests.clients.test_mcp import REVISIONS, connected, text
from tests.support.apps import gated_app
from tests.support.eventually import eventually
from tests.support.faults.cutting_proxy import CuttingProxy
from tests.support.scenario.flow import Flow

SEVERAL = 5


async def test_every_client_survives_heartbeats_while_its_run_pauses(sqlite_flow: Flow) -> None:
    """The agent writes one piece, and the rest when every client has got several heartbeats. Then each client follows a
    second run, which does not pause, and has the same."""
    server = await sqlite_flow.start("serve", app=Path(gated_app.__file__), heartbeat_seconds=0.05)
    sqlite_flow.notes.open_gate("0")
    names = [*CLIENTS, *(f"mcp py, {mode}" for mode in REVISIONS)]
    async with AsyncExitStack() as stack:
        proxies = {name: await stack.enter_async_context(CuttingProxy(lambda: [server.url], None)) for name in names}
        following = {name: asyncio.create_task(followed(name, proxy.url, "first")) for name, proxy in proxies.items()}
        for name, proxy in proxies.items():
            await eventually(f"{name} has got several heartbeats", partial(has_several, proxy))
        for n in range(1, gated_app.PIECES + 1):
            sqlite_flow.notes.open_gate(str(n))
        found = {name: await each for name, each in following.items()}
    assert {name: answer_of(each) for name, each in found.items()} == dict.fromkeys(names, "".join(COUNT))
    undisturbed = await asyncio.gather(*(followed(name, server.url, "second") for name in names))
    for name, without in zip(names, undisturbed, strict=True):
        assert lasting(found[name]) == lasting(without), name
        assert not found[name].get("cuts"), name
    assert len(await sqlite_flow.database.rows("select id from runs")) == 2 * len(names)


def has_several(proxy: CuttingProxy) -> bool:
    return proxy.heartbeats >= SEVERAL


async def followed(name: str, url: str, thread: str) -> dict[str, Any]:
    """Follow a run to its end, and return what the client then has."""
    if name not in CLIENTS:
        async with connected(url, name.removeprefix("mcp py, ")) as mcp:
            return {"text": text(await mcp.call_tool("helper", {"message": "count"}))}
    client = CLIENTS[name]
    own = {"CHAT": f"{thread} {name}", "THREAD": f"{thread} {name}", "UNTIL": COUNT[-1], "INPUT": "count"}
    return await ran(client.program, client.case, url, **own, **client.variables)
