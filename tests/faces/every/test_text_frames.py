"""A stream has the same bytes whether its events are encoded one by one or together, as pieces of a text mostly are."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.domain.events import Event, ModelThinking, ModelToken, StepFinished
from runyard.faces.a2a import follow as a2a
from runyard.faces.a2a import objects as a2a_objects
from runyard.faces.a2a.translate import Translation as TaskTranslation
from runyard.faces.ag_ui import follow as ag_ui
from runyard.faces.ai_sdk import follow as ai_sdk
from runyard.faces.langgraph import follow as langgraph
from runyard.faces.mcp import follow as mcp
from runyard.faces.openai import follow as openai
from runyard.faces.openai.chat_translate import ChunkTranslation
from runyard.web.streaming.part_encoder import NUMBER, TEXT, PartEncoder, TextEvent, TextFrames
from tests.faces.samples.random_logs import QUEUED, log, logs_of
from tests.faces.samples.sample_events import RUN_ID

MODES = (("messages-tuple",), ("values", "messages-tuple"), ("updates",), ("messages",))
words = st.text(max_size=4) | st.sampled_from(["\n", '"', "\\", "%d", "\x00", "\u2028", "\U0001f600", "</x>"])
logs = logs_of(words, most=5)
Make = Callable[[int, int], PartEncoder]


def _langgraph(modes: Sequence[str]) -> Make:
    def make(part: int, after: int) -> PartEncoder:
        encoder = langgraph.Encoder(langgraph.Started("thread", RUN_ID, part), modes, (after, 0))
        encoder.base = []
        return encoder

    return make


def _a2a(part: int, after: int) -> PartEncoder:
    return a2a.Updates(a2a_objects.Place("context", "http://pod"), part, RUN_ID, msgspec.json.encode, None)


def _a2a_subscribed(part: int, after: int) -> PartEncoder:
    place = a2a_objects.Place("context", "http://pod")
    return a2a.LaterUpdates(place, TaskTranslation(RUN_ID), msgspec.json.encode)


def _mcp(**options: Any) -> Make:
    def make(part: int, after: int) -> PartEncoder:
        return mcp.Encoder(RUN_ID, mcp.Call(1, "token", part=part, **options), after=after, is_primed=part == 1)

    return make


ENCODERS: dict[str, Make] = {
    "mcp": _mcp(asks=True, is_stateless=False),
    "mcp, stateless": _mcp(asks=True, is_stateless=True),
    "a2a": _a2a,
    "a2a, subscribed": _a2a_subscribed,
    "openai": lambda part, after: openai.EventEncoder(RUN_ID, part, after - 1),
    "chat completions": lambda part, after: ChunkTranslation(RUN_ID, part),
    "ai": lambda part, after: ai_sdk.Encoder(ai_sdk.Parts(RUN_ID, part, part), after),
    "ai, two parts": lambda part, after: ai_sdk.Encoder(ai_sdk.Parts(RUN_ID, part, part + 1), after),
    "ag-ui": lambda part, after: ag_ui.Encoder(ag_ui.Part(RUN_ID, part), ag_ui.Asked("t", "r", [], None)),
    **{f"langgraph {modes}": _langgraph(modes) for modes in MODES},
    "langgraph, values alone": lambda part, after: langgraph.ValuesEncoder(langgraph.Started("t", RUN_ID, part)),
}


def one_by_one(encoder: PartEncoder, events: Sequence[Event]) -> bytes:
    made = b""
    for event in events:
        if not encoder.is_over:
            made += encoder.take(event)
    return made


def known(encoder: Any) -> Any:
    encoder = getattr(encoder, "_answer", encoder)
    return vars(encoder).get("_translation", getattr(encoder, "translation", None)).state


@pytest.mark.parametrize("face", ENCODERS)
@given(logs, st.lists(st.integers(0, 60)), st.integers(1, 2), st.sampled_from([0, 0, 3, 12]))
def test_events_have_the_same_bytes_alone_and_together(
    face: str, events: list[Event], cuts: list[int], part: int, after: int
) -> None:
    alone, together = ENCODERS[face](part, after), ENCODERS[face](part, after)
    ends = sorted({0, len(events), *(cut for cut in cuts if cut < len(events))})
    made = b"".join(together.take_all(events[first:last]) for first, last in pairwise(ends))
    assert made == one_by_one(alone, events)
    assert together.is_over == alone.is_over
    assert known(together) == known(alone)


@pytest.mark.parametrize("face", ENCODERS)
def test_the_gap_between_two_turns_is_left_out_after_reasoning_too(face: str) -> None:
    finished = StepFinished("s#1", "s")
    events = log(QUEUED, ModelToken("a"), finished, ModelThinking("why"), *map(ModelToken, ["\n", "\nb", "c"]))
    alone, together = ENCODERS[face](1, 0), ENCODERS[face](1, 0)
    assert together.take_all(events) == one_by_one(alone, events)


@pytest.mark.parametrize("face", ENCODERS)
def test_lines_of_a_long_text_have_the_same_bytes_alone_and_together(face: str) -> None:
    events = log(QUEUED, *map(ModelToken, ["a", "x" * 60, "y" * 60, "b", "c\n", "d", "z" * 99, "e", "f"]))
    alone, together = ENCODERS[face](1, 0), ENCODERS[face](1, 0)
    assert together.take_all(events) == one_by_one(alone, events)


@pytest.mark.parametrize("face", [face for face in ENCODERS if face not in ("langgraph ('messages',)",)])
def test_pieces_of_an_open_text_need_no_object_each(face: str) -> None:
    encoder = ENCODERS[face](1, 0)
    encoder.take_all(log(QUEUED, ModelToken("a")))
    taken = 0

    def take(event: Event) -> bytes:
        nonlocal taken
        taken += 1
        return b""

    encoder.take = take  # type: ignore[method-assign]
    encoder.take_all(log(QUEUED, ModelToken("a"), *map(ModelToken, "bcd"))[2:])
    assert taken == 0


@given(st.lists(words), st.integers(0, 2**53))
def test_frames_are_the_example_with_its_marks_replaced(pieces: list[str], first: int) -> None:
    def encoded(piece: str, number: int) -> bytes:
        return b"id: %d 100%%\ndata: %b\n\n" % (number, msgspec.json.encode({"%s": piece}))

    expected = b"".join(encoded(piece, n) for n, piece in enumerate(pieces, first))
    assert TextFrames(encoded(TEXT, NUMBER)).of(pieces, first) == expected


@given(st.lists(words, min_size=1))
def test_frames_without_a_number_too(pieces: list[str]) -> None:
    def encoded(piece: str) -> bytes:
        return b"data: %b\n\n" % msgspec.json.encode({"100%": piece})

    assert TextFrames(encoded(TEXT)).of(pieces) == b"".join(map(encoded, pieces))


class Recording(PartEncoder):
    """Ends with the first event that it takes alone."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def take(self, event: Event) -> bytes:
        self.is_over = True
        return b"alone"

    def more_text(self, kind: TextEvent, pieces: Sequence[str], texts: Sequence[Event]) -> bytes | None:
        self.texts += pieces
        return b"together"


def test_nothing_is_encoded_after_the_end_of_a_part() -> None:
    encoder = Recording()
    assert encoder.take_all(log(ModelToken("a"), QUEUED, QUEUED, ModelToken("b"))) == b"togetheralone"
    assert encoder.texts == ["a"]
