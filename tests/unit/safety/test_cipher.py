"""A sealed value opens in its own place with a key of the ring, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.domain.events import clean
from runyard.encryption.cipher import TEXT_MARK, KeyRing, make, parse
from runyard.errors import Unreadable

OLD, NEW = f"old:{'A' * 43}=", make("new")
RING = parse(OLD)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.req("S1.48")
@given(st.binary(), TEXTS)
def test_sealed_data_opens_unchanged(data: bytes, text: str) -> None:
    assert RING.open(RING.seal(data, "run", "event"), "run", "event") == data
    assert RING.open_text(RING.seal_text(text, "row", "column"), "row", "column") == text


@pytest.mark.req("S1.48")
@given(TEXTS)
def test_plain_text_opens_only_with_a_key_ring_that_accepts_it(text: str) -> None:
    text = clean(text)
    lenient = RING.accepting_plain()
    assert lenient.open_text(text, "row", "column") == text
    assert lenient.open(text.encode(), "row", "column") == text.encode()
    with pytest.raises(Unreadable, match="not encrypted"):
        RING.open_text(text, "row", "column")
    with pytest.raises(Unreadable, match="not encrypted"):
        RING.open(text.encode(), "row", "column")


def test_clean_takes_out_the_mark_of_sealed_text() -> None:
    assert not clean(RING.seal_text("hello", "row", "column")).startswith(TEXT_MARK)


@pytest.mark.req("S1.48")
@pytest.mark.parametrize("place", [("run", "another event"), ("another run", "event")])
def test_a_value_that_was_put_elsewhere_does_not_open(place: tuple[str, str]) -> None:
    with pytest.raises(Unreadable):
        RING.open(RING.seal(b"data", "run", "event"), *place)
    with pytest.raises(Unreadable):
        RING.open_text(RING.seal_text("text", "run", "event"), *place)


@pytest.mark.req("S1.48")
def test_a_value_that_was_changed_or_cut_does_not_open() -> None:
    sealed, text = RING.seal(b"data", "run", "event"), RING.seal_text("text", "run", "event")
    for n in range(3, len(sealed)):
        with pytest.raises(Unreadable):
            RING.open(sealed[:n] + bytes([sealed[n] ^ 1]) + sealed[n + 1 :], "run", "event")
    for n in range(2, len(sealed)):
        with pytest.raises(Unreadable):
            RING.open(sealed[:n] + b"", "run", "event")
    for n in range(3, len(text)):
        with pytest.raises(Unreadable):
            RING.open_text(text[:n], "run", "event")


@pytest.mark.req("S1.48")
def test_the_first_key_seals_and_all_open() -> None:
    both, reversed_ = parse(f"{NEW}, {OLD}"), parse(f"{OLD},{NEW}")
    sealed = both.seal(b"data", "run", "event")
    assert sealed.startswith(parse(NEW).writer.head)
    for ring in (both, reversed_, parse(NEW)):
        assert ring.open(sealed, "run", "event") == b"data"
    with pytest.raises(Unreadable, match="does not have"):
        RING.open(sealed, "run", "event")


def test_the_same_content_is_never_sealed_the_same_way() -> None:
    assert len({RING.seal(b"data", "run", "event") for _ in range(100)}) == 100


@pytest.mark.parametrize(
    "text", ["", ",", "k1", "k1:", "k1:AAAA", ":" + OLD[4:], "a b:" + OLD[4:], OLD + ",x", OLD + "=", f"{OLD},{OLD}"]
)
def test_an_invalid_key_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(ValueError, match="key") as refused:
        parse(text)
    assert OLD[4:] not in str(refused.value)


def test_no_repr_shows_a_key() -> None:
    secret = OLD.partition(":")[2]
    assert repr(RING) == "KeyRing(old)"
    assert secret not in repr(RING.writer)
    assert isinstance(RING, KeyRing)
