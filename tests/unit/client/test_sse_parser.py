"""The parser of server-sent events: the events of a stream do not depend on how the network splits it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.base.sse import Frame, Parser

STREAM = (
    "\ufeff: a comment\n\n"
    'id: 1\nevent: model.token\ndata: {"text":"Größe 🦜 „ok“"}\n\n'
    "id: 2\r\nevent: two\r\ndata: one\r\ndata:  two\r\ndata\r\n\r\n"
    "data:no space\r\r"
    ": ping\n\n"
    "event: nothing\n\n"
    "unknown: field\nretry: 5\nid: 4\ndata: last\n\n"
    "data: never finished"
).encode()
FRAMES = [
    Frame('{"text":"Größe 🦜 „ok“"}', "model.token", "1"),
    Frame("one\n two\n", "two", "2"),
    Frame("no space", "message", "2"),
    Frame("last", "message", "4"),
]


def test_a_whole_stream_gives_its_frames() -> None:
    assert Parser().feed(STREAM) == FRAMES


@pytest.mark.parametrize("cut", range(len(STREAM) + 1))
def test_a_stream_cut_at_any_byte_gives_the_same_frames(cut: int) -> None:
    parser = Parser()
    assert parser.feed(STREAM[:cut]) + parser.feed(STREAM[cut:]) == FRAMES


def test_a_stream_that_comes_byte_by_byte_gives_the_same_frames() -> None:
    parser = Parser()
    assert [frame for n in range(len(STREAM)) for frame in parser.feed(STREAM[n : n + 1])] == FRAMES


@given(st.lists(st.integers(0, len(STREAM))).map(sorted))
def test_a_stream_cut_anywhere_any_number_of_times_gives_the_same_frames(cuts: list[int]) -> None:
    parser = Parser()
    places = [0, *cuts, len(STREAM)]
    chunks = [STREAM[start:end] for start, end in pairwise(places)]
    assert [frame for chunk in chunks for frame in parser.feed(chunk)] == FRAMES


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@given(text=st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1))
def test_any_text_comes_through_with_any_line_end(end: str, text: str) -> None:
    assert Parser().feed(f"data: {text}{end}{end}".encode()) == [Frame(text)]


@given(st.binary(), st.binary())
def test_no_bytes_break_it(first: bytes, second: bytes) -> None:
    parser = Parser()
    parser.feed(first)
    parser.feed(second)


def test_an_id_with_nul_is_ignored() -> None:
    assert Parser().feed(b"id: 1\ndata: a\n\nid: \x002\ndata: b\n\n") == [Frame("a", id="1"), Frame("b", id="1")]


def test_an_empty_data_line_is_a_frame_and_no_data_line_is_none() -> None:
    assert Parser().feed(b"data:\n\nid: 3\n\n") == [Frame("")]


def test_an_event_name_holds_for_one_frame_only() -> None:
    assert Parser().feed(b"event: a\n\ndata: b\n\n") == [Frame("b", "message")]


def test_only_the_very_first_bytes_can_be_a_bom() -> None:
    assert Parser().feed("data: a\n\n\ufeffdata: b\n\n".encode()) == [Frame("a")]
