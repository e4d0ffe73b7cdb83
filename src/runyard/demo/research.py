"""Three agents for the agent contract, with invented papers and guidelines: full-text search and rules, no model.

`literature` finds papers (LIT_RETRIEVAL), `retrieval` finds passages for an answer (RAG_RETRIEVE), `policy` decides
whether a text may be used (POLICY_REVIEW). They are part of the demo, and each is a separate service in
`examples/contract`.
"""

from pathlib import Path
from typing import Any

import msgspec

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Output
from runyard.agents.declared.documents import Documents
from runyard.agents.declared.kinds import agent
from runyard.errors import InvalidTask

_DATA = msgspec.json.decode(Path(__file__).with_name("research.json").read_bytes())
_YEARS = {paper["id"]: paper["year"] for paper in _DATA["papers"]}
_MOST = 20

papers = Documents("papers", [{key: paper[key] for key in ("id", "title", "text")} for paper in _DATA["papers"]])
guidelines = Documents("guidelines", _DATA["guidelines"])

# Words that a text must not contain, by the reason to refuse it.
_RULES = {
    "PATIENT_NAME": ("patient name:", "mr.", "mrs."),
    "RECORD_NUMBER": ("mrn", "record number"),
    "DATE_OF_BIRTH": ("date of birth", "dob"),
}


@agent(task_type="LIT_RETRIEVAL")
async def literature(ctx: Context) -> Output:
    """Find papers for a query."""
    hits = await _search(ctx, "papers", _limit(ctx, "max_results", 5))
    found = [
        {"id": hit["id"], "title": hit["title"], "year": _YEARS.get(hit["id"]), "score": hit["score"]} for hit in hits
    ]
    warnings = [] if found else ["NO_RESULTS"]
    return Output(outputs={"papers": found, "count": len(found), "warnings": warnings})


@agent(task_type="RAG_RETRIEVE")
async def retrieval(ctx: Context) -> Output:
    """Find passages of the guidelines that support an answer to a query."""
    limit = _limit(ctx, "topK", 5)
    hits = await _search(ctx, "guidelines", limit)
    chunks = [
        {"chunk_id": f"{hit['id']}#1", "doc_id": hit["id"], "text": hit["text"], "score": hit["score"]} for hit in hits
    ]
    grounding = {
        "chunks": chunks,
        "citations": [hit["id"] for hit in hits],
        "retrieval_trace": {"stages": ["full-text"], "bm25_k": limit},
        "sources": [{"doc_id": hit["id"], "title": hit["title"]} for hit in hits],
    }
    return Output(outputs={"count": len(chunks), "grounding": grounding})


@agent(task_type="POLICY_REVIEW")
async def policy(ctx: Context) -> Output:
    """Decide whether a text may be used. Refuse a text that seems to identify a person."""
    text = ctx.inputs.get("text", "")
    if not isinstance(text, str):
        raise InvalidTask("text")
    said = text.lower()
    reasons = [rule for rule, words in _RULES.items() if any(word in said for word in words)]
    return Output(outputs={"allowed": not reasons, "reasons": reasons})


async def _search(ctx: Context, collection: str, limit: int) -> list[dict[str, Any]]:
    query = ctx.inputs.get("query")
    if not isinstance(query, str) or not query.strip():
        raise InvalidTask("query")

    async def search() -> list[dict[str, Any]]:
        hits = await ctx.search(collection, query, limit)
        return [{"id": hit.id, "title": hit.title, "text": hit.text, "score": hit.score} for hit in hits]

    found: list[dict[str, Any]] = await ctx.step("search", search)
    return found


def _limit(ctx: Context, name: str, default: int) -> int:
    given = ctx.inputs.get(name, default)
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= _MOST:
        raise InvalidTask(name)
    return given
