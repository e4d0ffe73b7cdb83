"""Requests, responses and events of the plans face: camelCase, without content."""

from typing import Literal

from msgspec import Struct
from pydantic import AliasChoices, BaseModel, Field

from runyard.base.fields import RequestBody

RunState = Literal["started", "finished", "cancelled"]
EventName = Literal["RunStarted", "NodeStarted", "DebugTrace", "NodeFinished", "RunFinished"]


class PlanEvent(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One event: these fields and no others. `name` is the name of a node, `fn` of a trace."""

    run_id: str
    seq: int
    ts: int
    type: EventName
    v: int
    source: Literal["outbox"]
    name: str | None = None
    fn: str | None = None


class NewRun(RequestBody):
    runId: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._:~-]{0,127}$",
        description="The client's id for the run; posting it again attaches to the same run.",
    )
    plan: str | None = Field(  # type: ignore[pydantic-alias]
        None,
        validation_alias=AliasChoices("plan", "agent"),
        description="The plan to run; the first declared plan if left out.",
    )


class RunAccepted(BaseModel):
    runId: str
    status: Literal["accepted"] = "accepted"


class RunSeen(BaseModel):
    """`nextSeq` is the next event to publish; `serverRunId` is the run's id in the other APIs."""

    runId: str
    serverRunId: str
    plan: str
    state: RunState
    startedAt: str
    finishedAt: str | None
    lastSeq: int
    nextSeq: int
    v: int
    createdAt: str
    updatedAt: str
