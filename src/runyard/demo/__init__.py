"""The demo app: `runyard dev` serves it if no app is given. It needs no key and no network.

`cv-screener` answers questions about thirty invented CVs with a search tool and names its sources. Use `tokens` and
`slow` to try speed, resume and cancel by hand. `device` is a plan of five nodes on a fake device. `assistant` runs on a
scripted model and requests approval before it pays a refund or runs code. `literature`, `retrieval` and `policy` are
agents of the agent contract: `runyard check http://127.0.0.1:8000=LIT_RETRIEVAL`.
"""

import asyncio
import re

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Output
from runyard.agents.declared.documents import Documents
from runyard.agents.declared.kinds import agent, scripted
from runyard.agents.tools.tool import tool
from runyard.demo.assistant import assistant
from runyard.demo.candidates import CVS, Cv, keywords, reasons
from runyard.demo.fake_device import device
from runyard.demo.research import guidelines, literature, papers, policy, retrieval

__all__ = [
    "assistant",
    "cv_screener",
    "cvs",
    "device",
    "guidelines",
    "literature",
    "papers",
    "policy",
    "retrieval",
    "slow",
    "tokens",
]
_NAMED = 3

cvs = Documents("cvs", [cv.document() for cv in CVS.values()])


@tool(effects="none")
async def search_cvs(ctx: Context, query: str) -> dict[str, list[dict[str, str]]]:
    """Search the CVs for any word of the query. The best matches come first."""
    hits = await ctx.search("cvs", query, limit=_NAMED)
    return {"hits": [{"id": hit.id, "title": hit.title} for hit in hits]}


@agent(
    name="cv-screener",
    tools=[search_cvs],
    samples=["Who knows Postgres and Kubernetes?", "Who speaks Portuguese?", "Who works as a data engineer?"],
)
async def cv_screener(ctx: Context) -> Output:
    """Name the candidates that match the question, with reasons."""
    wanted = keywords(ctx.message.text)
    found = await ctx.call(search_cvs, query=" ".join(wanted)) if wanted else {"hits": []}
    best = [CVS[hit["id"]] for hit in found["hits"] if hit["id"] in CVS]
    text = _answer(best, wanted)
    for word in re.findall(r"\S+\s*", text):
        await ctx.token(word)
        await asyncio.sleep(0.01)
    return Output(text, sources=[cv.id for cv in best])


def _answer(best: list[Cv], wanted: list[str]) -> str:
    if not best:
        return (
            "I am sorry, none of the CVs I have matches that. "
            "Try a skill, a title, a city or a language, such as: who knows Postgres and Kubernetes?"
        )
    count = "One candidate fits" if len(best) == 1 else f"{len(best)} candidates fit"
    lines = [f"{count} best:"]
    lines += [
        f"{place}. {cv.name}, {cv.title} in {cv.city}, {cv.years} years of experience: {reasons(cv, wanted)}."
        for place, cv in enumerate(best, start=1)
    ]
    return "\n".join(lines)


tokens = scripted(
    "tokens",
    [{"tokens": [f"t{n} " for n in range(200)]}],
    description="Writes two hundred tokens as fast as it can.",
    samples=["As fast as you can"],
)

slow = scripted(
    "slow",
    [
        {"tool": "look_around", "input": {"where": "everywhere"}, "output": {"found": 60}, "ms": 500},
        {"tokens": [f"word{n} " for n in range(1, 61)], "every_ms": 50},
    ],
    description="Takes its time: stop it, or reload the page.",
    samples=["Take your time"],
)

default = cv_screener
