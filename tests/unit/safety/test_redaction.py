"""Sensitive text is replaced, however it is split into pieces."""

import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runyard.domain.redaction.redactor import MOST, TIMED_OUT, Redactor
from runyard.domain.redaction.sensitive import PATTERNS

OWN = {"ticket": r"\bTICKET-\d{1,6}\b", "word": r"(?i)hush(?: hush)*", "pair": r"x[^y\n]*y"}
EVERY = Redactor(list(PATTERNS), OWN)

SECRETS = {
    "ann.lee+x@mail.example.co.uk": "[email]",
    "ännchen@exämple.de": "[email]",
    "4111 1111 1111 1111": "[card]",
    "4111111111111111": "[card]",
    "3782-822463-10005": "[card]",
    "DE89 3704 0044 0532 0130 00": "[iban]",
    "GB29NWBK60161331926819": "[iban]",
    "078-05-1120": "[us_ssn]",
    "+43 664 123 45 67": "[phone]",
    "(212) 555-0199": "[phone]",
    "sk-ant-abcdefghijklmnopqrstuvwxyz0123": "[api_key]",
    "ghp_" + "a1B2" * 9: "[api_key]",
    "AKIA" + "A" * 16: "[api_key]",
    "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl": "[api_key]",
    "Bearer abcdefghijklmnopqrstuvwx": "[api_key]",
    "sk_live_abcdefghij0123456": "[api_key]",
    "AIza" + "b" * 35: "[api_key]",
    "xoxb-1234567890-abc": "[api_key]",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE+abc=\n-----END RSA PRIVATE KEY-----": "[api_key]",
    "TICKET-17": "[ticket]",
    "Hush hush HUSH": "[word]",
    "x marks the y": "[pair]",
}
# looks like a match but is not
INNOCENT = [
    "4111 1111 1111 1112",  # the check digit
    "DE88 1704 1144 1532 1130 00",
    "1700000000000",  # a time
    "000-12-3456",
    "mail@host",
    "sk-short",
    "v1.2.3-rc.4",
    "2024-11-16T10:30:00Z",
    "a@b",
    "xTICKET-17",
]


def pieces(text: str, cuts: Sequence[int]) -> list[str]:
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(places)]


def streamed(redactor: Redactor, parts: Sequence[str]) -> str:
    stream = redactor.stream()
    return "".join([stream.feed(part) for part in parts]) + stream.close()


@pytest.mark.req("S1.48")
@pytest.mark.parametrize(("secret", "mark"), SECRETS.items())
def test_each_kind_is_replaced_by_its_name(secret: str, mark: str) -> None:
    for before, after in (("", ""), ("well, ", " indeed"), ("(", ")"), ("to:\n", ".\n"), ('"', '", ')):
        assert EVERY.text(before + secret + after) == before + mark + after


@pytest.mark.parametrize("text", INNOCENT)
def test_text_that_only_looks_sensitive_is_left_alone(text: str) -> None:
    assert EVERY.text(f"see {text} there") == f"see {text} there"


@pytest.mark.req("S1.48")
@pytest.mark.parametrize("secret", [*SECRETS, *INNOCENT])
def test_in_two_pieces_it_is_replaced_wherever_it_is_cut(secret: str) -> None:
    text = f"Ab {secret} c. {secret}"
    whole = EVERY.text(text)
    for cut in range(len(text)):
        assert streamed(EVERY, [text[:cut], text[cut:]]) == whole
    assert streamed(EVERY, list(text)) == whole


