"""LangGraph agents: messages in and out, text, tools of Runyard in nodes, what parks a run, and what redaction sees."""

import asyncio
from typing import Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import RetryPolicy, interrupt

import runyard
from runyard.agents.kinds.langgraph.runner import run_langgraph
from runyard.domain.events import StepFinished
from runyard.domain.redaction.redactor import Redactor
from runyard.testing import Decision, run_agent
from tests.agents.fake_execution import FakeExecution, log_with_answer, log_with_decision, run_until_parked
from tests.support.apps.graph_agents import pay_tool, react
from tests.support.fakes.fake_chat_model import FakeChatModel

SECRET = "ada@example.org"


def one_node(node: Any, state: Any = MessagesState) -> Any:
    return StateGraph(state).add_node("node", node).add_edge(START, "node").compile()


def says(*text: str, tags: list[str] | None = None, seen: list[list[BaseMessage]] | None = None) -> Any:
    """A node that asks a fake model."""
    told = [] if seen is None else seen
    model = FakeChatModel(turns=[{"text": list(text)}], asked=told.append, tags=tags)

    async def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    return node


async def test_the_graph_gets_the_history_and_the_message_and_its_tokens_are_streamed() -> None:
    seen: list[list[BaseMessage]] = []
    agent = runyard.langgraph("a", one_node(says("One ", "two.", seen=seen)))
    result = await run_agent(agent, "Count.", history=[("Hi", "Hello.")])
    assert [(type(each), each.text) for each in seen[-1]] == [
        (HumanMessage, "Hi"),
        (AIMessage, "Hello."),
        (HumanMessage, "Count."),
    ]
    assert [event.payload.text for event in result.events if event.type == "model.token"] == ["One ", "two."]  # type: ignore[union-attr]
    assert (result.text, result.usage.output_tokens) == ("One two.", 1)


async def test_only_the_text_of_chosen_nodes_is_shown_and_the_last_message_always() -> None:
    turns = [{"text": [f"{n}"]} for n in range(3)]

    async def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await FakeChatModel(turns=turns).ainvoke(state["messages"])]}

    shown = StateGraph(MessagesState).add_node("a", node).add_node("b", node).add_edge(START, "a").add_edge("a", "b")
    assert (await run_agent(runyard.langgraph("a", shown.compile(), nodes=["b"]), "Hi")).text == "1"
    assert (await run_agent(runyard.langgraph("a", shown.compile()), "Hi")).text == "0\n\n1"
    quiet = StateGraph(MessagesState).add_node("grade", says("ok", tags=["nostream"]))
    quiet.add_node("final", lambda state: {"messages": [("ai", "Final.")]})
    result = await run_agent(
        runyard.langgraph("a", quiet.add_edge(START, "grade").add_edge("grade", "final").compile()), "Hi"
    )
    assert result.text == "Final."


class Rated(MessagesState):
    score: float
    topic: str


async def test_other_values_of_the_state_are_inputs_and_outputs() -> None:
    async def node(state: Rated) -> dict[str, Any]:
        return {"score": 0.5, "messages": [AIMessage(f"About {state['topic']}.")]}

    result = await run_agent(runyard.langgraph("a", one_node(node, Rated)), inputs={"topic": "tea"})
    assert (result.text, result.outputs) == ("About tea.", {"score": 0.5, "topic": "tea"})

    class Silent(TypedDict):
        topic: str

    refused = await run_agent(runyard.langgraph("b", one_node(lambda state: {}, Silent)), "Hi")
    assert "takes no messages" in str(refused.error and refused.error.message)


async def test_nodes_in_threads_call_tools_and_stream() -> None:
    """A plain function is a node in a thread: its model, its tool and its checkpoints work from there."""
    called: list[str] = []
    pay = runyard.langchain_tool(pay_tool(lambda _, key: called.append(key)))

    def inner(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"Paid: {pay.invoke({'what': 'tea'})['done']}.")]}

    def outer(state: MessagesState) -> dict[str, Any]:
        return {"messages": one_node(inner).invoke({"messages": state["messages"]})["messages"][-1:]}

    result = await run_agent(runyard.langgraph("a", one_node(outer)), "Hi")
    assert (result.status, result.text, len(called)) == ("done", "Paid: tea.", 1)


