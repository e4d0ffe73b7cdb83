"""A thread that outgrows the history of its agent, over HTTP and on every store: the model gets a summary of the older
runs, also in a fork."""

from collections.abc import Mapping, Sequence
from typing import Any

import runyard
from tests.support.in_process.live_server import Serve, Server

FACT = "The price is 4711 EUR."


def answer(conversation: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    knows = any(FACT in str(message["content"]) for message in conversation)
    if "memory of a conversation" in str(conversation[0]["content"]):
        return {"text": FACT if knows else "Nothing.", "usage": {"output_tokens": 7, "usd": 0.001}}
    if conversation[-1]["content"] != "What is the price?":
        return {"text": "Noted."}
    return {"text": FACT if knows else "I do not know."}


def app(**options: Any) -> runyard.App:
    return runyard.App({"a": runyard.Agent("a", model="scripted", turns=answer, **options)}, default="a")


async def said(server: Server, thread_id: str, text: str) -> tuple[str, list[dict[str, Any]]]:
    run_id = await server.post("a", text, thread_id)
    await server.ended(run_id)
    log = await server.log(run_id)
    return next(entry["data"]["text"] for entry in log if entry["type"] == "run.output"), log


async def test_an_agreement_outlives_the_history_also_in_a_fork(serve: Serve) -> None:
    server = await serve(app(history=2))
    thread_id = await server.thread()
    await said(server, thread_id, FACT)
    logs = [(await said(server, thread_id, f"Message {n}."))[1] for n in range(7)]
    steps = [entry["data"] for log in logs for entry in log if entry["type"] == "step.finished"]
    summaries = [step for step in steps if step["name"] == "summarize"]
    assert 2 <= len(summaries) < len(logs)
    assert {step["result"]["text"] for step in summaries} == {FACT}
    with_summary = next(log for log in logs if any(entry.get("name") == "summarize" for entry in log))
    assert with_summary[-1]["data"]["usage"] == {"output_tokens": 7, "usd": 0.001}

    fork = await server.http.post(f"/api/threads/{thread_id}/fork", json={})
    assert fork.status_code == 201, fork.text
    assert (await said(server, fork.json()["thread_id"], "What is the price?"))[0] == FACT


async def test_an_agent_that_drops_old_runs_does_not_know_it(serve: Serve) -> None:
    server = await serve(app(history=2, context="drop"))
    thread_id = await server.thread()
    for text in (FACT, "One.", "Two."):
        await said(server, thread_id, text)
    assert (await said(server, thread_id, "What is the price?"))[0] == "I do not know."
