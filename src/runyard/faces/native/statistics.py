"""The routes of the caller: who it is, and the statistics of its runs, or of those of all owners."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from runyard.engine.access import Caller
from runyard.engine.queries.statistics import DAY_MS, Figures
from runyard.faces.native import statistics_wire, wire
from runyard.faces.native.shares import ShareOptions
from runyard.web.auth import Owner, check_scope
from runyard.web.context import EngineDep, context_of
from runyard.web.errors.problems import CALLER
from runyard.web.responses import Json
from runyard.web.routing import Router

Days = Annotated[int, Query(ge=1, le=90)]
OfAll = Annotated[bool, Query(alias="all", description="Count the runs of all owners. Needs the scope `operate`.")]

router = Router("native")


@router.get("/api/me", response_model=wire.Me)
async def me(request: Request) -> Response:
    """Get the owner and the scopes of the caller's key, and whether threads can be shared."""
    caller: Caller = request.scope[CALLER]
    can_share = context_of(request).options(ShareOptions).is_on
    return Json(wire.Me(owner=caller.owner, scopes=sorted(caller.scopes), can_share=can_share))


@router.get("/api/statistics", response_model=statistics_wire.StatisticsPage)
async def statistics(
    request: Request, engine: EngineDep, owner: Owner, days: Days = 14, agent: str | None = None, of_all: OfAll = False
) -> Response:
    """Get how many runs there were, how they ended, how long they took and what they cost, by day and by agent, and
    the queue as it is now."""
    if of_all:
        check_scope(request, "operate")
    found = await engine.statistics.report(None if of_all else owner, days, agent)
    return Json(
        statistics_wire.StatisticsPage(
            days=[statistics_wire.DayFigures(day=_date(int(each.name)), **_figures(each)) for each in found.days],
            agents=[statistics_wire.AgentFigures(agent=each.name, **_figures(each)) for each in found.agents],
            queue=statistics_wire.QueueNow(runs=found.queue.runs, oldest_ms=found.queue.oldest_ms),
        )
    )


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * DAY_MS / 1000, UTC).date().isoformat()


def _figures(found: Figures) -> dict[str, Any]:
    usage = found.usage
    return {
        "runs": found.runs,
        "errors": found.errors,
        "canceled": found.canceled,
        "took_p50_ms": found.took_p50,
        "took_p95_ms": found.took_p95,
        "waited_p95_ms": found.waited_p95,
        "first_token_p50_ms": found.first_token_p50,
        "first_token_p95_ms": found.first_token_p95,
        "usage": wire.RunUsage(
            input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, usd=round(usage.usd, 6)
        ),
    }