WORDS = st.one_of(
    st.sampled_from([*SECRETS, *INNOCENT]),
    st.sampled_from(
        [" ", ", ", "\n", ".", "-", "@", "+", "[", "]", "[email]", "[em", "x", "y", "hush", "://a:b@", "é🦀"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.text("0123456789- +()ABab.@_xy", max_size=12),
)


@pytest.mark.req("S1.48")
@given(st.lists(WORDS, max_size=8).map("".join), st.lists(st.integers(0, 200), max_size=12))
@example("a@b.co", [5])
@example("[email", [3])
def test_however_it_is_cut_the_pieces_are_the_redacted_whole(text: str, cuts: list[int]) -> None:
    text = text.replace("\ufdd0", "")
    whole = EVERY.text(text)
    assert streamed(EVERY, pieces(text, cuts)) == whole
    assert streamed(EVERY, list(text)) == whole


@given(st.lists(WORDS, max_size=8).map("".join))
def test_to_redact_twice_changes_nothing_about_a_mark(text: str) -> None:
    once = EVERY.text(text.replace("\ufdd0", ""))
    assert EVERY.text(once).count("[[") == once.count("[[")


@given(st.lists(WORDS, max_size=6).map("".join))
def test_the_quick_look_and_the_close_one_agree(text: str) -> None:
    for finder in EVERY._finders:
        for start in range(len(text)):
            quick, close = finder.first(text, start), finder.find.search(text, start)
            assert (quick and quick.span()) == (close and close.span()), finder.name


def test_plain_text_is_held_back_for_no_longer_than_a_word() -> None:
    stream = EVERY.stream()
    assert [stream.feed(part) for part in ["He", "llo", " wor", "ld", ", and"]] == ["", "", "Hello ", "", "world, "]
    assert stream.close() == "and"


def test_no_more_is_held_back_than_the_longest_match() -> None:
    stream, held = EVERY.stream(), 0
    for piece in ["x", *["-" * 50] * 200]:  # a pair that never ends
        held += len(piece) - len(stream.feed(piece))
        assert held <= MOST
    assert streamed(EVERY, ["x" + "-" * 2 * MOST, "y"]) == "x" + "-" * 2 * MOST + "y"


@pytest.mark.req("S1.48")
def test_json_is_redacted_to_its_leaves_and_keys_and_stays_json() -> None:
    value = {"to": ["a@b.co", {"a@b.co": 1, "c@d.co": None}], "n": 4111111111111111, "ok": True}
    assert EVERY.value(value) == {
        "to": ["[email]", {"[email]": 1, "[email] 2": None}],
        "n": 4111111111111111,
        "ok": True,
    }
    assert EVERY.json('{"to":"a@b.co"}') == '{"to":"[email]"}'
    assert EVERY.json('{"to":  "nobody"}') == '{"to":  "nobody"}'
    assert EVERY.json('{"to":"a@b.co') == '{"to":"[email]'


@pytest.mark.req("S1.48")
def test_text_that_takes_too_long_is_replaced_as_a_whole() -> None:
    redactor = Redactor([], {"slow": r"z\d+"})
    late = Redactor([], {"slow": "z"})._finders[1]
    slow = type(late)("slow", _Never(), _Never(), late.lively)
    redactor._finders[1] = slow
    assert redactor.text("my z17") == TIMED_OUT
    stream = redactor.stream()
    assert stream.feed("my z17") + stream.feed(" and more") + stream.close() == 2 * TIMED_OUT


class _Never:
    def search(self, *_: object, **__: object) -> None:
        raise TimeoutError


@pytest.mark.req("S1.48")
@pytest.mark.parametrize(
    ("own", "why"),
    [
        ({"x": "("}, "invalid pattern"),
        ({"x": "a*"}, "matches empty text"),
        ({"x": "(a|a)*b"}, "is too slow"),
        ({"x": "(q+q+)+r"}, "is too slow"),
        ({"x": "foo(?=bar)"}, "look-ahead"),
        ({"x": "foo$"}, "look-ahead"),
        ({"Upper": "x"}, "lower-case letters"),
        ({"email": "x"}, "a new name"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_at_the_start(own: dict[str, str], why: str) -> None:
    began = time.monotonic()
    with pytest.raises(ValueError, match=why):
        Redactor([], own)
    assert time.monotonic() - began < 10


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="'emial'; choose from api_key, card"):
        Redactor(["emial"])
