"""Remote agents are called once, recorded, never repeated silently, and only at allowed addresses."""

from pathlib import Path

import pytest
from msgspec.structs import replace

import runyard
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.remote import Remote
from runyard.agents.kinds.runners import RUNNERS
from runyard.agents.tools.outbound import OutboundRefused
from runyard.agents.tools.tool import Effects
from runyard.agents.user_code.current_call import set_current_execution
from runyard.contract.breaker import FAILURES, Breaker
from runyard.contract.timeouts import Timeouts
from runyard.domain.content.parts import DataPart, Part, TextPart, encoded, file_of
from runyard.domain.events import Event, ToolFinished, ToolStarted
from runyard.errors import FilesNotSupported, Invalid, RemoteBroken, RemoteFailed, RemoteUnavailable, UnknownOutcome
from tests.agents.contract.agent_server import GOOD, TASK, as_json, as_stream, event, frames, served
from tests.agents.fake_execution import FakeExecution, log_with_decision, run_until_parked

HERE = ["127.0.0.1"]


def remote(url: str, effects: Effects = "once", on_unknown: str = "ask") -> Agent:
    return runyard.remote(
        "lit.search",
        url=url,
        task_type=TASK,
        effects=effects,
        allow=HERE,
        on_unknown=on_unknown,  # type: ignore[arg-type]
    )


async def run(agent: Agent, execution: FakeExecution) -> runyard.Output:
    with set_current_execution(execution, Path()):
        output = await RUNNERS[agent.kind](agent, execution)
    assert output is not None
    await execution.commit()
    return output


async def test_a_remote_agent_refuses_files_and_gets_data_as_text() -> None:
    behaviour = GOOD.but(stream=lambda a: as_stream(*frames(a, outputs={"text": "hello"})))
    execution = FakeExecution(text="what?")
    assert execution.message is not None
    parts: list[Part] = [TextPart("what?"), DataPart({"n": 1})]
    with served(behaviour) as agent:
        execution.message = replace(execution.message, parts=encoded([*parts, file_of("f", "a.png", "image/png", 1)]))
        with pytest.raises(FilesNotSupported, match="takes no files"):
            await run(remote(agent.url), execution)
        assert agent.asked == [], "nothing was sent without the file"
        execution.message = replace(execution.message, parts=encoded(parts))
        await run(remote(agent.url), execution)
    assert agent.asked[0]["inputs"] == {"query": 'what?\n\n{"n":1}'}


@pytest.mark.req("S2.22", "S2.33")
async def test_a_remote_agent_is_called_and_its_result_is_recorded() -> None:
    more = {"text": "hello"}, {"citations": ["d1"], "chunks": []}
    behaviour = GOOD.but(stream=lambda a: as_stream(*frames(a, outputs=more[0], grounding=more[1])))
    execution = FakeExecution(text="what?")
    with served(behaviour) as agent:
        output = await run(remote(agent.url), execution)

    assert (output.text, output.sources) == ("hello", ["d1"])
    assert output.outputs == {"text": "hello", "grounding": {"citations": ["d1"], "chunks": []}}
    assert execution.types() == ["tool.started", "tool.output", "tool.finished"]
    started, _, finished = (one.payload for one in execution.new_events)
    assert isinstance(started, ToolStarted)
    assert started.input == {"inputs": {"query": "what?"}}
    assert b"percent" in execution.new_events[1].data
    assert isinstance(finished, ToolFinished)
    assert finished.output["outputs"] == {"text": "hello"}
    assert agent.asked[0]["request_id"] == "run-1"
    assert agent.headers["idempotency-key"] == "run-1:lit_search#1"


async def begun(url: str, effects: Effects = "once") -> list[Event]:
    """Return the log of a run whose worker died after the call had started."""
    execution = FakeExecution()
    await run(remote(url, effects), execution)
    return [one for one in execution.log if one.type not in ("tool.output", "tool.finished")]


async def test_a_call_that_may_have_happened_is_repeated_only_if_a_person_allows_it() -> None:
    with served() as agent:
        log = await begun(agent.url)
        execution = FakeExecution(log)
        (approval,) = await run_until_parked(remote(agent.url), execution)
        assert execution.approvals[0].kind == "unknown_outcome"
        assert len(agent.asked) == 1

        await run(remote(agent.url), FakeExecution(log_with_decision(execution.log, approval)))
        assert len(agent.asked) == 2
        with pytest.raises(UnknownOutcome):
            await run(remote(agent.url), FakeExecution(log_with_decision(execution.log, approval, "rejected")))
        with pytest.raises(UnknownOutcome):
            await run(remote(agent.url, on_unknown="fail"), FakeExecution(log))
        assert len(agent.asked) == 2


