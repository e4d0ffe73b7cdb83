"""A scripted agent plays its data, always the same, and resumes exactly after a crash."""

from typing import Any

import pytest

from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.kinds import scripted
from runyard.agents.declared.script import parse
from runyard.agents.execution import Canceled
from runyard.agents.kinds.scripted.runner import ScriptedRunner
from runyard.errors import AgentError, Invalid
from tests.agents.fake_execution import FakeExecution

SCRIPT = [
    {"trace": "start"},
    {"thinking": "hm"},
    {"tool": "look", "input": {"q": 1}, "output": {"n": 2}, "ms": 200},
    {"pause_ms": 100},
    {"token": "one "},
    {"tokens": ["", "two ", "three "], "every_ms": 50},
    {"tool": "look"},
    {"token": "four"},
    {"output": {"sources": ["s"], "outputs": {"k": 1}}},
]


class Sleeper:
    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


def player(*script: Any) -> Agent:
    return scripted("s", script)


async def play(agent: Agent, execution: FakeExecution) -> tuple[Output, list[float]]:
    sleeper = Sleeper()
    output = await ScriptedRunner(sleeper)(agent, execution)
    await execution.commit()
    return output, sleeper.slept


async def test_a_script_is_played_in_order_and_in_time() -> None:
    execution = FakeExecution()
    output, slept = await play(player(*SCRIPT), execution)

    assert output == Output("one two three four", ["s"], {"k": 1})
    assert slept == [0.2, 0.1, 0.05, 0.05, 0.05]
    assert [event.type for event in execution.new_events] == [
        "trace",
        "model.thinking",
        "tool.started",
        "tool.finished",
        *["model.token"] * 4,
        "tool.started",
        "tool.finished",
        "model.token",
    ]
    assert [call.call_id for call in execution.fold().calls] == ["look#1", "look#2"]


@pytest.mark.req("S0.25", "S0.33")
async def test_after_a_crash_at_any_event_exactly_the_rest_is_played() -> None:
    whole = FakeExecution()
    output, _ = await play(player(*SCRIPT), whole)

    for cut in range(1, len(whole.log) + 1):
        resumed = FakeExecution(whole.log[:cut])
        again, slept = await play(player(*SCRIPT), resumed)

        assert again == output
        assert [(e.type, e.data) for e in resumed.new_events] == [(e.type, e.data) for e in whole.log[cut:]]
        assert cut < len(whole.log) or slept == []
        twice = FakeExecution(resumed.log[: cut + 2])
        assert (await play(player(*SCRIPT), twice))[0] == output
        assert twice.fold().text == output.text


async def test_a_failure_ends_the_run_with_the_scripts_code() -> None:
    execution = FakeExecution()
    with pytest.raises(AgentError) as caught:
        await play(player({"token": "x"}, {"fail": "quota", "message": "No more."}), execution)

    assert (caught.value.code, caught.value.message) == ("quota", "No more.")
    assert execution.types() == ["model.token"]


async def test_the_answer_is_the_scripts_text_or_the_tokens() -> None:
    said = player({"token": "x"}, {"output": {"text": ""}})

    assert (await play(said, FakeExecution()))[0].text == ""
    assert (await play(player({"token": "x"}), FakeExecution()))[0].text == "x"


async def test_flat_out_tokens_wait_only_when_the_journal_is_congested() -> None:
    execution = FakeExecution()
    playing = ScriptedRunner()(player({"tokens": ["x"] * 5000}), execution)
    with pytest.raises(StopIteration):
        playing.send(None)

    execution.congested = True
    await play(player({"tokens": ["x", "y"]}), execution)
    assert execution.drains == 1


async def test_a_cancel_stops_the_script_before_the_next_event() -> None:
    class CanceledWhilePausing(Sleeper):
        async def __call__(self, seconds: float) -> None:
            execution.cancelled = True

    execution = FakeExecution()
    with pytest.raises(Canceled):
        await ScriptedRunner(CanceledWhilePausing())(player({"token": "a"}, {"pause_ms": 1}, {"token": "b"}), execution)
    assert execution.types() == ["model.token"]


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ([{"token": "a"}, {"token": 1}], "Script entry 1 (token) is wrong: Expected `str`, got `int` - at `$.token`."),
        ([{"tokens": "ab"}], "Script entry 0 (tokens) is wrong: Expected `array`, got `str` - at `$.tokens`."),
        (
            [{"word": "a"}],
            "Script entry 0 needs one of the keys token, tokens, thinking, tool, pause_ms, trace, fail, output.",
        ),
        (["a"], "Script entry 0 needs one of the keys"),
        ([{"token": "a", "every_ms": 1}], "Script entry 0 (token) is wrong: Object contains unknown field `every_ms`."),
        ([{"pause_ms": -1}], "Script entry 0 (pause_ms) is wrong: Expected `int` >= 0 - at `$.pause_ms`."),
        ([{"tool": "t", "output": object()}], "Script entry 0 (tool) is not JSON."),
        (
            [{"fail": "x"}, {"token": "a"}],
            "Script entry 0 ends the script, but more entries follow; move it to the end.",
        ),
        ("token", "The script is not a list."),
        (3, "The script is not a list."),
    ],
)
def test_a_wrong_entry_is_named_when_the_agent_is_declared(script: Any, says: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse(script)
    assert caught.value.message.startswith(says)
