"""The routes of titles, search and export of threads."""

from typing import Annotated, Literal

from fastapi import Query
from starlette.responses import Response

from runyard.base.ids import IdKind
from runyard.domain.conversations.thread import Thread
from runyard.domain.times import iso
from runyard.engine.queries.thread_search import as_markdown
from runyard.faces.native import rows, wire
from runyard.web.auth import Owner
from runyard.web.context import EngineDep
from runyard.web.responses import Json
from runyard.web.routing import Router

router = Router("native")
SearchText = Annotated[str, Query(min_length=1, max_length=500, description="Words; each is the beginning of a word.")]
SearchLimit = Annotated[int, Query(ge=1, le=100)]
IdPart = Annotated[str, Query(min_length=8, max_length=64, description="The beginning or the end of an id.")]
Format = Annotated[Literal["json", "markdown"], Query(description="The format of the export.")]


@router.get("/api/search", response_model=wire.SearchPage)
async def search(
    engine: EngineDep, owner: Owner, query: SearchText, before: str | None = None, limit: SearchLimit = 20
) -> Response:
    """Search the messages of all chats, channels and DMs, newest first. A 409 `sealed` if they are encrypted."""
    found = await engine.thread_search.search(owner, query, before, limit)
    titles = [wire.TitleHit(thread_id=id, title=hit.text, marks=hit.marks) for id, hit in found.titles.items()]
    rows = [
        wire.SearchHit(
            thread_id=hit.message.thread_id,
            kind=hit.kind,
            title=hit.title,
            message_id=hit.message.id,
            run_id=hit.message.run_id,
            role=hit.message.role,
            created_at=iso(hit.message.created_at) or "",
            text=hit.excerpt.text,
            marks=hit.excerpt.marks,
        )
        for hit in found.hits
    ]
    return Json(wire.SearchPage(threads=titles, messages=rows, next=found.next))


@router.get("/api/ids", response_model=wire.FoundIds)
async def find_ids(engine: EngineDep, owner: Owner, kind: IdKind, part: IdPart) -> Response:
    """Find the whole ids of runs, threads or waits by their beginning or end, newest first."""
    return Json(wire.FoundIds(ids=list(await engine.views.find_ids(owner, kind, part))))


@router.patch("/api/threads/{thread_id}", response_model=wire.ThreadRow)
async def rename(engine: EngineDep, owner: Owner, thread_id: str, body: wire.NewTitle) -> Response:
    """Give a thread a title."""
    thread = await engine.thread_search.rename(owner, thread_id, body.title)
    return Json(thread_row(thread, (await engine.thread_search.titles([thread.id])).get(thread.id)))


@router.get("/api/threads/{thread_id}/export")
async def export(engine: EngineDep, owner: Owner, thread_id: str, format: Format = "json") -> Response:
    """Export a thread with all its messages, as JSON or Markdown."""
    found = await engine.thread_search.exported(owner, thread_id)
    if format == "markdown":
        return Response(as_markdown(found), media_type="text/markdown; charset=utf-8")
    return Json(found)


def thread_row(thread: Thread, title: str | None) -> wire.ThreadRow:
    return wire.ThreadRow(**rows.thread_fields(thread, title))
