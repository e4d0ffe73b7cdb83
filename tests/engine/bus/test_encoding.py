"""A message holds kinds, run ids and seqs, and nothing else; any text can be read without harm."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.base.ids import new_id
from runyard.buses.bus import MAX_BYTES, VERSION, Hint, Kind, decode, encode

IDS = st.one_of(st.uuids().map(str), st.from_regex(r"[A-Za-z0-9_-]{0,64}", fullmatch=True))
HINTS = st.builds(Hint, st.sampled_from(get_args(Kind)), IDS, st.integers(0, 10**18 - 1))
ONLY_THESE = re.compile(rf"{VERSION} [0-9a-f-]{{36}}( [lwcft][A-Za-z0-9_-]{{0,64}}:[0-9]{{1,18}})+")


@given(st.lists(HINTS, max_size=500))
def test_hints_are_decoded_from_messages_that_fit_a_notify(hints: list[Hint]) -> None:
    sender = new_id()
    messages = encode(sender, hints)
    assert [hint for message in messages for hint in decode(message)[1]] == hints
    assert all(decode(message)[0] == sender for message in messages)
    assert all(len(message.encode()) < MAX_BYTES <= 7_900 for message in messages)


def test_messages_are_filled_before_another_is_begun() -> None:
    assert len(encode(new_id(), [Hint("log", new_id(), 1_000_000)] * 1_000)) == 6


@given(st.lists(st.builds(Hint, st.sampled_from(get_args(Kind)), st.text(), st.integers()), max_size=50))
def test_nothing_but_kinds_ids_and_seqs_gets_onto_the_bus(hints: list[Hint]) -> None:
    for message in encode(new_id(), hints):
        assert ONLY_THESE.fullmatch(message)


@pytest.mark.parametrize(
    "content", ["my secret", '{"text":"hi"}', "a b", "über", "x" * 65, "\n", "a:1", "\x00"], ids=ascii
)
def test_hints_without_a_valid_id_are_left_out(content: str) -> None:
    assert encode(new_id(), [Hint("log", content, 1)]) == []
    assert [decode(m)[1] for m in encode(new_id(), [Hint("cancel", content), Hint("work")])] == [[Hint("work")]]


def test_a_hint_has_no_room_for_content() -> None:
    assert Hint.__struct_fields__ == ("kind", "run_id", "seq")


def test_no_hints_make_no_message() -> None:
    assert encode(new_id(), []) == []


@given(st.one_of(st.text(), st.text().map(lambda text: f"{VERSION} sender {text}")))
def test_any_text_can_be_read(text: str) -> None:
    _, hints = decode(text)
    assert all(hint.seq >= 0 for hint in hints)


def test_a_word_of_a_later_version_is_passed_over_and_the_rest_is_read() -> None:
    assert decode(f"{VERSION} sender lrun:3 zwhat:9 w:0") == ("sender", [Hint("log", "run", 3), Hint("work")])
    assert decode("runyard2 sender lrun:3") == ("", [])
