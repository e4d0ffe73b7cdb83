"""One event of every core type, in an order that a run could write, for tests of translations."""

from runyard.domain.events import (
    ApprovalDecided,
    ApprovalRequested,
    Drafter,
    Event,
    MessageReceived,
    MessageTaken,
    ModelMessage,
    ModelReset,
    ModelThinking,
    ModelToken,
    Payload,
    RunCanceled,
    RunError,
    RunFinished,
    RunOutput,
    RunQueued,
    RunResumed,
    RunWaiting,
    StepFinished,
    StepStarted,
    ToolFinished,
    ToolOutput,
    ToolRequested,
    ToolStarted,
    Trace,
    Usage,
    WaitAnswered,
    WaitRequested,
    place,
)

RUN_ID = "01890000-0000-7000-8000-000000000001"
PAYLOADS: list[Payload] = [
    RunQueued("happy", "message"),
    RunResumed(2, "crash"),
    MessageReceived("message-2", "and this"),
    MessageTaken("message-2"),
    StepStarted("look up#1", "look up", hash="abc"),
    StepFinished("look up#1", "look up", Usage(1, 2, 0.5), {"found": 1}),
    ModelThinking("hm"),
    ModelToken("Grüße\n"),
    ModelReset(after=3),
    ModelMessage("step#1", {"role": "assistant", "content": "Grüße"}, Usage(1, 2)),
    ToolRequested("call#1", "mail", {"to": "ann"}),
    ApprovalRequested("approval", "call#1", "tool", "mail", {"to": "ann"}),
    ApprovalDecided("approval", "approved", "ann", {"to": "bob"}, "fine"),
    WaitRequested("wait", "ask#1", "question", "ask", "Which seat?", schema={"type": "string"}),
    WaitAnswered("wait", "answered", "ann", "12A"),
    ToolStarted("call#1", "mail", {"to": "bob"}),
    ToolOutput("call#1", "sending"),
    ToolFinished("call#1", "mail", {"sent": True}, None, 12),
    RunWaiting(["approval"]),
    Trace("here"),
    RunOutput("Grüße", ["cv_001"], {"score": 1}),
    RunError("broken", "It broke."),
    RunCanceled("requested"),
    RunFinished("done", "end_turn", Usage(1, 2)),
]


class FixedClock:
    def now_ms(self) -> int:
        return 1_700_000_000_000

    def monotonic(self) -> float:
        return 0.0


def event(payload: Payload, seq: int = 1) -> Event:
    return place(RUN_ID, seq, [Drafter(FixedClock(), "worker")(payload)])[0]


EVENTS = [event(payload, seq) for seq, payload in enumerate(PAYLOADS, 1)]


def numbered(event: Event, frame: bytes) -> bytes:
    """Return the frame with the line that carries the seq of its event; an empty frame stays empty."""
    return frame and b"id: %d\n%b" % (event.seq, frame)
