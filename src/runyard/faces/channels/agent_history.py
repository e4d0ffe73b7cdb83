"""The routes of an agent's history: its runs with steps and messages, its tokens and its cost."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from fastapi import Query
from starlette.responses import Response

from runyard.domain.conversations.thread import ThreadKind
from runyard.domain.events import Usage
from runyard.domain.runs.ledger import Day, LedgerMessage, Step
from runyard.domain.runs.run import Run, Status
from runyard.engine.queries.views import checked_cursor
from runyard.faces.channels import translate, wire
from runyard.web.auth import Owner
from runyard.web.context import EngineDep
from runyard.web.responses import Json
from runyard.web.routing import Router

Limit = Annotated[int, Query(ge=1, le=100)]
DAY_MS = 86_400_000
STATUS: dict[Status, wire.AgentRunStatus] = {
    Status.QUEUED: "created",
    Status.RUNNING: "running",
    Status.WAITING: "running",
    Status.DONE: "completed",
    Status.ERROR: "failed",
    Status.CANCELED: "cancelled",
}


router = Router("channels")


@router.get("/api/agents/{agent_id}/runs", response_model=wire.AgentRunPage)
async def list_agent_runs(
    engine: EngineDep, owner: Owner, agent_id: str, before: str | None = None, limit: Limit = 50
) -> Response:
    """List the runs of an agent, newest first."""
    runs, kinds = await engine.agent_history.runs(owner, agent_id, checked_cursor(before), limit)
    more = runs[-1].id if len(runs) == limit else None
    return Json(wire.AgentRunPage(runs=[wire.AgentRunSeen(**_run(run, kinds)) for run in runs], next=more))


@router.get("/api/agents/{agent_id}/runs/{run_id}", response_model=wire.AgentRunRecord)
async def get_agent_run(engine: EngineDep, owner: Owner, agent_id: str, run_id: str) -> Response:
    """Get a run with its steps and messages."""
    run, kinds, ledger = await engine.agent_history.run(owner, agent_id, run_id)
    steps, messages = [_step(step) for step in ledger.steps], [_line(line) for line in ledger.messages]
    return Json(wire.AgentRunRecord(**_run(run, kinds), steps=steps, messages=messages))


@router.get("/api/agents/{agent_id}/usage", response_model=wire.UsageSeen)
async def get_agent_usage(engine: EngineDep, owner: Owner, agent_id: str, limit: Limit = 31) -> Response:
    """Get an agent's tokens and cost per day."""
    return Json(wire.UsageSeen(days=[_day(day) for day in await engine.agent_history.usage(owner, agent_id, limit)]))


def _run(run: Run, kinds: Mapping[str, ThreadKind]) -> dict[str, Any]:
    return {
        "id": run.id,
        "agentId": run.agent,
        "status": STATUS[run.status],
        "stopReason": run.stop_reason,
        "triggerMessageId": run.trigger_message_id,
        **translate.place(run.thread_id or "", kinds.get(run.thread_id or "", "chat")),
        "createdAt": translate.iso(run.created_at),
        "startedAt": translate.moment(run.started_at),
        "completedAt": translate.moment(run.finished_at),
        "tokenUsage": _tokens(run.usage or Usage()),
    }


def _step(step: Step) -> wire.StepSeen:
    return wire.StepSeen(
        id=step.id,
        stepNumber=step.number,
        status=step.status,
        modelId=step.model,
        tokenUsage=_tokens(step.usage),
        createdAt=translate.iso(step.created_at),
        completedAt=translate.moment(step.completed_at),
    )


def _line(line: LedgerMessage) -> wire.RunMessageSeen:
    return wire.RunMessageSeen(
        id=line.id,
        stepId=line.step_id,
        messageType=line.type,
        content=line.content,
        toolName=line.tool,
        toolInput=None if line.input is None else msgspec.json.decode(line.input),
        createdAt=translate.iso(line.created_at),
    )


def _day(day: Day) -> wire.DaySeen:
    date = translate.iso(day.day * DAY_MS).partition("T")[0]
    return wire.DaySeen(
        date=date, runs=day.runs, steps=day.steps, tokenUsage=_tokens(day.usage), usd=round(day.usage.usd, 6)
    )


def _tokens(usage: Usage) -> wire.TokenUsage:
    return wire.TokenUsage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
