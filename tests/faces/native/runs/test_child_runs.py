"""Child runs over HTTP: their cost and budget count for the parent, their number and depth are limited, and a tree of
runs is one stream that resumes exactly."""

import asyncio
import re
from typing import Any

import pytest

import runyard
from tests.support.in_process.live_server import Serve, Server

COST = {"output_tokens": 10, "usd": 0.03}


def look_again() -> str:
    """Look again."""
    return "nothing"


def spender(name: str = "spender", **options: Any) -> runyard.Agent:
    """A model agent that continues as long as it may."""
    turn = {"text": "More. ", "calls": [{"tool": "look_again"}], "usage": COST}
    return runyard.Agent(
        name, model="scripted", turns=[turn] * 20, tools=[runyard.tool(look_again)], max_turns=20, max_usd=5, **options
    )


@runyard.agent
async def family(ctx: runyard.Context) -> str:
    first, second = await asyncio.gather(ctx.run("writer", "one"), ctx.run("nested", "two"))
    return f"{first.text} {second.text}"


@runyard.agent
async def nested(ctx: runyard.Context) -> str:
    return (await ctx.run("writer", "deep")).text


@runyard.agent
async def writer(ctx: runyard.Context) -> str:
    for word in ("a", "b", "c"):
        await ctx.token(word)
    return f"{ctx.message.text}!"


@runyard.agent
async def careful(ctx: runyard.Context) -> str:
    return (await ctx.run("spender", "Go on.", max_usd=0.05)).text


@runyard.agent
async def endless(ctx: runyard.Context) -> str:
    depth = int(ctx.message.text)
    try:
        return (await ctx.run("endless", str(depth + 1))).text
    except runyard.errors.TooManyChildren as error:
        return f"{depth}: {error.code}"
    except runyard.ChildFailed as error:
        return error.error


@runyard.agent
async def sleepy(ctx: runyard.Context) -> str:
    await ctx.sleep(hours=1)
    return "awake"


@runyard.agent
async def hasty(ctx: runyard.Context) -> str:
    try:
        return (await ctx.run("sleepy", "Wake up.", timeout=0.2)).text
    except runyard.AnswerTimedOut:
        return "too late"


@runyard.agent
async def many(ctx: runyard.Context) -> str:
    ends = await asyncio.gather(*(ctx.run("writer", str(n)) for n in range(4)), return_exceptions=True)
    return " ".join(getattr(end, "text", None) or type(end).__name__ for end in ends)


def app() -> runyard.App:
    turns: list[dict[str, Any]] = [
        {"text": "Let me ask. ", "calls": [{"tool": "spender", "input": {"message": "Go on."}}], "usage": COST},
        {"text": "Thanks.", "usage": COST},
    ]
    boss = runyard.Agent("boss", model="scripted", turns=turns, tools=[spender()], max_usd=0.10)
    found = [family, nested, writer, careful, endless, many, sleepy, hasty, spender(), boss]
    return runyard.App({one.name: one for one in found}, default="family")


async def output(server: Server, run_id: str) -> str:
    log = await server.log(run_id)
    return str(next(entry["data"]["text"] for entry in log if entry["type"] == "run.output"))


async def tree(server: Server, run_id: str, after: str | None = None) -> list[tuple[str, str, int]]:
    """The stream of the tree: the cursor, the run and the seq of each event."""
    headers = {} if after is None else {"Last-Event-ID": after}
    response = await server.http.get(f"/api/runs/{run_id}/log?children=true", headers=headers)
    found = re.findall(r"id: (.*)\nevent: .*\ndata: \{\"run_id\":\"(.*?)\",\"seq\":(\d+)", response.text)
    return [(cursor, run, int(seq)) for cursor, run, seq in found]


async def test_a_tree_is_one_stream_that_resumes_exactly_at_every_event(serve: Serve) -> None:
    server = await serve(app())
    run_id = await server.post("family")
    live = await tree(server, run_id)  # while it runs
    whole = await tree(server, run_id)
    assert await output(server, run_id) == "one! deep!"
    assert sorted((run, seq) for _, run, seq in live) == sorted((run, seq) for _, run, seq in whole)
    runs = {run for _, run, _ in whole}
    assert len(runs) == 4
    for each in runs:
        seqs = [seq for _, run, seq in whole if run == each]
        assert seqs == list(range(1, len(await server.log(each)) + 1)), "each log, whole and in order"
    for place in range(0, len(whole) - 1, 5):
        rest = await tree(server, run_id, whole[place][0])
        assert sorted((run, seq) for _, run, seq in rest) == sorted((run, seq) for _, run, seq in whole[place + 1 :])


async def test_the_usage_of_children_is_the_parents_and_its_budget_binds_them(serve: Serve) -> None:
    server = await serve(app())
    run_id = await server.post("boss")
    await server.ended(run_id)
    log = await server.log(run_id)
    [answered] = [entry["data"] for entry in log if entry["type"] == "wait.answered"]
    assert answered["usage"]["usd"] == pytest.approx(0.09), "0.10 less 0.03 allow turns of 0.03 until 0.07 are spent"
    assert log[-1]["data"]["usage"]["usd"] == pytest.approx(0.12)
    assert log[-1]["data"]["stop_reason"] == "max_tokens_exceeded", "the model is not asked again"
    stored = await server.store.get_run("local", run_id)
    assert stored.usage is not None
    assert stored.usage.output_tokens == 40

    run_id = await server.post("careful")
    await server.ended(run_id)
    assert (await server.log(run_id))[-1]["data"]["usage"]["usd"] == pytest.approx(0.06)


async def test_the_number_and_the_depth_of_children_are_limited(serve: Serve) -> None:
    server = await serve(app(), max_children=3, max_child_depth=2)
    run_id = await server.post("many")
    await server.ended(run_id)
    assert await output(server, run_id) == "0! 1! 2! TooManyChildren"
    run_id = await server.post("endless", "0")
    await server.ended(run_id)
    assert await output(server, run_id) == "2: too_many_children"


async def test_a_child_that_takes_too_long_is_an_error_and_ends(serve: Serve) -> None:
    server = await serve(app())
    run_id = await server.post("hasty")
    await server.ended(run_id)
    assert await output(server, run_id) == "too late"
    [child] = [entry["data"]["child"] for entry in await server.log(run_id) if entry["type"] == "wait.requested"]
    await server.ended(child)
    assert (await server.run(child))["status"] in ("error", "canceled")
