"""An edited input is checked against the schema of the tool, also if a tool server has the tool."""

import sys
from pathlib import Path
from typing import Any

import pytest

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.loading import App
from tests.support.in_process.live_server import Serve
from tests.web.responses.test_problems import problem

SCRIPT = Path(__file__).parents[3] / "agents" / "tools" / "mcp_server_for_tests.py"
UNFIT: list[dict[str, Any]] = [{"a": "one", "b": 2}, {"a": 1}, {}]


def calculating(folder: Path, command: list[str] | None = None) -> App:
    @runyard.agent(tools=[runyard.mcp(command or [sys.executable, str(SCRIPT), str(folder)], timeout=20)])
    async def calculator(ctx: Context) -> str:
        return str(await ctx.call("add", a=1, b=2))

    made: Agent = calculator
    return App({made.name: made}, {}, made.name)


async def test_an_edit_that_does_not_fit_a_tool_of_a_server_is_422_and_decides_nothing(
    serve: Serve, tmp_path: Path, backend: str
) -> None:
    server = await serve(calculating(tmp_path))
    run_id = await server.post("calculator")
    approval = await server.waiting(run_id)
    pods = [server]
    if backend == "postgres":  # a pod that has never listed the tools checks too
        pods.append(await serve(calculating(tmp_path), worker=False))
    for pod in pods:
        for unfit in UNFIT:
            path = f"/api/approvals/{approval}"
            answer = await pod.http.post(path, json={"decision": "approve", "input": unfit})
            assert "add do not fit" in problem(answer, 422, "invalid_input")["detail"]
    assert [a["state"] for a in (await server.http.get("/api/approvals")).json()["approvals"]] == ["pending"]
    decided = await pods[-1].http.post(
        f"/api/approvals/{approval}", json={"decision": "approve", "input": {"a": 4, "b": 5}}
    )
    assert decided.status_code == 200
    await server.ended(run_id)
    [output] = [e["data"]["text"] for e in await server.log(run_id) if e["type"] == "run.output"]
    assert "9" in output


@pytest.mark.parametrize("backend", ["postgres"])
async def test_without_the_tool_server_an_edit_is_503_and_decides_nothing(serve: Serve, tmp_path: Path) -> None:
    server = await serve(calculating(tmp_path))
    approval = await server.waiting(await server.post("calculator"))
    without = await serve(calculating(tmp_path, ["false"]), worker=False)
    path, edit = f"/api/approvals/{approval}", {"decision": "approve", "input": {"a": 4, "b": 5}}
    problem(await without.http.post(path, json=edit), 503, "tool_unavailable")
    assert (await without.http.post(path, json={"decision": "reject"})).status_code == 200
