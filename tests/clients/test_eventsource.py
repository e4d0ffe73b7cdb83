"""The package `eventsource` follows a run of the threads API over a connection that breaks at every event."""

from __future__ import annotations

from tests.clients.conftest import ran
from tests.support.cutting_proxy import CuttingProxy
from tests.support.flow import Flow

PROGRAM = "eventsource_client.mjs"


async def test_a_stream_that_is_cut_at_every_event_has_no_gap_and_no_repetition(url: str, sqlite_flow: Flow) -> None:
    undisturbed = await ran(PROGRAM, "follow", url, INPUT="look")
    async with CuttingProxy(lambda: [url], 1) as proxy:
        found = await ran(PROGRAM, "follow", proxy.url, INPUT="look")
        cuts = proxy.cuts
    assert found["text"] == undisturbed["text"] == "So: A-1 is paid."
    assert found["names"] == undisturbed["names"]
    assert "final" in found["names"]
    assert found["ids"] == undisturbed["ids"] == sorted(set(found["ids"]))
    assert cuts == len(found["ids"]) == found["opened"]
    assert found["status"] == 204, "the client stops by itself, and does not connect for ever"
