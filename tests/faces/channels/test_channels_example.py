"""`examples/office` runs as it says: six agents, a public channel, a private one, DMs, on the scripted model."""

import asyncio
import runpy
from pathlib import Path
from typing import Any

import pytest

from runyard.agents.declared.loading import app_of, load
from tests.faces.channels.conftest import AT_ONCE
from tests.support.in_process.live_server import Serve

OFFICE = Path(__file__).parents[3] / "examples" / "office"
WHAT_IS_SAID = [
    ("local", "There is fog, and the engine sounds odd. Thank you all."),
    ("local", "What does a ticket cost?"),
    ("mara", "Fog is noted. The Gannet leaves an hour later."),
    ("teo", "I have asked Boro about the engine."),
    ("ilse", "A ticket is 12 crowns, a bicycle rides for free."),
    ("local", "How many tickets have we sold?"),
    ("nadia", "The books say 48 tickets, and they balance."),
    ("ilse", "A ticket is 12 crowns, a bicycle rides for free."),
    ("teo", "Is the engine of the Gannet fit for the strait?"),
    ("boro", "She is fit. I changed the oil on Monday."),
    ("local", "How many have we sold, just between us?"),
    ("nadia", "The books say 48 tickets, and they balance."),
]


@pytest.mark.req("S3.1", "S3.40", "S3.17")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_the_ferry_company_answers(serve: Serve) -> None:
    server = await serve(load(OFFICE), **AT_ONCE)
    move_in = runpy.run_path(str(OFFICE / "move_in.py"))["move_in"]
    said: list[dict[str, Any]] = await asyncio.to_thread(move_in, f"http://127.0.0.1:{server.port}")
    assert sorted((message["userId"], message["text"]) for message in said) == sorted(WHAT_IS_SAID)
    assert [r["userId"] for message in said for r in message["reactions"]] == ["pip"]
    blocks = (await server.http.get("/api/agents/mara/memory")).json()["blocks"]
    assert [(block["label"], block["content"]) for block in blocks] == [("weather", "Fog in the strait.")]
    [passage] = (await server.http.get("/api/agents/boro/passages")).json()["passages"]
    assert passage["tags"] == ["engine"]
    runs = (await server.http.get("/api/runs", params={"limit": 50})).json()["runs"]
    assert {run["status"] for run in runs} == {"done"}


def test_make_run_serves_the_demo_and_the_company() -> None:
    from runyard import demo

    tour, channel_server = load(OFFICE.parent / "tour.py"), load(OFFICE)
    shown = app_of(demo)
    assert set(tour.agents) == set(shown.agents) | set(channel_server.agents)
    assert (tour.default, set(tour.collections)) == (shown.default, set(shown.collections))
    assert "runyard dev examples/tour.py\n" in (OFFICE.parents[1] / "Makefile").read_text(encoding="utf-8")
