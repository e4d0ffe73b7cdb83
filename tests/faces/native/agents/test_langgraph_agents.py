"""Graphs of LangGraph over a real server: their checkpoints are in the log, their interrupts are questions, and their
stream is that of any other agent."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.graph import START, MessagesState, StateGraph

import runyard
from runyard.agents.kinds.langgraph.checkpointer import CHECKPOINT, RunCheckpointer
from runyard.domain.events import StepFinished
from runyard.domain.state.fold import fold
from runyard.encryption.cipher import make
from runyard.store import Store
from tests.support.apps.graph_agents import (
    ANSWERS,
    TRIP,
    in_our_loop,
    pay_tool,
    react,
    trip,
    without_numbers,
)
from tests.support.in_process.live_server import Serve, Server

CAPABILITIES = ("put", "put_writes", "get_tuple", "list", "delete_thread")


class LogOf:
    """The log of a run as the journal of a checkpointer, and as it is in the database."""

    is_closed = False

    def __init__(self, context: runyard.Context, store: Store) -> None:
        self.run_id = context.run_id
        self._execution = context._execution
        self._store = store

    def record(self, key: str, result: Any) -> None:
        self._execution.emit(StepFinished(key, CHECKPOINT, result=result))

    async def commit(self) -> None:
        await self._execution.commit()

    async def read_back(self) -> RunCheckpointer:
        """A checkpointer that knows only what the database has."""
        await self.commit()
        made = RunCheckpointer(self, self.run_id)
        made.replay(fold(await self._store.read(self.run_id, 0, 10_000)).steps)
        return made


class StoredCheckpoints(RunCheckpointer):
    """A checkpointer whose every read comes from the database, as in another process."""

    def __init__(self, log: LogOf) -> None:
        super().__init__(log, log.run_id)
        self._log = log

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await (await self._log.read_back()).aget_tuple(config)

    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        async for found in (await self._log.read_back()).alist(config, **options):
            yield found


async def test_the_checkpointer_conforms_to_the_contract_of_langgraph(serve: Serve) -> None:
    """The suite of LangGraph itself; each read is from the log in the database."""
    stores: list[Store] = []
    failures: dict[str, Any] = {}

    @runyard.agent
    async def conformance(ctx: runyard.Context) -> None:
        log = LogOf(ctx, stores[0])

        @checkpointer_test(name="RunCheckpointer")
        async def registered() -> AsyncIterator[StoredCheckpoints]:
            yield StoredCheckpoints(log)

        name = ctx.message.text
        found = (await validate(registered, capabilities={name})).results[name]
        failures[name] = found.failures if found.tests_passed else "no test ran"

    server = await serve(runyard.App({"conformance": conformance}, default="conformance"))
    stores.append(server.store)
    for capability in CAPABILITIES:
        await server.ended(await server.post("conformance", capability))
    assert failures == {capability: [] for capability in CAPABILITIES}


async def test_interrupts_are_questions_with_a_schema(serve: Serve, tmp_path: Path, backend: str) -> None:
    graph = runyard.langgraph("trip", trip(lambda *_: None))
    server = await serve(runyard.App({"trip": graph}, default="trip"), encryption_keys=make("k1"))
    run_id = await server.post("trip", "A secret trip")
    await server.waiting(run_id)
    both = await questions(server, run_id)
    assert set(both) == {"Which row?", "Which city?"}
    assert both["Which row?"]["answer_schema"] == {"type": "integer"}
    wrong = await server.http.post(f"/api/waits/{both['Which row?']['wait_id']}", json={"value": "seven"})
    assert wrong.status_code == 422
    await answer(server, both)
    for times, prompt in enumerate(("Correct?", "When?"), 2):
        await eventually_asked(server, run_id, prompt, times)
        await answer(server, await questions(server, run_id))
    assert (await server.ended(run_id)).frames[-2].json["text"] == TRIP
    if backend == "sqlite":
        stored = b"".join(file.read_bytes() for file in tmp_path.glob("runyard.db*"))  # noqa: ASYNC240
        assert b"secret trip" not in stored
        assert b"Which row" not in stored


async def questions(server: Server, run_id: str) -> dict[str, dict[str, Any]]:
    found = (await server.http.get("/api/waits", params={"run_id": run_id})).json()["waits"]
    return {each["prompt"]: each for each in found}


async def answer(server: Server, asked: dict[str, dict[str, Any]]) -> None:
    for prompt, each in asked.items():
        reply = await server.http.post(f"/api/waits/{each['wait_id']}", json={"value": ANSWERS[prompt]})
        assert reply.status_code == 200, reply.text


async def eventually_asked(server: Server, run_id: str, prompt: str, times: int) -> None:
    stream = await server.stream(f"/api/runs/{run_id}/log")
    await stream.until(lambda: any(prompt in str(frame.json["data"].get("prompt")) for frame in stream.frames))
    await stream.close()


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_cancel_stops_the_graph(serve: Serve) -> None:
    began, stopped = asyncio.Event(), asyncio.Event()

    async def stand(state: MessagesState) -> dict[str, Any]:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return {"messages": [AIMessage("Through.")]}

    graph = StateGraph(MessagesState).add_node(stand).add_edge(START, "stand").compile()
    server = await serve(runyard.App({"gate": runyard.langgraph("gate", graph)}, default="gate"))
    run_id = await server.post("gate")
    await began.wait()
    assert (await server.http.post(f"/api/runs/{run_id}/cancel")).status_code == 200
    log = await server.log(run_id)
    assert stopped.is_set()
    assert log[-1]["data"]["status"] == "canceled"


async def test_a_fork_continues_from_the_checkpoint_of_any_event(serve: Serve) -> None:
    """A retry of the copy continues there with another answer. A message starts from the values that the copy has."""
    paid: list[str] = []
    agent = runyard.langgraph("trip", trip(lambda what, *_: paid.append(what)))
    server = await serve(runyard.App({"trip": agent}, default="trip"))
    thread_id = await server.thread()
    run_id = await server.post("trip", "Book it.", thread_id)
    await server.waiting(run_id)
    log = await server.store.read(run_id, 0, 1000)
    at = next(event.seq for event in reversed(log) if event.type == "wait.requested")
    made = await server.http.post(f"/api/threads/{thread_id}/fork", json={"run_id": run_id, "at_seq": at})
    fork = made.json()["thread_id"]
    [copy] = (await server.http.get("/api/runs", params={"thread_id": fork})).json()["runs"]
    retried = await server.http.post(f"/api/runs/{copy['run_id']}/retry")
    again = retried.json()["run_id"]
    await server.waiting(again)
    asked = await questions(server, again)
    assert sorted(asked) == ["Which city?", "Which row?"], "the copy's open questions are asked again"
    for prompt, value in (("Which row?", 9), ("Which city?", "Rome")):
        assert (await server.http.post(f"/api/waits/{asked[prompt]['wait_id']}", json={"value": value})).is_success
    await eventually_asked(server, again, "Correct?", 1)
    await answer(server, await questions(server, again))
    await eventually_asked(server, again, "When?", 1)
    await answer(server, await questions(server, again))
    ended = await server.log(again)
    assert ended[-2]["data"]["text"] == "Row 9, Rome.\n\nChecked: True, soon."
    assert paid.count("pay") == 1, "what was done before the fork is not done again"
    assert (await server.store.read(run_id, 0, 1000)) == log, "the run that it was taken from is not touched"


@pytest.mark.req("S0.43")
async def test_the_stream_of_a_graph_has_the_bytes_of_our_own_agent(serve: Serve) -> None:
    """A model with a tool, run by Runyard's own loop and by LangGraph: clients of S0 cannot tell who ran it."""
    pay = pay_tool(lambda *_: None)
    graph = runyard.langgraph("graph", react(pay))
    server = await serve(runyard.App({"ours": in_our_loop("ours", pay), "graph": graph}, default="ours"))
    streams = [without_numbers(bytes((await server.ended(await server.post(name))).body)) for name in ("ours", "graph")]
    assert streams[0] == streams[1]
    assert streams[0].count(b"event: token") == 4
    assert streams[0].count(b"event: tool_end") == 1
