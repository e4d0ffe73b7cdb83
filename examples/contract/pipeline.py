"""A pipeline over three services: retrieve, screen, extract, synthesize. A plan, so a crash repeats no finished step.

Start the services of this folder on their ports, then

    runyard dev examples/contract/pipeline.py --port 8010
    curl http://127.0.0.1:8010/agents/run/sync -H 'Content-Type: application/json' -d '{
        "request_id": "try-1", "task_type": "EVIDENCE_SYNTHESIS", "inputs": {"query": "aspirin stroke"}}'

Every service gets the labels of the request (`request_id`, `workflow_id`, `mode`, ...) unchanged, and the rest of its
time. LITERATURE_URL, RETRIEVAL_URL and POLICY_URL are the addresses of the services.
"""

import os
from typing import Any

import runyard

HERE = ["127.0.0.1", "::1"]  # services on this machine; without it only public addresses are called
LIMIT = 30.0


def service(name: str, port: int, task_type: str) -> runyard.Agent:
    url = os.environ.get(f"{name.upper()}_URL", f"http://127.0.0.1:{port}")
    return runyard.remote(name, url=url, task_type=task_type, allow=HERE, effects="none")


literature = service("literature", 8001, "LIT_RETRIEVAL")
retrieval = service("retrieval", 8002, "RAG_RETRIEVE")
policy = service("policy", 8003, "POLICY_REVIEW")


async def retrieve(ctx: runyard.NodeContext) -> Any:
    found = await ctx.call_agent(literature, query=ctx.inputs.get("query", ""))
    return found["papers"]


async def screen(ctx: runyard.NodeContext) -> Any:
    """Only papers whose title may be used."""
    kept = []
    for paper in ctx.results["Retrieve"]:
        review = await ctx.call_agent(policy, text=paper["title"])
        if review["allowed"]:
            kept.append(paper)
    return kept


async def extract(ctx: runyard.NodeContext) -> Any:
    """Return the passages of the guidelines about the query."""
    found = await ctx.call_agent(retrieval, query=ctx.inputs.get("query", ""), topK=5)
    return found["grounding"]


async def synthesize(ctx: runyard.NodeContext) -> Any:
    chunks = ctx.results["Extract"]["chunks"]
    lines = [f"{chunk['text']} [{chunk['doc_id']}]" for chunk in chunks]
    return {
        "summary": " ".join(lines),
        "papers": [paper["id"] for paper in ctx.results["Screen"]],
        "citations": ctx.results["Extract"]["citations"],
    }


pipeline = runyard.plan(
    "evidence",
    [
        runyard.Node("Retrieve", retrieve, timeout=LIMIT),
        runyard.Node("Screen", screen, timeout=LIMIT),
        runyard.Node("Extract", extract, timeout=LIMIT),
        runyard.Node("Synthesize", synthesize),
    ],
    task_type="EVIDENCE_SYNTHESIS",
)

default = pipeline
