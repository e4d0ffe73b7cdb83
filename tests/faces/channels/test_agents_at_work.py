"""Model agents in their mailboxes: their prompt, their six tools, and that only tool calls post messages."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from runyard.agents.channels.prompt import HOW_TO_SPEAK, SILENCE
from runyard.agents.channels.tools import channel_tools
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.loading import App
from runyard.domain.runs.run import Run
from runyard.engine.channels.agent_actions import AgentActions
from runyard.telemetry.spans import Recorder
from tests.faces.channels.agents_on_demand import ChannelServer, done
from tests.faces.channels.conftest import AT_ONCE
from tests.support.in_process.live_server import Serve

NOTHING = {"calls": [{"tool": "do_nothing"}]}
DONE = {"text": "raw words"}


def say(text: str, **more: Any) -> dict[str, Any]:
    return {"calls": [{"tool": "send_message", "input": {"text": text, **more}}]}


class Thinkers(ChannelServer):
    """Kevin and Oscar have a scripted model, which records its input."""

    def __init__(self, turns: Mapping[str, Sequence[dict[str, Any]]], **limits: Any) -> None:
        super().__init__()
        self.turns = turns
        self.limits = limits
        self.asked: list[Sequence[Mapping[str, Any]]] = []

    def app(self) -> App:
        names = ("kevin", "oscar")
        return App({name: self._thinker(name) for name in names}, {}, "kevin")

    def _thinker(self, name: str) -> Agent:
        def think(conversation: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
            self.asked.append(list(conversation))
            spoken = sum(message["role"] == "assistant" for message in conversation)
            turns: Sequence[dict[str, Any]] = self.turns.get(name, [NOTHING])
            turn: dict[str, Any] = turns[min(spoken, len(turns) - 1)]
            return turn

        return Agent(name, model="scripted", turns=think, instructions=f"You are {name}.\n  ", **self.limits)

    async def run(self, agent: str = "kevin") -> Run:
        assert self.server is not None
        return (await self.server.store.list_runs("local", {"agent": agent}, None, 9))[0]

    async def said(self, channel: str) -> list[tuple[str, str]]:
        page = (await self.http.get("/api/messages", params={"channelId": channel})).json()["messages"]
        return [(message["userId"], message["text"]) for message in page]


async def thinkers(serve: Serve, turns: Mapping[str, Sequence[dict[str, Any]]], **limits: Any) -> Thinkers:
    made = Thinkers(turns, **limits)
    made.server = await serve(made.app(), **AT_ONCE)
    return made


async def talked(served: Thinkers, *texts: str) -> str:
    """Say this to Kevin in a channel, one after another, and wait until he is done with all of it."""
    channel = await served.channel("kevin", name="general")
    watch = await served.watch(0)
    for text in texts:
        await served.say(channel, text)
    happened = await done(watch, len(texts))
    await watch.close()
    assert happened == [("agent_typing", "kevin"), ("agent_done", "kevin")] * len(texts)
    return channel


@pytest.mark.req("S3.1", "S3.2", "S3.3", "S3.6", "S3.14", "S3.15", "S3.17", "S3.22")
async def test_an_agent_gets_its_persona_and_speaks_by_its_tools_alone(serve: Serve) -> None:
    served = await thinkers(serve, {"kevin": [{"text": "hm", **say("I like lunch.")}, DONE]})
    await served.http.put("/api/agents/kevin/memory/mood", json={"content": "hungry"})
    channel = await talked(served, "lunch?")
    assert await served.said(channel) == [("local", "lunch?"), ("kevin", "I like lunch.")]
    system, question = (message["content"] for message in served.asked[0])
    assert question == "lunch?"
    assert system.startswith("You are kevin.\n  \n\n### mood\nhungry\n\n## Recent messages\nIn #general")
    assert system.endswith(f"local: lunch?\n\n{HOW_TO_SPEAK}\n\n{SILENCE}")
    run = await served.run()
    assert (run.status.value, run.stop_reason) == ("done", "end_turn")


@pytest.mark.req("S3.18")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_an_agent_that_does_nothing_is_done_and_is_not_asked_again(serve: Serve) -> None:
    served = await thinkers(serve, {"kevin": [NOTHING]}, max_turns=1)
    channel = await talked(served, "lunch?")
    assert await served.said(channel) == [("local", "lunch?")]
    run = await served.run()
    assert (run.status.value, run.stop_reason, len(served.asked)) == ("done", "end_turn", 1)


@pytest.mark.req("S3.13", "S3.17", "S3.19", "S3.20")
@pytest.mark.parametrize("backend", ["sqlite"])
@pytest.mark.parametrize(
    ("turns", "limits", "why", "asked"),
    [
        ([DONE], {}, "no_tool_call", 1),
        ([{"calls": [{"tool": "shout"}]}, DONE], {}, "no_tool_call", 2),
        ([{"calls": [{"tool": "shout"}]}], {"max_turns": 1}, "invalid_tool_call", 1),
        ([say("one"), DONE], {"max_turns": 2}, "end_turn", 2),
        ([say("on and on")], {"max_turns": 2}, "max_steps", 2),
        ([say("on and on")], {}, "max_steps", 5),
        ([{**say("dear"), "usage": {"usd": 0.06}}], {}, "max_tokens_exceeded", 2),
    ],
)
async def test_why_it_stopped(
    serve: Serve, turns: list[dict[str, Any]], limits: dict[str, Any], why: str, asked: int
) -> None:
    served = await thinkers(serve, {"kevin": turns}, **limits)
    channel = await talked(served, "well?")
    run = await served.run()
    assert (run.status.value, run.stop_reason, len(served.asked)) == ("done", why, asked)
    assert "raw words" not in str(await served.said(channel))


@pytest.mark.req("S3.21", "S3.42", "S3.22")
async def test_a_model_that_fails_harms_only_its_own_run(serve: Serve) -> None:
    served = await thinkers(serve, {"kevin": [{"error": "model_refused"}]})
    await talked(served, "one", "two")
    run = await served.run()
    assert (run.status.value, run.stop_reason, run.error_code) == ("error", "error", "model_refused")
    assert len(served.asked) == 2


@pytest.mark.req("S3.40")
async def test_a_call_that_is_repeated_happens_once_and_memory_is_ones_own(serve: Serve) -> None:
    served = await thinkers(serve, {"kevin": [NOTHING]})
    channel = await talked(served, "hello")
    assert served.server is not None
    engine, run = served.server.process.engine, await served.run()
    tools = {tool.name: tool for tool in channel_tools(AgentActions(run, engine.conversations, engine.agent_directory))}
    assert [tool.effects for tool in tools.values()] == ["idempotent"] * 6

    async def call(name: str, call_id: str = "c1", **given: Any) -> Any:
        return await tools[name].run(given, None, f"{run.id}:{call_id}")

    for _ in range(2):
        sent = await call("send_message", text="once", conversationId=channel)
        kept = await call("store_memory", content="Oscar counts beans", tags=["beans"])
        assert await call("react_to_message", messageId=sent["messageId"], emoji="ok") == {"success": True}
        assert await call("update_memory", label="oscar", content="dry") == {"success": True}
    assert await served.said(channel) == [("local", "hello"), ("kevin", "once")]
    found = (await call("search_memory", query="beans"))["passages"]
    assert [(passage["id"], passage["tags"]) for passage in found] == [(kept["passageId"], ["beans"])]
    assert await call("do_nothing") == {"action": "none"}
    of_oscar = AgentActions(Run(**{**_fields(run), "agent": "oscar"}), engine.conversations, engine.agent_directory)
    assert await of_oscar.search_memory("beans") == []
    assert (await served.http.get("/api/agents/oscar/memory")).json() == {"blocks": []}


@pytest.mark.req("S3.40")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_the_six_tools_are_an_mcp_server_inside_of_the_process(serve: Serve) -> None:
    from mcp import Client

    from runyard.agents.mcp.serving import USE_ID, mcp_server

    served = await thinkers(serve, {"kevin": [NOTHING]})
    channel = await talked(served, "hello")
    assert served.server is not None
    engine, run = served.server.process.engine, await served.run()

    async def call(tool: Any, given: dict[str, Any], use_id: str | None) -> Any:
        return await tool.run(given, None, f"{run.id}:{use_id}")

    tools = channel_tools(AgentActions(run, engine.conversations, engine.agent_directory))
    server = mcp_server("office", tools, call)
    async with Client(server) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        meta: Any = {USE_ID: "toolu_1"}
        for _ in range(2):
            sent = await client.call_tool("send_message", {"text": "by mcp"}, meta=meta)
            assert not sent.is_error
        wrong = await client.call_tool("send_message", {"text": "x", "conversationId": "nowhere"})
    assert listed == [
        "send_message", "react_to_message", "do_nothing", "update_memory", "search_memory", "store_memory",
    ]  # fmt: skip
    assert wrong.is_error
    assert await served.said(channel) == [("local", "hello"), ("kevin", "by mcp")]


def _fields(run: Run) -> dict[str, Any]:
    return {name: getattr(run, name) for name in run.__struct_fields__}


@pytest.mark.req("S3.28", "S3.30", "S3.31", "S3.32", "S3.34", "S3.12")
async def test_steps_and_messages_of_a_run_are_on_record(serve: Serve) -> None:
    usage = {"usage": {"input_tokens": 5, "output_tokens": 2, "usd": 0.01}}
    first = {"text": "hm", **say("hi"), **usage}
    served = await thinkers(serve, {"kevin": [first, {**NOTHING, **usage}]})
    channel = await talked(served, "hello")
    run = (await served.http.get("/api/agents/kevin/runs")).json()["runs"][0]
    assert (run["status"], run["stopReason"], run["channelId"]) == ("completed", "end_turn", channel)
    assert run["tokenUsage"] == {"input_tokens": 10, "output_tokens": 4}
    record = (await served.http.get(f"/api/agents/kevin/runs/{run['id']}")).json()
    assert [(s["stepNumber"], s["status"], s["modelId"], s["tokenUsage"]["input_tokens"]) for s in record["steps"]] == [
        (1, "completed", "scripted", 5),
        (2, "completed", "scripted", 5),
    ]
    one, two = (step["id"] for step in record["steps"])
    assert [(m["messageType"], m["toolName"], m["stepId"]) for m in record["messages"]] == [
        ("system_message", None, one),
        ("user_message", None, one),
        ("assistant_message", None, one),
        ("tool_call_message", "send_message", one),
        ("tool_return_message", "send_message", one),
        ("tool_call_message", "do_nothing", two),
        ("tool_return_message", "do_nothing", two),
    ]
    assert [m["content"] for m in record["messages"][1:3]] == ["hello", "hm"]
    assert record["messages"][3]["toolInput"] == {"text": "hi"}
    [day] = (await served.http.get("/api/agents/kevin/usage")).json()["days"]
    assert (day["runs"], day["steps"], day["usd"], day["tokenUsage"]["output_tokens"]) == (1, 2, 0.02, 4)
    assert (await served.http.get(f"/api/agents/oscar/runs/{run['id']}")).status_code == 404


@pytest.mark.req("S3.30", "S3.33")
async def test_a_step_that_failed_is_on_record_and_goes_with_its_run(serve: Serve) -> None:
    served = await thinkers(serve, {"kevin": [{"error": "model_timeout"}]})
    channel = await talked(served, "hello")
    assert served.server is not None
    run = await served.run()
    record = (await served.http.get(f"/api/agents/kevin/runs/{run.id}")).json()
    assert (record["status"], [step["status"] for step in record["steps"]]) == ("failed", ["failed"])
    assert (await served.http.delete(f"/api/channels/{channel}")).status_code == 204
    kept = await served.server.store.read_ledger(run.id)
    assert (list(kept.steps), list(kept.messages)) == ([], [])


@pytest.mark.req("S3.35", "S3.36", "S3.37", "S3.38", "S3.39")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_run_leaves_a_trace_without_content(serve: Serve) -> None:
    served = await thinkers(serve, {"kevin": [{**say("secret"), "text": "secret"}, NOTHING]})
    await talked(served, "secret")
    assert served.server is not None
    recorder = served.server.process.tracer.exporter
    assert isinstance(recorder, Recorder)
    run = await served.run()
    named = [(span.name, span.parent.name if span.parent else None) for span in recorder.spans]
    assert [pair for pair in named if pair[0] != "mailbox.dequeue"] == [
        ("agents.resolve", None),
        ("mailbox.enqueue", None),
        ("agents.resolve", None),
        ("mailbox.enqueue", None),
        ("agent.run", None),
        ("agent.prompt", "agent.run"),
        ("agent.step", "agent.run"),
        ("agent.tool", "agent.step"),
        ("agents.resolve", "agent.run"),
        ("mailbox.enqueue", "agent.run"),
        ("agent.step", "agent.run"),
        ("agent.tool", "agent.step"),
    ]
    assert named.count(("mailbox.dequeue", None)) == 1
    assert {span.trace for span in recorder.spans if span.name.startswith("agent.")} == {run.id}
    in_its_trace = [span.name for span in recorder.spans if span.trace == run.id and span.parent is None]
    assert sorted(in_its_trace) == ["agent.run", "agents.resolve", "mailbox.dequeue", "mailbox.enqueue"]
    assert set(recorder.log_traces) == {run.id.replace("-", "")}, "every line is in the trace of its run"
    assert all(span.ended and span.ended >= span.began and span.outcome == "ok" for span in recorder.spans)
    assert recorder.counts == {
        ("agent.invocations", "kevin"): 1,
        ("agent.tools", "kevin", "send_message"): 1,
        ("agent.tools", "kevin", "do_nothing"): 1,
    }
    assert [(name, said["tool"]) for name, said in recorder.logs] == [
        ("agent.decided", "send_message"),
        ("agent.decided", "do_nothing"),
    ]
    assert "secret" not in str([span.attributes for span in recorder.spans]) + str(recorder.logs)


@pytest.mark.req("S3.38")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_the_lines_of_a_run_name_its_trace(serve: Serve) -> None:
    with capture_logs([structlog.contextvars.merge_contextvars]) as lines:
        served = await thinkers(serve, {"kevin": [say("hi"), NOTHING]})
        await talked(served, "hello")
    run = await served.run()
    decided = [line for line in lines if line["event"] == "agent.decided"]
    assert [(line["run_id"], line["trace_id"]) for line in decided] == [(run.id, run.id.replace("-", ""))] * 2


@pytest.mark.req("S3.37")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_every_run_that_a_message_causes_has_its_resolve_and_enqueue_in_its_trace(serve: Serve) -> None:
    served = await thinkers(serve, {"kevin": [NOTHING], "oscar": [NOTHING]})
    channel = await served.channel("kevin", "oscar")
    watch = await served.watch(0)
    await served.say(channel, "hello")
    await done(watch, 2)
    await watch.close()
    assert served.server is not None
    recorder = served.server.process.tracer.exporter
    assert isinstance(recorder, Recorder)
    runs = [span.trace for span in recorder.spans if span.name == "agent.run"]
    assert len(set(runs)) == 2
    for run_id in runs:
        names = [span.name for span in recorder.spans if span.trace == run_id]
        assert names.count("agents.resolve") == names.count("mailbox.enqueue") == 1


@pytest.mark.req("S3.39")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_errors_are_counted_by_their_codes(serve: Serve) -> None:
    served = await thinkers(serve, {"kevin": [{"error": "model_timeout"}]})
    await talked(served, "hello")
    assert served.server is not None
    recorder = served.server.process.tracer.exporter
    assert isinstance(recorder, Recorder)
    assert recorder.counts[("agent.errors", "kevin", "model_timeout")] == 1
    [root] = [span for span in recorder.spans if span.name == "agent.run"]
    assert root.outcome == "model_timeout"


@pytest.mark.req("S3.38", "S3.39")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_a_name_that_a_model_made_up_is_content(serve: Serve) -> None:
    served = await thinkers(serve, {"kevin": [{"calls": [{"tool": "a_secret"}]}, NOTHING]})
    await talked(served, "hello")
    assert served.server is not None
    recorder = served.server.process.tracer.exporter
    assert isinstance(recorder, Recorder)
    assert recorder.counts[("agent.tools", "kevin", "unknown")] == 1
    told = [span.attributes for span in recorder.spans], recorder.counts, recorder.logs
    assert "a_secret" not in str(told)
