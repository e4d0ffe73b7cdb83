"""The demo app answers from its CVs with real sources and needs no key and no network."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import runyard.demo
from runyard.agents.declared.loading import app_of, load
from runyard.agents.kinds.python.runner import run_python
from runyard.agents.kinds.runners import RUNNERS
from runyard.agents.user_code.current_call import set_current_execution
from runyard.demo.candidates import CVS, keywords, reasons
from runyard.store import Hit
from tests.agents.fake_execution import FakeExecution, log_with_decision, run_until_parked

RESEARCH = {"literature", "retrieval", "policy"}
GREETER = Path(__file__).parents[3] / "examples" / "greeter.py"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    real = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda seconds, result=None: real(0, result))


def hits(*ids: str) -> list[Hit]:
    return [Hit(id, CVS[id].name, CVS[id].text, 1.0) for id in ids]


def test_the_demo_has_its_agents_and_their_documents() -> None:
    app = app_of(runyard.demo)

    assert set(app.agents) == {"cv-screener", "tokens", "slow", "device", "assistant", *RESEARCH}
    assert app.default == "cv-screener"
    assert {app.agents[name].task_type for name in RESEARCH} == {"LIT_RETRIEVAL", "RAG_RETRIEVE", "POLICY_REVIEW"}
    assert set(app.collections) == {"cvs", "papers", "guidelines"}
    assert [document.id for document in app.collections["cvs"]] == list(CVS)


async def test_the_screener_names_the_candidates_it_found_and_gives_their_cvs_as_sources() -> None:
    execution = FakeExecution(text="Who knows Postgres and Kubernetes?", hits=hits("cv_001", "cv_015"))
    output = await run_python(runyard.demo.cv_screener, execution)

    assert output.sources == ["cv_001", "cv_015"]
    assert "1. Amarachi Okwuosa, Senior Backend Engineer in Lagos, Nigeria, 9 years" in output.text
    assert "knows Postgres and Kubernetes" in output.text
    assert execution.fold().text == output.text
    assert execution.types()[:2] == ["tool.started", "tool.finished"]
    assert set(execution.types()[2:]) == {"model.token"}
    assert execution.fold().calls[0].input == {"query": "Postgres Kubernetes"}


@pytest.mark.parametrize("text", ["Who is it?", "underwater basket weaving", ""])
async def test_the_screener_is_polite_when_nothing_matches(text: str) -> None:
    output = await run_python(runyard.demo.cv_screener, FakeExecution(text=text))

    assert output.text.startswith("I am sorry")
    assert output.sources == []


async def test_the_screener_goes_on_after_a_crash_at_any_event_without_searching_again() -> None:
    whole = FakeExecution(text="Postgres", hits=hits("cv_001"))
    output = await run_python(runyard.demo.cv_screener, whole)
    searched = next(event.seq for event in whole.events if event.type == "tool.finished")

    for cut in range(1, len(whole.events) + 1):
        resumed = FakeExecution(whole.events[:cut], text="Postgres", hits=hits("cv_001") if cut < searched else ())
        assert await run_python(runyard.demo.cv_screener, resumed) == output
        assert resumed.fold().text == output.text


def test_a_reason_is_found_for_whatever_matched() -> None:
    cv = CVS["cv_001"]

    assert keywords("Who has the most years of experience with C++ and CI/CD, in Lagos?") == ["C++", "CI/CD", "Lagos"]
    assert reasons(cv, ["redis"]) == "knows Redis"
    assert reasons(cv, ["igbo"]) == "speaks Igbo"
    assert reasons(cv, ["backend"]).startswith("works as Senior Backend Engineer")
    assert reasons(cv, ["lagos"]).startswith("lives in Lagos")
    assert "ledger" in reasons(cv, ["ledger"])
    assert reasons(cv, ["nowhere"]) == "knows Python, Postgres and Kubernetes"


@pytest.mark.parametrize(("name", "tokens", "calls"), [("tokens", 200, 0), ("slow", 60, 1)])
async def test_the_scripted_agents_play(name: str, tokens: int, calls: int) -> None:
    agent, execution = app_of(runyard.demo).agents[name], FakeExecution()
    output = await RUNNERS[agent.kind](agent, execution)

    assert output is not None
    assert execution.types().count("model.token") == tokens
    assert execution.types().count("tool.finished") == calls
    assert output.text == execution.fold().text


@pytest.mark.req("S1.14", "S1.41", "S1.55")
@pytest.mark.parametrize(
    ("decision", "answer"),
    [
        ("approved", "The refund of A-1001 is on its way: R-A-1001."),
        ("rejected", "My colleague did not agree to the refund of A-1001, so nothing was paid."),
    ],
)
async def test_the_assistant_recovers_from_an_error_and_asks_before_it_pays(decision: Any, answer: str) -> None:
    first = FakeExecution(text="I want my money back for A-1001!")
    [approval_id] = await run_until_parked(runyard.demo.assistant, first)
    assert [call.error for call in first.fold().calls] == [None, "tool_failed", None, None]
    assert first.approvals[0].input == {"order": "A-1001", "amount": 38.5}

    again = FakeExecution(log_with_decision(first.log, approval_id, decision), text="I want my money back for A-1001!")
    output = await RUNNERS["model"](runyard.demo.assistant, again)
    assert output is not None
    assert output.text.endswith(answer)
    assert [call.tool for call in again.fold().calls if call.status == "finished"][3:] == (
        ["refund"] if decision == "approved" else []
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [("A-1002 is broken", "I cannot refund it."), ("and X-9999?", "The ones I know are A-1001 and A-1002.")],
)
async def test_the_assistant_says_what_it_cannot_do(text: str, answer: str) -> None:
    output = await RUNNERS["model"](runyard.demo.assistant, FakeExecution(text=text))

    assert output is not None
    assert output.text.endswith(answer)


@pytest.mark.req("S1.46", "S1.54")
async def test_the_assistant_has_its_sums_done_in_the_sandbox(tmp_path: Path) -> None:
    question = "What is the average price of your goods?"
    first = FakeExecution(text=question)
    [approval_id] = await run_until_parked(runyard.demo.assistant, first)
    again = FakeExecution(log_with_decision(first.log, approval_id, "approved"), text=question)
    with set_current_execution(again, tmp_path):
        output = await RUNNERS["model"](runyard.demo.assistant, again)
    assert output is not None
    assert output.text == "Our goods cost $55.25 on average."
    assert "tool.output" in again.types()


async def test_the_assistant_goes_on_where_no_code_may_be_run() -> None:
    question = "Calculate the average price."
    first = FakeExecution(text=question)
    [approval_id] = await run_until_parked(runyard.demo.assistant, first)
    again = FakeExecution(log_with_decision(first.log, approval_id, "rejected"), text=question)
    output = await RUNNERS["model"](runyard.demo.assistant, again)
    assert output is not None
    assert output.text.startswith("I could not run the program")


async def test_the_greeter_example_greets() -> None:
    execution = FakeExecution(text="I am Ada!")
    output = await run_python(load(GREETER).agents["greeter"], execution)

    assert output.text == "Hello, Ada! How good that you are here. "
    assert output.sources == ["guestbook_001"]
    assert execution.types()[:2] == ["step.started", "step.finished"]