async def test_a_model_is_told_of_a_rejected_call_and_a_node_gets_the_error() -> None:
    told: list[list[BaseMessage]] = []
    pay = pay_tool(lambda *_: None, approval="always")
    turns: list[dict[str, Any]] = [
        {"calls": [("c1", "pay", {"what": "it"}), ("c2", "pay", {"amount": 1})]},
        {"text": ["I see."]},
    ]

    async def agent(state: MessagesState) -> dict[str, Any]:
        told.append(list(state["messages"]))
        return {"messages": [await FakeChatModel(turns=turns).ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState).add_node(agent).add_node("tools", ToolNode([runyard.langchain_tool(pay)]))
    graph.add_edge(START, "agent").add_edge("tools", "agent")
    graph.add_conditional_edges("agent", lambda state: "tools" if state["messages"][-1].tool_calls else "__end__")
    decisions = {"pay": Decision(False, reason="too dear")}
    result = await run_agent(runyard.langgraph("a", graph.compile()), "Pay", decisions=decisions)
    assert (result.status, result.text) == ("done", "I see.")
    answers = [each.text for each in told[-1][-2:]]
    assert answers[0] == "A person rejected this call; it was not made. Reason: too dear"
    assert answers[1].startswith("Error executing tool: The arguments of pay do not fit")

    async def node(state: MessagesState) -> dict[str, Any]:
        with pytest.raises(runyard.Rejected):
            await runyard.langchain_tool(pay).ainvoke({"what": "it"})
        return {"messages": [AIMessage("Not paid.")]}

    assert (await run_agent(runyard.langgraph("b", one_node(node)), "Pay", decisions=decisions)).text == "Not paid."


async def test_a_run_parks_only_when_every_node_waits() -> None:
    """One node waits for an approval while another is at work outside of Runyard; that work is not cut off."""
    done: list[str] = []
    pay = runyard.langchain_tool(pay_tool(lambda *_: done.append("pay"), approval="always"))

    async def asks(state: MessagesState) -> dict[str, Any]:
        await pay.ainvoke({"what": "tea"})
        return {}

    async def works(state: MessagesState) -> dict[str, Any]:
        for _ in range(200):
            await asyncio.sleep(0)
        done.append("work")
        return {"messages": [AIMessage("Worked.")]}

    graph = StateGraph(MessagesState).add_node(asks).add_node(works).add_edge(START, "asks").add_edge(START, "works")
    agent = runyard.langgraph("a", graph.compile())
    execution = FakeExecution()
    [approval_id] = await run_until_parked(agent, execution)
    assert done == ["work"]
    again = FakeExecution(log_with_decision(execution.log, approval_id))
    output = await run_langgraph(agent, again)
    assert (output.text, done) == ("Worked.", ["work", "pay"])


async def test_an_approval_and_a_question_are_open_at_once() -> None:
    pay = runyard.langchain_tool(pay_tool(lambda *_: None, approval="always"))

    async def pays(state: Rated) -> dict[str, Any]:
        return {"topic": (await pay.ainvoke({"what": "tea"}))["done"]}

    async def asks(state: Rated) -> dict[str, Any]:
        return {"score": interrupt("How much?")}

    async def tells(state: Rated) -> dict[str, Any]:
        return {"messages": [AIMessage(f"{state['topic']}: {state['score']}")]}

    graph = StateGraph(Rated).add_node(pays).add_node(asks).add_node(tells)
    graph.add_edge(START, "pays").add_edge(START, "asks").add_edge(["pays", "asks"], "tells")
    agent = runyard.langgraph("a", graph.compile())
    for turn in (0, 1):
        execution = FakeExecution()
        waits = await run_until_parked(agent, execution)
        by_kind = {execution.fold().waits[each].kind: each for each in waits}
        assert by_kind.keys() == {"tool", "question"}
        answered = [
            log_with_decision(execution.log, by_kind["tool"]),
            log_with_answer(execution.log, by_kind["question"], 7),
        ]
        again = FakeExecution(answered[turn])
        [left] = await run_until_parked(agent, again)
        last = FakeExecution(log_with_answer(again.log, left, 7) if turn == 0 else log_with_decision(again.log, left))
        assert (await run_langgraph(agent, last)).text == "tea: 7"
        assert [event.type for event in last.log + last.lost].count("tool.finished") == 1


async def test_a_node_that_langgraph_tries_again_repeats_no_call() -> None:
    called: list[str] = []
    pay = runyard.langchain_tool(pay_tool(lambda _, key: called.append(key)))
    tries = iter([True, False])

    async def node(state: MessagesState) -> dict[str, Any]:
        first = await pay.ainvoke({"what": "tea"})
        second = await pay.ainvoke({"what": "milk"})
        if next(tries):
            raise ConnectionError
        return {"messages": [AIMessage(f"{first['done']}, {second['done']}")]}

    policy = RetryPolicy(initial_interval=0.01, jitter=False)
    graph = StateGraph(MessagesState).add_node("node", node, retry_policy=policy).add_edge(START, "node").compile()
    result = await run_agent(runyard.langgraph("a", graph), "Hi")
    assert (result.text, len(called)) == ("tea, milk", 2)


async def test_nodes_that_write_at_the_same_time_are_shown_one_after_the_other() -> None:
    ready = asyncio.Barrier(2)

    def writer(word: str) -> Any:
        async def node(state: MessagesState) -> dict[str, Any]:
            await ready.wait()
            model = FakeChatModel(turns=[{"text": [f"{word}{n} " for n in range(5)]}])
            return {"messages": [await model.ainvoke(state["messages"])]}

        return node

    graph = StateGraph(MessagesState).add_node("a", writer("a")).add_node("b", writer("b"))
    result = await run_agent(runyard.langgraph("x", graph.add_edge(START, "a").add_edge(START, "b").compile()), "Hi")
    first, second = sorted(result.text.split("\n\n"))
    assert (first, second) == ("a0 a1 a2 a3 a4 ", "b0 b1 b2 b3 b4 ")


async def test_another_agent_is_a_tool_and_works_in_a_child_run() -> None:
    helper = runyard.scripted("helper", [{"token": "helped"}])
    helped = runyard.langchain_tool(helper)

    async def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"I was {await helped.ainvoke({'message': 'Help'})}.")]}

    result = await run_agent(runyard.langgraph("a", one_node(node)), "Hi", agents=[helper])
    assert (result.status, result.text) == ("done", "I was helped.")


