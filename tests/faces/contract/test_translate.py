"""The frames of the contract face for every core event, cell by cell."""

import pytest
from msgspec.structs import replace

from runyard.contract.wire import AgentRunResponse
from runyard.domain.events import EVENT_TYPES, RunCanceled, RunError, RunFinished, RunOutput, RunQueued
from runyard.domain.task import Budget, Task
from runyard.faces.contract.translate import EnvelopeBuilder
from tests.faces.samples.sample_events import EVENTS, RUN_ID, event

PROGRESS = {
    "run.resumed",
    "message.received",
    "message.taken",
    "step.started",
    "step.finished",
    "approval.requested",
    "approval.decided",
    "wait.requested",
    "wait.answered",
    "tool.started",
    "tool.finished",
    "run.waiting",
}
TASK = Task("ECHO", {"query": "secret"}, {"request_id": "r"}, Budget(timeout_ms=1000))


@pytest.mark.req("S2.13", "S2.15", "S2.16", "S2.17")
def test_every_core_event_has_its_frame_or_none() -> None:
    builder = EnvelopeBuilder("done")
    names = {one.type: (builder.take(one) or ("", {}))[0] for one in EVENTS}
    expected = dict.fromkeys(EVENT_TYPES, "") | dict.fromkeys(PROGRESS, "progress")
    assert names == expected | {"run.queued": "started", "run.finished": "done"}


def test_progress_carries_no_content() -> None:
    builder = EnvelopeBuilder("final")
    for one in EVENTS[:-1]:
        shown = builder.take(one)
        if shown is not None and shown[0] == "progress":
            assert set(shown[1]) <= {"request_id", "task_type", "event", "step", "tool"}


@pytest.mark.req("S2.19", "S2.21")
@pytest.mark.parametrize(
    ("last", "status", "code"),
    [
        (RunOutput("x"), "done", None),
        (None, "done", None),
        (RunError("agent_error", "secret"), "error", "TASK_FAILED"),
        (RunError("Not a code: secret", "secret"), "error", "TASK_FAILED"),
        (RunError("poison", "secret"), "error", "POISON"),
        (RunCanceled("requested"), "canceled", "CANCELLED"),
    ],
)
def test_every_end_is_an_envelope(last: RunOutput | RunError | None, status: str, code: str | None) -> None:
    builder = EnvelopeBuilder("final")
    builder.take(event(RunQueued("agent", task=TASK)))
    if last is not None:
        builder.take(event(last, 2))
    shown = builder.take(event(RunFinished(status, "end_turn"), 3))  # type: ignore[arg-type]
    assert shown is not None
    found = AgentRunResponse.model_validate(shown[1])
    assert found.request_id == "r"
    assert found.task_type == "ECHO"
    assert (found.status, found.ok) == (("ok", True) if code is None else ("error", False))
    assert (found.error.code if found.error else None) == code
    assert found.provenance == {"run_id": RUN_ID, "agent": "agent"}
    assert "secret" not in str(shown[1])


@pytest.mark.parametrize(("ms", "code"), [(999, "CANCELLED"), (1000, "TIMEOUT")])
def test_a_run_that_is_cancelled_after_its_time_was_late(ms: int, code: str) -> None:
    builder = EnvelopeBuilder("final")
    queued = event(RunQueued("agent", task=TASK))
    builder.take(queued)
    builder.take(replace(event(RunCanceled("requested"), 2), ts=queued.ts + ms))
    builder.take(event(RunFinished("canceled", "cancelled"), 3))
    assert builder.envelope is not None
    assert builder.envelope["error"]["code"] == code
