"""Tools on a real server: their streamed output is in the log, an edited input is checked, every call is logged."""

import pytest
from structlog.testing import capture_logs

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.kinds import agent
from runyard.agents.declared.loading import App
from tests.support.in_process.live_server import Serve

MARKER = "c0ntent-that-must-not-leak"


@runyard.tool(approval="always")
async def pay(amount: int, to: str) -> str:
    await runyard.stream_output(f"paying {to} ")
    await runyard.stream_output("done")
    return f"{amount} to {to}"


async def payer(ctx: Context) -> str:
    return str(await ctx.call(pay, amount=5, to=ctx.message.text))


APP = App({"payer": agent(name="payer", tools=[pay])(payer)}, {}, "payer")


@pytest.mark.req("S1.47", "S1.54")
async def test_an_edit_that_does_not_fit_is_a_422_and_decides_nothing(serve: Serve) -> None:
    server = await serve(APP)
    run_id = await server.post("payer", MARKER)
    where = f"/api/approvals/{await server.waiting(run_id)}"
    for wrong in ({"amount": MARKER, "to": "x"}, {"amount": 5}, MARKER, [1], {"amount": 5, "to": "x", MARKER: 1}):
        refused = await server.http.post(where, json={"decision": "approve", "input": wrong})
        assert refused.status_code == 422, refused.text
        assert MARKER not in refused.text
    problem = (await server.http.post(where, json={"decision": "approve", "input": {"amount": "5", "to": "x"}})).json()
    assert problem["code"] == "invalid_input"
    assert problem["detail"] == "The arguments of pay do not fit: expected `int`, got `str` - at `$.amount`."

    with capture_logs() as lines:
        await server.http.post(where, json={"decision": "approve", "input": {"amount": 7, "to": MARKER}})
        await server.ended(run_id)
    log = await server.log(run_id)
    assert [event["data"]["text"] for event in log if event["type"] == "tool.output"] == [f"paying {MARKER} ", "done"]
    assert [event["data"]["text"] for event in log if event["type"] == "run.output"] == [f"7 to {MARKER}"]
    (line,) = [line for line in lines if line["event"] == "tool.finished"]
    assert (line["tool"], line["run_id"], line["outcome"]) == ("pay", run_id, "ok")
    assert MARKER not in str(lines)


@runyard.tool(rate_limit="2/hour")
def ping() -> str:
    return "pong"


async def pinger(ctx: Context) -> str:
    return str(await ctx.call(ping))


@pytest.mark.req("S1.47")
async def test_a_rate_limit_holds_over_all_runs_and_pods_of_an_agent_and_an_owner(serve: Serve, backend: str) -> None:
    app = App({name: agent(name=name, tools=[ping])(pinger) for name in ("pinger", "other")}, {}, "pinger")
    first = await serve(app)
    for _ in range(2):
        await first.ended(await first.post("pinger"))
    if backend == "postgres":
        await first.process.drain(0)
    server = await serve(app) if backend == "postgres" else first
    refused = await server.post("pinger")
    await server.ended(refused)
    [end] = [event["data"] for event in await server.log(refused) if event["type"] == "tool.finished"]
    assert end["error"] == "called_too_often"
    allowed = await server.post("other")
    await server.ended(allowed)
    assert (await server.run(allowed))["status"] == "done", "another agent has a separate limit"
