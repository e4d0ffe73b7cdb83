"""The output of a followed run: only the answer on stdout, the rest on stderr, no control characters."""

from typing import Any

import msgspec
import pytest

from runyard.cli.talking.conversation import is_shown
from runyard.cli.terminal.run_printer import RunPrinter
from runyard.client import LogEvent


def shown(capsys: pytest.CaptureFixture[str], *events: tuple[str, dict[str, Any]]) -> tuple[str, list[str], str | None]:
    answer = RunPrinter()
    for seq, (kind, data) in enumerate(events, 1):
        answer.take(LogEvent(run_id="r", seq=seq, id="e", ts=0, type=kind, data=data))
    out = capsys.readouterr()
    return out.out, out.err.splitlines(), answer.status


def token(text: str) -> tuple[str, dict[str, Any]]:
    return "model.token", {"text": text}


def output(text: str, *sources: str) -> tuple[str, dict[str, Any]]:
    return "run.output", {"text": text, "sources": list(sources)}


DONE = ("run.finished", {"status": "done", "stop_reason": "end_turn"})


def test_tokens_are_the_answer_and_are_not_repeated_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, token("a "), token("b"), output("a b", "cv_1"), DONE) == (
        "a b\n",
        ["sources: cv_1", "done"],
        "done",
    )


def test_an_answer_without_tokens_is_shown_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, output("all at once"), DONE)[0] == "all at once\n"


def test_an_answer_other_than_its_tokens_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, token("draft"), output("final"), DONE)[0] == "draft\nfinal\n"


def test_text_that_is_taken_back_is_written_again_and_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    step = ("step.finished", {"step": "s#1", "name": "s"})
    resumed = ("run.resumed", {"attempt": 2, "why": "crash"})
    out, notes, _ = shown(
        capsys,
        token("a "),
        step,
        token("b"),
        resumed,
        ("model.reset", {}),
        token("b "),
        token("c"),
        output("a b c"),
        DONE,
    )
    assert out == "a b\nb c\n"
    assert notes == ["resumed after a crash", "the text since the last result is repeated:", "done"]


def test_tools_questions_and_trouble_are_notes(capsys: pytest.CaptureFixture[str]) -> None:
    out, notes, status = shown(
        capsys,
        ("tool.requested", {"call_id": "c", "tool": "send", "input": {}}),
        (
            "approval.requested",
            {"approval_id": "a1", "call_id": "c", "kind": "tool", "tool": "send", "input": {"n": 1}},
        ),
        ("run.waiting", {"waits": ["a1"]}),
        ("approval.decided", {"approval_id": "a1", "decision": "approved", "by": "me"}),
        ("tool.started", {"call_id": "c", "tool": "send", "input": {"n": 1}}),
        ("tool.finished", {"call_id": "c", "tool": "send", "error": "timeout"}),
        ("run.error", {"code": "agent_error", "message": "It broke."}),
        ("run.finished", {"status": "error", "stop_reason": "error"}),
    )
    assert out == ""
    assert status == "error"
    assert notes == [
        '? send {"n":1}',
        "  runyard approvals approve a1",
        "waiting",
        "! approved by me",
        '→ send {"n":1}',
        "← send failed: timeout",
        "agent_error: It broke.",
        "error",
    ]


def test_waits_are_notes_that_say_how_to_answer(capsys: pytest.CaptureFixture[str]) -> None:
    def wait(kind: str, name: str, **more: Any) -> tuple[str, dict[str, Any]]:
        return "wait.requested", {"wait_id": f"w-{kind}", "call_id": "c", "kind": kind, "name": name, **more}

    _, notes, _ = shown(
        capsys,
        wait("question", "ask", prompt="Which row?"),
        wait("client_tool", "locate", input={"why": "map"}),
        wait("child", "researcher", child="r2"),
        wait("timer", "sleep"),
        wait("event", "order.paid", input="A-17"),
        ("wait.answered", {"wait_id": "w-question", "outcome": "answered", "by": "ann", "value": 12}),
        DONE,
    )
    assert notes == [
        "? Which row?",
        "  runyard waits answer w-question",
        '? tool of the client: locate {"why":"map"}',
        "  runyard waits answer w-client_tool",
        "⋯ researcher in run r2",
        "⋯ sleeping",
        "⋯ order.paid A-17",
        "! answered by ann",
        "done",
    ]


def test_control_sequences_are_made_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    nasty = "a\x1b[2Jb\rc\x9bd\ttab\nline"
    out, notes, _ = shown(
        capsys, token(nasty), ("tool.started", {"call_id": "c", "tool": "t", "input": nasty}), output(nasty)
    )
    assert out == "a\ufffd[2Jb\ufffdc\ufffdd\ttab\nline\n"
    assert notes == [r"→ t a\u001b[2Jb\u000dc\u009bd tab line"]


def test_an_event_of_a_newer_server_is_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, ("model.sang", {"tune": "x"}), DONE) == ("", ["done"], "done")


def test_steps_are_told_as_they_begin_and_when_they_fail(capsys: pytest.CaptureFixture[str]) -> None:
    out, notes, status = shown(
        capsys,
        ("step.started", {"step": "EnsureDevice", "name": "EnsureDevice"}),
        ("trace", {"fn": "ensureDevice.check"}),
        ("step.finished", {"step": "EnsureDevice", "name": "EnsureDevice"}),
        ("step.started", {"step": "s#1", "name": "look up"}),
        ("step.finished", {"step": "s#1", "name": "look up", "error": "OSError"}),
        DONE,
    )
    assert (out, status) == ("", "done")
    assert notes == ["▸ EnsureDevice", "▸ look up", "▸ look up failed: OSError", "done"]


@pytest.mark.parametrize(("why", "word"), [("max_steps", "max_turns"), ("max_tokens_exceeded", "max_usd")])
def test_a_run_that_a_limit_stopped_says_which(capsys: pytest.CaptureFixture[str], why: str, word: str) -> None:
    ended = ("run.finished", {"status": "done", "stop_reason": why})
    _, notes, status = shown(capsys, output(""), ended)
    assert (status, notes[-1]) == ("done", "done")
    assert word in notes[-2]
    event = LogEvent(run_id="r", seq=1, id="e", ts=0, type=ended[0], data=ended[1])
    assert is_shown(event), "a chat shows it, too"
    assert not is_shown(msgspec.structs.replace(event, data={"status": "done", "stop_reason": "end_turn"}))
