"""Random logs that a run could write, for laws of translations."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from runyard.domain.content.parts import File, Image
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
from runyard.domain.state.fold import fold
from tests.faces.samples.sample_events import RUN_ID, FixedClock

API = (RunQueued, ApprovalDecided, WaitAnswered, MessageReceived)
QUEUED = RunQueued("helper", "message")


def log(*payloads: Payload) -> list[Event]:
    made = [Drafter(FixedClock(), "api" if isinstance(each, API) else "worker")(each) for each in payloads]
    return place(RUN_ID, 1, made)


MARKS = [
    "server", "failing", "failing silently", "open", "approved", "edited", "rejected", "rejected at once",
    "approval expired", "unknown", "unknown rejected", "client", "client that waits", "client failed", "client expired",
    "question", "question that waits", "question expired", "confirmed", "refused", "child", "child failed", "timer",
    "event", "steered", "turn", "parallel", "parallel waits",
]  # fmt: skip
_words = st.text(alphabet="ab \n", max_size=3)
_usage = st.none() | st.builds(Usage, st.integers(0, 5), st.integers(0, 5))
_results: st.SearchStrategy[list[Payload]] = st.one_of(
    st.just([ModelReset()]),
    st.just([RunResumed(2, "crash"), ModelReset()]),
    st.builds(lambda u: [ModelMessage("s#1", {"role": "assistant"}, u)], _usage),
    st.builds(lambda u: [StepStarted("s#2", "s"), StepFinished("s#2", "s", u)], _usage),
    st.sampled_from(MARKS).map(lambda kind: [Trace(kind)]),
)


def _blocks(words: st.SearchStrategy[str], most: int) -> st.SearchStrategy[list[Payload]]:
    texts = st.lists(words, min_size=1, max_size=most)
    tokens = texts.map(lambda pieces: list[Payload](map(ModelToken, pieces)))
    thoughts = texts.map(lambda pieces: list[Payload](map(ModelThinking, pieces)))
    return tokens | thoughts | _results


_ends: st.SearchStrategy[list[Payload]] = st.sampled_from(
    ["done", "rich", "other text", "error", "canceled", "none"]
).map(lambda kind: [Trace(kind)])
FILES: list[File | Image] = [
    File(id="file-1", name="page.txt", type="text/plain", size=7),
    Image(id="file-2", name="dot.png", type="image/png", size=16),
]
SOURCES = ["https://example.com/fares", "fare_001"]


class _Call(NamedTuple):
    """The events of a call with a separate id, and of the wait for it."""

    n: int
    part: str = ""

    @property
    def key(self) -> str:
        return f"call#{self.n}{self.part}"

    @property
    def wait(self) -> str:
        return f"wait_{self.n}{self.part}"

    @property
    def given(self) -> dict[str, Any]:
        return {"n": self.n, "part": self.part}

    @property
    def requested(self) -> Payload:
        return ToolRequested(self.key, "tool", self.given)

    def started(self, **edited: Any) -> Payload:
        return ToolStarted(self.key, "tool", {**self.given, **edited})

    def finished(self, output: Any = None, error: str | None = None) -> Payload:
        return ToolFinished(self.key, "tool", output, error)

    @property
    def for_client(self) -> Payload:
        return WaitRequested(self.wait, self.key, "client_tool", "tool", input=self.given)

    def approval(
        self, kind: Literal["tool", "unknown_outcome", "question"] = "tool", given: Any = None
    ) -> list[Payload]:
        """Ask for an approval, and wait for it."""
        asked = ApprovalRequested(self.wait, self.key, kind, "tool", given or self.given)
        return [asked, RunWaiting([self.wait])]

    def decided(self, decision: Literal["approved", "rejected", "expired"], edited: Any = None) -> Payload:
        return ApprovalDecided(self.wait, decision, "ann", edited, "no" if decision == "rejected" else None)

    def answered(self, value: Any) -> Payload:
        return WaitAnswered(self.wait, "answered", "ann", value)

    def expired(self) -> Payload:
        return WaitAnswered(self.wait, "expired", "timer")

    def failed(self) -> Payload:
        return WaitAnswered(self.wait, "failed", "ann", code="broken", message="It broke.")

    def wanted(self, kind: Literal["question", "child", "timer", "event"], **about: Any) -> Payload:
        return WaitRequested(self.wait, self.key, kind, kind, **about)


def _calls(kind: str, n: int) -> list[Payload]:
    call = _Call(n)
    for table in (_server_calls, _client_calls, _questions, _several):
        if (found := table(call)).get(kind) is not None:
            return found[kind]
    raise KeyError(kind)


def _server_calls(call: _Call) -> dict[str, list[Payload]]:
    begun = [call.requested, call.started()]
    rejected = call.finished("rejected", "rejected")
    return {
        "server": [*begun, call.finished({"result": call.n})],
        "failing": [*begun, call.finished(f"broken {call.n}", "error")],
        "failing silently": [*begun, call.finished(None, "timeout")],
        "open": begun,
        "approved": [call.requested, *call.approval(), call.decided("approved"), call.started(), call.finished(call.n)],
        "edited": [
            call.requested, *call.approval(), call.decided("approved", {**call.given, "edited": True}),
            call.started(edited=True), call.finished(f"edited {call.n}"),
        ],
        "rejected": [call.requested, *call.approval(), call.decided("rejected"), rejected],
        "rejected at once": [call.requested, call.approval()[0], call.decided("rejected"), rejected],
        "approval expired": [call.requested, *call.approval(), call.decided("expired"), rejected],
        "unknown": [
            *begun, RunResumed(2, "crash"), *call.approval("unknown_outcome"), call.decided("approved"),
            call.started(), call.finished(call.n),
        ],
        "unknown rejected": [
            *begun, RunResumed(2, "crash"), *call.approval("unknown_outcome"), call.decided("rejected"),
            call.finished("It may have taken effect.", "unknown_outcome"),
        ],
    }  # fmt: skip


def _client_calls(call: _Call) -> dict[str, list[Payload]]:
    asked = [call.requested, call.for_client, call.started()]
    waiting = [*asked, RunWaiting([call.wait])]
    answered = [call.answered(f"result {call.n}"), call.finished(f"result {call.n}")]
    return {
        "client": [*asked, *answered],
        "client that waits": [*waiting, *answered],
        "client failed": [*waiting, call.failed(), call.finished("Error: It broke.", "broken")],
        "client expired": [*waiting, call.expired(), call.finished("Error: No answer came in time.", "timeout")],
    }


def _questions(call: _Call) -> dict[str, list[Payload]]:
    question = call.wanted("question", prompt="Why?", schema={"type": "object"})
    waiting = RunWaiting([call.wait])
    confirmation = call.approval("question", {"question": "Why?"})
    child = [call.wanted("child", input="hi", child=f"child_{call.n}"), waiting]
    done = WaitAnswered(call.wait, "answered", "child", {"text": "done"}, usage=Usage(1, 1))
    return {
        "question": [question, call.answered({"n": call.n})],
        "question that waits": [question, waiting, call.answered({"n": call.n})],
        "question expired": [question, waiting, call.expired()],
        "confirmed": [*confirmation, call.decided("approved")],
        "refused": [*confirmation, call.decided("rejected")],
        "child": [*child, done],
        "child failed": [*child, call.failed()],
        "timer": [call.wanted("timer", expires_at=1_700_000_000_000), waiting, call.answered(None)],
        "event": [call.wanted("event", input="key"), waiting, call.answered({"paid": True})],
    }


def _several(call: _Call) -> dict[str, list[Payload]]:
    one, two = _Call(call.n, "a"), _Call(call.n, "b")
    [approval, _], both = one.approval(), RunWaiting([one.wait, two.wait])
    return {
        "steered": [MessageReceived(f"m{call.n}", "also"), MessageTaken(f"m{call.n}")],
        "turn": [
            StepStarted(f"turn#{call.n}", "turn", "model"), ModelToken("t"), call.requested, call.started(),
            ToolOutput(call.key, "o"),
        ],
        "parallel": [
            one.requested, two.requested, one.started(), two.started(), two.finished("second"), one.finished("first"),
        ],
        "parallel waits": [
            one.requested, two.requested, approval, two.for_client, two.started(), both, one.decided("approved"),
            one.started(), one.finished("first"), RunWaiting([two.wait]), two.answered("second"),
            two.finished("second"),
        ],
    }  # fmt: skip


def _end(kind: str, text: str) -> list[Payload]:
    rich = RunOutput(text, SOURCES, {"seat": 1}, files=FILES)
    table: dict[str, list[Payload]] = {
        "done": [RunOutput(text), RunFinished("done", "end_turn", Usage(50, 50))],
        "rich": [rich, RunFinished("done", "end_turn")],
        "other text": [RunOutput("x" + text), RunFinished("done", "max_tokens_exceeded")],
        "error": [RunError("broken", "Broken."), RunFinished("error", "error")],
        "canceled": [RunCanceled("requested"), RunFinished("canceled", "cancelled")],
        "none": [],
    }
    return table[kind]


def _payloads(blocks: list[list[Payload]], end: list[Payload]) -> Iterator[Payload]:
    """Replace the marks by calls with their own ids, and the end by one that fits the text."""
    seen: list[Payload] = [QUEUED]
    for n, block in enumerate(blocks):
        first = block[0]
        seen += _calls(first.fn, n) if isinstance(first, Trace) else block
    [mark] = end
    assert isinstance(mark, Trace)
    yield from seen
    yield from _end(mark.fn, fold(log(*seen)).text)


def logs_of(words: st.SearchStrategy[str], most: int = 1) -> st.SearchStrategy[list[Event]]:
    """Logs whose texts have these pieces, up to `most` of one kind in a row."""
    blocks = st.lists(_blocks(words, most), max_size=14)
    return st.builds(lambda blocks, end: log(*_payloads(blocks, end)), blocks, _ends)


logs = logs_of(_words)


def every_kind(end: str) -> list[Event]:
    """Return a log with every kind of call and wait. Each comes after a piece of text."""
    blocks: list[list[Payload]] = [[payload] for mark in MARKS for payload in (ModelToken(f"{mark} "), Trace(mark))]
    return log(*_payloads(blocks, [Trace(end)]))


PHASES = [Phase.explicit, Phase.generate]


def drawn_logs() -> list[list[Event]]:
    """Return a hundred random logs, and two with every kind of event, for tests that send many logs to one program."""
    found: list[list[Event]] = []

    @settings(max_examples=100, database=None, phases=PHASES, suppress_health_check=list(HealthCheck))
    @given(logs)
    @example(every_kind("rich"))
    @example(every_kind("error"))
    def collect(events: list[Event]) -> None:
        found.append(events)

    collect()
    return found