async def test_a_call_that_is_declared_harmless_is_repeated_under_the_same_key() -> None:
    with served() as agent:
        log = await begun(agent.url, "idempotent")
        first = agent.headers["idempotency-key"]
        await run(remote(agent.url, "idempotent"), FakeExecution(log))
        assert len(agent.asked) == 2
        assert agent.headers["idempotency-key"] == first


async def test_a_call_that_has_ended_is_not_made_again() -> None:
    with served() as agent:
        execution = FakeExecution()
        first = await run(remote(agent.url), execution)
        assert await run(remote(agent.url), FakeExecution(execution.log)) == first
        assert len(agent.asked) == 1


@pytest.mark.req("S2.21", "S2.25")
async def test_the_code_of_a_failed_task_is_the_code_of_the_run() -> None:
    told = {"status": "error", "error": {"code": "VALIDATION_ERROR", "message": "the patient"}}
    with served(GOOD.but(stream=lambda a: as_stream(*frames(a, **told)))) as agent:
        execution = FakeExecution()
        with pytest.raises(RemoteFailed) as caught:
            await run(remote(agent.url), execution)
        assert caught.value.code == "validation_error"
        assert "patient" not in caught.value.message
        again = FakeExecution([*execution.log, *execution.lost])
        with pytest.raises(RemoteFailed) as repeated:
            await run(remote(agent.url), again)
        assert repeated.value.code == "validation_error"
        assert len(agent.asked) == 1


@pytest.mark.req("S2.21")
async def test_a_stream_without_its_end_is_a_recorded_failure() -> None:
    with served(GOOD.but(stream=lambda a: as_stream(*frames(a)[:-1]))) as agent:
        execution = FakeExecution()
        with pytest.raises(RemoteBroken):
            await run(remote(agent.url), execution)
    finished = execution.new_events[-1].payload
    assert isinstance(finished, ToolFinished)
    assert finished.error == "remote_broken"


async def test_only_public_addresses_are_called_unless_a_network_is_allowed() -> None:
    with served() as agent:
        for url in (agent.url, agent.url.replace("127.0.0.1", "localhost"), "http://169.254.169.254"):
            with pytest.raises(OutboundRefused):
                await Remote("lit", url=url, task_type=TASK).ask({}, "k")
        assert agent.asked == []
        assert (await Remote("lit", url=agent.url, task_type=TASK, allow=HERE).ask({}, "k")).outputs


async def test_an_address_that_is_not_allowed_is_an_error_that_says_how_to_allow_it() -> None:
    with served() as agent:
        refused = runyard.remote("lit", url=agent.url, task_type=TASK)
        with pytest.raises(RemoteFailed, match=r"private or local; allow it by `runyard\.remote\(\.\.\., allow="):
            await run(refused, FakeExecution())
        assert agent.asked == []


async def test_a_redirect_is_not_followed() -> None:
    with served(GOOD.but(stream=lambda _: as_json({}, 307))) as agent, pytest.raises(RemoteUnavailable):
        await Remote("lit", url=agent.url, task_type=TASK, allow=HERE).ask({}, "k")


async def test_a_service_that_fails_too_often_is_not_called() -> None:
    time = 0.0
    with served(GOOD.but(stream=lambda _: as_json({}, 500))) as agent:
        service = Remote("lit", url=agent.url, task_type=TASK, allow=HERE, breaker=Breaker(lambda: time))
        for _ in range(FAILURES + 2):
            with pytest.raises(RemoteUnavailable):
                await service.ask({}, "k")
        assert len(agent.asked) == FAILURES
        agent.behaviour = GOOD
        time = 61.0
        assert (await service.ask({}, "k")).outputs
        agent.behaviour = GOOD.but(stream=lambda a: as_json({"error": {"code": "NO"}}, 400))
        for _ in range(FAILURES):
            assert (await service.ask({}, "k")).error == "NO"  # a refusal is an answer: the service works


async def test_a_progress_that_is_not_json_is_a_failure() -> None:
    behaviour = GOOD.but(stream=lambda a: as_stream(b"event: progress\ndata: half\n\n", event("final", {})))
    with served(behaviour) as agent, pytest.raises(RemoteBroken):
        await Remote("lit", url=agent.url, task_type=TASK, allow=HERE).ask({}, "k")


@pytest.mark.parametrize("url", ["", "host", "ftp://host", "http://", "http://a:b@host", "http://host/?a=1"])
def test_a_mistake_in_a_declaration_is_one_sentence(url: str) -> None:
    with pytest.raises(Invalid):
        runyard.remote("lit", url=url, task_type=TASK)


def test_invalid_urls_and_timeouts_are_refused() -> None:
    with pytest.raises(Invalid):
        runyard.remote("lit", url="http://host", task_type="")
    with pytest.raises(Invalid):
        runyard.remote("lit", url="http://host", task_type=TASK, allow=["everywhere"])
    with pytest.raises(Invalid):
        runyard.remote("lit", url="http://host", task_type=TASK, timeouts=Timeouts(0))
