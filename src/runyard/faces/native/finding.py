"""The routes of titles, search and export of threads."""

from typing import Annotated, Literal

from fastapi import Query
from starlette.responses import Response

from runyard.domain.conversations.thread import Thread
from runyard.domain.times import iso
from runyard.engine.queries.finding import as_markdown
from runyard.faces.native import rows, wire
from runyard.web.auth import Owner
from runyard.web.context import EngineDep
from runyard.web.responses import Json
from runyard.web.routing import Router

router = Router("native")
SearchText = Annotated[str, Query(min_length=1, max_length=500, description="Words; each is the beginning of a word.")]
SearchLimit = Annotated[int, Query(ge=1, le=100)]
Format = Annotated[Literal["json", "markdown"], Query(description="The format of the export.")]


@router.get("/api/search", response_model=wire.SearchPage)
async def search(
    engine: EngineDep, owner: Owner, query: SearchText, before: str | None = None, limit: SearchLimit = 20
) -> Response:
    """Search the messages of all threads, newest first. A 409 `sealed` if the server encrypts messages."""
    found = await engine.finding.search(owner, query, before, limit)
    titles = [wire.TitleHit(thread_id=t.id, title=hit.text, marks=hit.marks) for t, hit in found.threads]
    rows = [
        wire.SearchHit(
            thread_id=hit.message.thread_id,
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
    following = rows[-1].message_id if len(rows) == limit else None
    return Json(wire.SearchPage(threads=titles, messages=rows, next=following))


@router.patch("/api/threads/{thread_id}", response_model=wire.ThreadRow)
async def rename(engine: EngineDep, owner: Owner, thread_id: str, body: wire.NewTitle) -> Response:
    """Give a thread a title."""
    thread = await engine.finding.rename(owner, thread_id, body.title)
    return Json(thread_row(thread, (await engine.finding.titles([thread.id])).get(thread.id)))


@router.get("/api/threads/{thread_id}/export")
async def export(engine: EngineDep, owner: Owner, thread_id: str, format: Format = "json") -> Response:
    """Export a thread with all its messages, as JSON or Markdown."""
    found = await engine.finding.exported(owner, thread_id)
    if format == "markdown":
        return Response(as_markdown(found), media_type="text/markdown; charset=utf-8")
    return Json(found)


def thread_row(thread: Thread, title: str | None) -> wire.ThreadRow:
    return wire.ThreadRow(**rows.thread_fields(thread, title))