async def test_a_once_call_with_other_input_after_a_crash_ends_the_run() -> None:
    """The model is inside the node that calls the tool, and decides otherwise the second time."""
    amounts = iter(["one", "two"])
    pay = runyard.langchain_tool(pay_tool(lambda *_: None))

    async def node(state: MessagesState) -> dict[str, Any]:
        await pay.ainvoke({"what": next(amounts)})
        return {"messages": [AIMessage("Paid.")]}

    agent, execution = runyard.langgraph("a", one_node(node)), FakeExecution()
    await run_langgraph(agent, execution)
    await execution.commit()
    [paid] = [number for number, event in enumerate(execution.log, 1) if event.type == "tool.finished"]
    with pytest.raises(runyard.AgentError) as raised:
        await run_langgraph(agent, FakeExecution(execution.log[:paid]))
    assert raised.value.code == "nondeterministic"


async def test_text_before_a_call_in_the_same_node_is_shown_once() -> None:
    pay = runyard.langchain_tool(pay_tool(lambda *_: None, effects="idempotent"))

    async def node(state: MessagesState) -> dict[str, Any]:
        said = await FakeChatModel(turns=[{"text": ["One ", "moment."]}]).ainvoke(state["messages"])
        await pay.ainvoke({"what": "tea"})
        return {"messages": [said]}

    agent, execution = runyard.langgraph("a", one_node(node)), FakeExecution()
    await run_langgraph(agent, execution)
    await execution.commit()
    for cut in range(1, len(execution.log)):
        again = FakeExecution(execution.log[:cut])
        assert (await run_langgraph(agent, again)).text == "One moment."
        assert again.fold().text == "One moment.", f"after event {cut}"


async def test_redaction_sees_every_text_of_a_checkpoint_and_the_graph_still_resumes() -> None:
    async def first(state: Rated) -> dict[str, Any]:
        return {"topic": f"mail {SECRET}", "messages": [AIMessage(f"To {SECRET}.")]}

    async def second(state: Rated) -> dict[str, Any]:
        return {"messages": [AIMessage(f"{interrupt('Sure?')}: {state['topic']}. {state['messages'][-1].text}")]}

    graph = StateGraph(Rated).add_node(first).add_node(second).add_edge(START, "first").add_edge("first", "second")
    agent = runyard.langgraph("a", graph.compile())
    redactor = Redactor(["email"], {"word": "langchain_core|AIMessage|topic|additional_kwargs"})
    execution = FakeExecution(text=f"Write to {SECRET}", redactor=redactor)
    [wait_id] = await run_until_parked(agent, execution)
    assert all(SECRET.encode() not in event.data for event in execution.log)
    again = FakeExecution(log_with_answer(execution.log, wait_id, "Yes"), redactor=redactor)
    assert (await run_langgraph(agent, again)).text == "To [email].\n\nYes: mail [email]. To [email]."


async def test_a_failing_node_ends_the_run_with_its_error() -> None:
    async def node(state: MessagesState) -> dict[str, Any]:
        raise ValueError("with content")

    result = await run_agent(runyard.langgraph("a", one_node(node)), "Hi")
    assert (result.status, result.error and result.error.message) == ("error", "The agent failed with ValueError.")
    errors = [event.payload.error for event in result.events if isinstance(event.payload, StepFinished)]
    assert "ValueError" in errors


async def test_a_graph_that_takes_too_many_steps_ends_as_a_model_does() -> None:
    graph = StateGraph(MessagesState).add_node("a", lambda state: {"messages": [("ai", "Again.")]})
    graph.add_edge(START, "a").add_edge("a", "a")
    result = await run_agent(runyard.langgraph("a", graph.compile(), max_steps=3), "Hi")
    assert (result.status, result.stop_reason) == ("done", "max_steps")


def test_a_declaration_is_checked() -> None:
    with pytest.raises(runyard.Invalid, match="compile"):
        runyard.langgraph("a", StateGraph(MessagesState))
    with pytest.raises(runyard.Invalid, match="max_steps"):
        runyard.langgraph("a", react(pay_tool(lambda *_: None)), max_steps=0)
    with pytest.raises(runyard.Invalid, match=r"runyard\.tool"):
        runyard.langchain_tool(len)  # type: ignore[arg-type]
    first, second = runyard.langgraph("a", one_node(says("a"))), runyard.langgraph("a", one_node(lambda state: {}))
    assert first.version != second.version


async def test_outside_of_a_run_a_tool_says_what_it_needs() -> None:
    with pytest.raises(runyard.AgentError, match=r"runyard\.langgraph"):
        await runyard.langchain_tool(pay_tool(lambda *_: None)).ainvoke({"what": "tea"})
