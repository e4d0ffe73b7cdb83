"""Random logs that a run could write, for laws of translations."""

from collections.abc import Iterator

from hypothesis import strategies as st

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
    "server", "failing", "open", "approved", "rejected", "client", "client that waits", "question", "confirmed",
    "child", "steered", "turn",
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


_ends: st.SearchStrategy[list[Payload]] = st.sampled_from(["done", "other text", "error", "canceled", "none"]).map(
    lambda kind: [Trace(kind)]
)


def _calls(kind: str, n: int) -> list[Payload]:
    key, wait = f"call#{n}", f"wait_{n}"
    requested, started = ToolRequested(key, "tool", {"n": n}), ToolStarted(key, "tool", {"n": n})
    asked = WaitRequested(wait, key, "client_tool", "tool", input={"n": n})
    answered: list[Payload] = [
        WaitAnswered(wait, "answered", "ann", f"result {n}"),
        ToolFinished(key, "tool", f"result {n}"),
    ]
    table: dict[str, list[Payload]] = {
        "server": [requested, started, ToolFinished(key, "tool", {"result": n})],
        "failing": [requested, started, ToolFinished(key, "tool", "broken", "error")],
        "open": [requested, started],
        "approved": [
            requested, ApprovalRequested(wait, key, "tool", "tool", {}), RunWaiting([wait]),
            ApprovalDecided(wait, "approved", "ann"), started, ToolFinished(key, "tool", n),
        ],
        "client": [requested, asked, started, *answered],
        "client that waits": [requested, asked, started, RunWaiting([wait]), *answered],
        "rejected": [
            requested, ApprovalRequested(wait, key, "tool", "tool", {}), RunWaiting([wait]),
            ApprovalDecided(wait, "rejected", "ann", reason="no"), ToolFinished(key, "tool", "rejected", "rejected"),
        ],
        "confirmed": [
            ApprovalRequested(wait, key, "question", "approve", {"question": "Why?"}), RunWaiting([wait]),
            ApprovalDecided(wait, "approved", "ann"),
        ],
        "child": [
            WaitRequested(wait, key, "child", "other", input="hi", child=f"child_{n}"), RunWaiting([wait]),
            WaitAnswered(wait, "answered", "child", {"text": "done"}, usage=Usage(1, 1)),
        ],
        "steered": [MessageReceived(f"m{n}", "also"), MessageTaken(f"m{n}")],
        "turn": [StepStarted(f"turn#{n}", "turn", "model"), ModelToken("t"), requested, started, ToolOutput(key, "o")],
        "question": [WaitRequested(wait, key, "question", "ask", "Why?"), WaitAnswered(wait, "answered", "ann", 1)],
    }  # fmt: skip
    return table[kind]


def _end(kind: str, text: str) -> list[Payload]:
    table: dict[str, list[Payload]] = {
        "done": [RunOutput(text), RunFinished("done", "end_turn", Usage(50, 50))],
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
