"""Content is in the database only: no log line of a real server at level debug contains it, in success and in
failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.scenario.flow import Flow

MARKER = "sesame-7731"
APP = """
import runyard
from runyard.errors import ToolFailed

MARKER = "sesame-7731"


@runyard.tool(effects="none")
async def repeat(text: str) -> str:
    "Say it again."
    await runyard.stream_output(text)
    return text


@runyard.tool(effects="none")
async def break_down(text: str) -> str:
    "Fail, and say why."
    raise ValueError(text)


@runyard.tool(effects="none")
def refuse(text: str) -> str:
    "Fail with words for the model."
    raise ToolFailed(text)


@runyard.tool(approval="always")
async def pay(to: str) -> str:
    "Pay."
    return to


CALLS = [{"tool": name, "input": {"text": MARKER}} for name in ("repeat", "break_down", "refuse")]
CALLS += [{"tool": "repeat", "input": {MARKER: 1}}, {"tool": MARKER, "input": {}}]
CALLS += [{"tool": "pay", "input": {"to": MARKER}}]
TURNS = [{"thinking": MARKER, "text": [MARKER], "calls": CALLS}, {"text": [MARKER]}]
thinker = runyard.Agent(
    "thinker", model="scripted", turns=TURNS, tools=[repeat, break_down, refuse, pay], instructions=MARKER
)


@runyard.agent
async def broken(ctx):
    await ctx.step(MARKER, lambda: MARKER)
    raise RuntimeError(ctx.message.text)


@runyard.agent
async def strange(ctx):
    return {MARKER: object()}


default = thinker
"""


@pytest.mark.req("S1.47", "S1.58")
async def test_a_marker_that_went_everywhere_is_in_no_log_line(any_flow: Flow, tmp_path: Path) -> None:
    flow = any_flow
    app = tmp_path / "marked.py"
    app.write_text(APP)
    await flow.start("serve", app=app, log_level="debug")

    run_id = await flow.post(MARKER, agent="thinker")
    for path in (f"/api/runs/{run_id}/log?after={MARKER}", f"/api/{MARKER}?{MARKER}={MARKER}", f"/chats/{MARKER}"):
        assert (await flow.request("GET", path)).status_code in (400, 404)
    for body in (f'{{"content": "{MARKER}"', f'{{"{MARKER}": 1}}', f'{{"content": "x", "agent": "{MARKER}"}}', MARKER):
        headers = {"Content-Type": "application/json", "Idempotency-Key": MARKER, "X-Note": MARKER}
        answer = await flow.request("POST", "/chats/c/interactions", content=body, headers=headers)
        assert answer.status_code in (400, 422)
    approval = await flow.approval(run_id, "tool")
    wrong = await flow.request(
        "POST", f"/api/approvals/{approval}", json={"decision": "approve", "input": {MARKER: MARKER}}
    )
    assert wrong.status_code == 422
    decided = {"decision": "approve", "input": {"to": f"{MARKER}!"}, "reason": MARKER}
    assert (await flow.request("POST", f"/api/approvals/{approval}", json=decided)).status_code == 200
    for agent in ("broken", "strange"):
        await flow.reached(await flow.post(MARKER, agent=agent), "error")
    await flow.reached(run_id, "done")

    assert {row["type"] for row in await flow.log(run_id) if MARKER in bytes(row["data"]).decode()} >= {
        "model.message", "model.thinking", "model.token", "tool.requested", "approval.requested", "tool.started",
        "tool.output", "tool.finished", "approval.decided", "run.output",
    }, "it went everywhere"  # fmt: skip
    lines = [line for pod in flow.pods for line in pod.log.read_text().splitlines()]
    assert {"tool.finished", "run.finished"} <= {json.loads(line).get("action") for line in lines if line[:1] == "{"}
    assert [line for line in lines if MARKER in line] == []
