"""Claude agents without the SDK: which events fake SDK messages cause, and what a crash does to tool calls."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

import runyard
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.claude import note_spent, spent_before
from runyard.agents.kinds.claude.messages import PREFIX, MessagePiece, QueryEnd, ToolUse, read_message
from runyard.agents.kinds.runners import RUNNERS
from runyard.agents.user_code.current_call import set_current_execution
from runyard.app.process import Process
from runyard.domain.content.parts import DataPart, Part, TextPart, encoded, file_of
from runyard.domain.events import Event, ModelMessage, Usage
from runyard.errors import (
    FilesNotSupported,
    Invalid,
    ModelRefused,
    ModelUnavailable,
    Nondeterministic,
    RateLimited,
    StartupError,
)
from runyard.settings import Settings
from tests.agents.fake_execution import FakeExecution, run_until_parked
from tests.support.fakes.fake_claude_sdk import (
    FakeAssistantMessage,
    FakeResultMessage,
    FakeSdk,
    FakeText,
    FakeThinking,
    FakeToolUse,
    FakeUserMessage,
    calls,
    install,
)

done: list[str] = []


@runyard.tool(effects="idempotent")
async def note(text: str, idempotency_key: str) -> dict[str, str]:
    done.append(f"{idempotency_key}={text}")
    return {"noted": text}


@runyard.tool(effects="once")
async def pay(amount: int) -> str:
    done.append(f"paid {amount}")
    return "paid"


@runyard.tool(effects="once", approval="always")
async def send(text: str) -> str:
    done.append(text)
    return "sent"


CLERK = runyard.claude("clerk", model="claude-x", instructions="Be brief.", tools=[note, pay, send], max_turns=3)


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    done.clear()


async def run(execution: FakeExecution, agent: Agent = CLERK) -> Output:
    with set_current_execution(execution, Path()):
        output = await RUNNERS["claude"](agent, execution)
    assert output is not None
    await execution.commit()
    return output


def usages(execution: FakeExecution) -> list[Usage | None]:
    return [one.payload.usage for one in execution.new_events if isinstance(one.payload, ModelMessage)]


@pytest.mark.req("S3.15", "S3.32", "S3.34")
async def test_the_models_message_is_recorded_before_its_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    first = calls("m1", ("note", {"text": "a"}), ("note", {"text": "b"}), text="Let me see.")
    sdk = install(
        monkeypatch, *first, FakeAssistantMessage("m2", FakeThinking("hm"), FakeText("Done.")), FakeResultMessage()
    )
    execution = FakeExecution(text="hello")
    output = await run(execution)

    assert output.text == "Let me see.\n\nDone."
    types = [kind for kind in execution.types() if not kind.startswith("model.t")]
    assert types[:3] == ["step.started", "model.message", "tool.started"]
    assert [types.count(kind) for kind in ("tool.started", "tool.finished", "step.finished")] == [2, 2, 2]
    assert types[-4:] == ["step.finished", "step.started", "model.message", "step.finished"]
    assert done == ["run-1:note#1=a", "run-1:note#2=b"]
    assert sdk.returned == [(False, '{"noted":"a"}'), (False, '{"noted":"b"}')]
    total = sum((usage for usage in usages(execution) if usage), Usage())
    assert total == Usage(30, 9, 0.5), "the steps add up to what the SDK counted"
    [options] = sdk.options
    assert options.system_prompt == "Be brief.\n\n## Said before\nuser: hello"
    assert (options.max_turns, options.max_budget_usd) == (3, 0.10)
    assert (options.tools, options.setting_sources, options.resume) == ([], [], None)
    assert options.allowed_tools == [PREFIX + name for name in ("note", "pay", "send")]
    assert options.env["HOME"] == options.env["CLAUDE_CONFIG_DIR"] == str(options.cwd)


PNG = b"\x89PNG"


def _with_parts(*parts: Part, **data: bytes) -> FakeExecution:
    execution = FakeExecution(text="Look")
    assert execution.message is not None
    execution.message = replace(execution.message, parts=encoded([TextPart("Look"), *parts]))
    execution.files |= data
    return execution


async def test_the_sdk_gets_the_files_of_the_message_as_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    sdk = install(monkeypatch, FakeAssistantMessage("m1", FakeText("A cat.")), FakeResultMessage())
    files = [file_of("f1", "a.png", "image/png", 4), file_of("f2", "b.csv", "text/csv", 3)]
    files.append(file_of("f3", "c.pdf", "application/pdf", 4))
    execution = _with_parts(*files, DataPart({"n": 1}), f1=PNG, f2=b"1,2", f3=b"%PDF")
    assert (await run(execution)).text == "A cat."
    [message] = [each async for each in sdk.prompts[0]]
    assert message["message"]["content"] == [
        {"type": "text", "text": "Look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}},
        {"type": "text", "text": "The file b.csv:\n1,2"},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}},
        {"type": "text", "text": '{"n":1}'},
    ]
    assert b"base64" not in b"".join(event.data for event in execution.new_events)


async def test_files_that_claude_does_not_take_are_an_error_and_data_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    sdk = install(monkeypatch, FakeAssistantMessage("m1", FakeText("Yes.")), FakeResultMessage())
    with pytest.raises(FilesNotSupported, match=r"Send a\.zip as one of them"):
        await run(_with_parts(file_of("f1", "a.zip", "application/zip", 4), f1=b"PK"))
    await run(_with_parts(DataPart({"n": 1})))
    assert sdk.prompts == ['Look\n\n{"n":1}']


async def _crashed(monkeypatch: pytest.MonkeyPatch, tool: str, given: dict[str, Any]) -> list[Event]:
    """Return the log of a run whose worker died after this call had ended."""
    install(monkeypatch, *calls("m1", (tool, given)), FakeResultMessage())
    execution = FakeExecution()
    await run(execution)
    kept = [place for place, one in enumerate(execution.log) if one.type == "tool.finished"][-1]
    done.clear()
    return list(execution.log[: kept + 1])


async def test_a_recorded_call_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    log = await _crashed(monkeypatch, "pay", {"amount": 5})
    sdk = install(monkeypatch, *calls("m1", ("pay", {"amount": 5})), FakeResultMessage())
    await run(FakeExecution(log))
    assert (done, sdk.returned) == ([], [(False, '"paid"')])


async def test_a_once_call_with_another_input_than_recorded_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    log = await _crashed(monkeypatch, "pay", {"amount": 5})
    install(monkeypatch, *calls("m1", ("pay", {"amount": 6})), FakeResultMessage())
    with pytest.raises(Nondeterministic):
        await run(FakeExecution(log))
    assert done == []


async def test_an_idempotent_call_keeps_its_key_with_another_input(monkeypatch: pytest.MonkeyPatch) -> None:
    log = await _crashed(monkeypatch, "note", {"text": "a"})
    install(monkeypatch, *calls("m1", ("note", {"text": "other words"})), FakeResultMessage())
    await run(FakeExecution(log))
    assert done == ["run-1:note#1=other words"]


async def test_a_tool_that_needs_approval_parks_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, *calls("m1", ("send", {"text": "a"})), FakeResultMessage())
    execution = FakeExecution()
    await run_until_parked(CLERK, execution)
    assert [(one.name, one.input) for one in execution.approvals] == [("send", {"text": "a"})]
    assert done == []


async def test_the_model_gets_an_error_for_an_invalid_call(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = calls("m1", ("pay", {"amount": "all of it"}))
    unknown = [FakeAssistantMessage("m2", FakeToolUse("toolu_9", "shout", {}))]
    sdk = install(monkeypatch, *wrong, *unknown, FakeAssistantMessage("m3", FakeText("Sorry.")), FakeResultMessage())
    execution = FakeExecution()
    assert (await run(execution)).text == "Sorry."
    assert done == []
    assert [error for error, _ in sdk.returned] == [True]
    assert execution.types().count("tool.finished") == 1


@pytest.mark.parametrize(
    ("played", "error"),
    [
        ([FakeResultMessage("error_during_execution")], ModelUnavailable),
        ([FakeResultMessage(status=429)], RateLimited),
        ([FakeResultMessage(status=401)], ModelRefused),
        ([FakeSdk.ClaudeSDKError("a secret")], ModelUnavailable),
        ([FakeAssistantMessage("m1", FakeText("hm"))], ModelUnavailable),
    ],
)
async def test_the_error_of_a_failed_query_holds_no_content(
    monkeypatch: pytest.MonkeyPatch, played: Sequence[Any], error: type[Exception]
) -> None:
    install(monkeypatch, *played)
    with pytest.raises(error) as caught:
        await run(FakeExecution())
    assert "secret" not in str(caught.value)


@pytest.mark.req("S3.13", "S3.19", "S3.20")
@pytest.mark.parametrize(
    ("subtype", "why"),
    [("success", "end_turn"), ("error_max_turns", "max_steps"), ("error_max_budget_usd", "max_tokens_exceeded")],
)
def test_the_end_of_a_query_becomes_a_stop_reason_and_usage(subtype: str, why: str) -> None:
    ended = read_message(
        FakeResultMessage(subtype, 0.25, input_tokens=1, cache_creation_input_tokens=2, output_tokens=3)
    )
    assert ended == QueryEnd("session-1", why, Usage(3, 3, 0.25))  # type: ignore[arg-type]


def test_a_message_of_the_sdk_becomes_a_piece_with_its_tool_uses() -> None:
    blocks = FakeText("a"), FakeThinking("b"), FakeToolUse("t1", "note", {"text": "c"})
    expected = MessagePiece("m1", "claude-x", "a", "b", [ToolUse("t1", "note", {"text": "c"})], Usage(7, 1))
    assert read_message(FakeAssistantMessage("m1", *blocks)) == expected
    assert read_message(FakeUserMessage()) is None
    assert read_message(SimpleNamespace(subtype="init", data={})) is None


def test_the_cost_of_a_session_is_kept_in_its_folder(tmp_path: Path) -> None:
    assert spent_before(tmp_path, "s") == 0.0
    note_spent(tmp_path, "s", 0.125)
    assert spent_before(tmp_path, "s") == 0.125


def test_a_declaration_is_checked_and_shows_no_key() -> None:
    agent = runyard.claude("clerk", model="claude-x", environment={"ANTHROPIC_API_KEY": "sk-secret"})
    assert "secret" not in repr(agent.claude) + repr(agent)
    assert agent.version != runyard.claude("clerk", model="claude-y").version
    for wrong in ({"model": ""}, {"model": "m", "max_turns": 0}, {"model": "m", "max_usd": 0}):
        with pytest.raises(Invalid):
            runyard.claude("clerk", **wrong)


async def test_sessions_and_sealing_do_not_go_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from runyard.agents.declared.loading import App

    monkeypatch.setattr("runyard.agents.declared.claude.check_installed", lambda: None)
    settings = Settings(database_url=f"sqlite:///{tmp_path}/db", redact="email")
    with pytest.raises(StartupError, match="sessions=False"):
        await Process(settings, App({"clerk": CLERK}, {}, "clerk")).start()


async def test_without_the_sdk_the_error_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from runyard.agents.declared.loading import App

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(StartupError, match=r"pip install 'runyard\[claude\]'"):
        await Process(Settings(database_url=f"sqlite:///{tmp_path}/db"), App({"clerk": CLERK}, {}, "clerk")).start()
