"""The client refuses a stream in which an event is missing, duplicated, late or out of order. A benchmark whose check
cannot fail measures nothing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bench.client.oracle import Chunks, Wrong, judge, judge_lines
from bench.client.wire import Piece
from bench.rivals.pace import timed_token
from runyard.domain.redaction.redactor import Redactor
from runyard.domain.redaction.sensitive import PATTERNS

MADE, CAME = 1_000, 5_000


def token(seq: int, number: int) -> bytes:
    return b'id: %d\nevent: token\ndata: {"text":"%b"}\n\n' % (seq, timed_token(number, MADE).encode())


FINAL = b'id: 90\nevent: final\ndata: {"text":"t0 "}\n\n'
STATE = b'id: 91\nevent: state\ndata: {"status":"done"}\n\n'
WHOLE = [token(2, 0), token(3, 1), token(4, 2), FINAL, STATE]


def chunked(*bodies: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(body), body) for body in bodies) + b"0\r\n\r\n"


def came(*bodies: bytes) -> list[Piece]:
    return [(CAME, chunked(*bodies))]


def test_a_whole_stream_is_taken_with_its_times() -> None:
    verdict = judge(came(*WHOLE), 3)
    assert verdict.first == CAME
    assert list(verdict.delays) == [CAME - MADE] * 3


def test_redaction_leaves_the_time_of_a_token() -> None:
    """Numbers of 13 digits look like those of cards once in ten times."""
    redactor = Redactor(list(PATTERNS))
    tokens = [timed_token(n, at) for n in range(100) for at in (10**9 + n, 2_800_000_000_000 + n, 10**18 + n)]
    assert [redactor.text(token) for token in tokens] == tokens


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_however_the_network_cut_it(size: int) -> None:
    data = chunked(b"".join(WHOLE[:2]), b": ping\n\n", b"".join(WHOLE[2:]))
    pieces = [(at, data[at : at + size]) for at in range(0, len(data), size)]
    verdict = judge(pieces, 3)
    whole = len(b"8b\r\n") + len(WHOLE[0])
    assert verdict.first == (whole - 1) // size * size, "the first event came when its last byte did"


@pytest.mark.parametrize(
    ("bodies", "complaint"),
    [
        ([WHOLE[0], WHOLE[2], FINAL, STATE], "token 2 came where 1 was due"),
        ([WHOLE[0], WHOLE[1], FINAL, STATE], "2 tokens came, not 3"),
        ([token(2, 0), token(3, 0), token(4, 1), token(5, 2), STATE], "token 0 came where 1 was due"),
        ([token(2, 0), token(2, 0), token(3, 1), token(4, 2), STATE], "id 2 came after 2"),
        ([token(2, 0), token(3, 2), token(4, 1), STATE], "token 2 came where 1 was due"),
        ([token(2, 0), token(4, 1), token(3, 2), STATE], "id 3 came after 4"),
        ([*WHOLE[:4]], "the stream has no end"),
        ([*WHOLE, b'id: 92\nevent: state\ndata: {"status":"done"}\n\n'], "something came after the end"),
        ([*WHOLE, token(92, 3)], "something came after the end"),
        ([*WHOLE, b"id: 92\nevent: tok"], "cut off"),
        ([b"nonsense\n\n", *WHOLE], "not a field"),
    ],
    ids=[
        "missing",
        "last missing",
        "doubled",
        "same id",
        "swapped",
        "ids fall",
        "no end",
        "two ends",
        "late",
        "cut",
        "junk",
    ],
)
def test_any_other_stream_is_refused(bodies: Sequence[bytes], complaint: str) -> None:
    with pytest.raises(Wrong, match=complaint):
        judge(came(*bodies), 3)


def test_a_dialect_without_ids_and_without_a_last_event_is_judged_by_its_tokens() -> None:
    started = b'event: metadata\r\ndata: {"run_id":"1"}\r\n\r\n'
    some = [b'event: custom\r\ndata: {"text":"t%d "}\r\n\r\n' % n for n in range(3)]
    pieces = [(1, chunked(started)[:-5]), (2, chunked(*some))]
    assert judge(pieces, 3, end=None).first == 2, "the first token, not the first frame"
    for wrong in (some[:2], [some[0], *some], some[::-1]):
        with pytest.raises(Wrong):
            judge(came(started, *wrong), 3, end=None)


def test_lines_of_several_tokens_are_judged_token_by_token() -> None:
    def line(text: bytes) -> bytes:
        return b'id: run-1.1\ndata: {"text":"%b"}\n\n' % text

    whole = line(b"t0 bb t1 t2 ")
    verdict = judge_lines([(CAME, chunked(line(b"t0 bb t1"), whole))], 3)
    assert (verdict.first, verdict.sent, verdict.delays) == (CAME, [11], [CAME - 11])
    for wrong in ([line(b"t1"), whole], [line(b"t0 bb t1 t2 "), line(b"t0 bb t1 ")], [line(b"t0 t2 t1 ")], []):
        with pytest.raises(Wrong):
            judge_lines(came(*wrong), 3)


@pytest.mark.parametrize(
    "data",
    [chunked(*WHOLE)[:-5], b"zz\r\n" + WHOLE[0], chunked(*WHOLE) + b"more", b""],
    ids=["no last chunk", "no size", "after the last", "nothing"],
)
def test_a_response_that_is_no_whole_response_is_refused(data: bytes) -> None:
    with pytest.raises(Wrong):
        judge([(CAME, data)], 3)


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_chunks_are_joined_at_any_cut(size: int) -> None:
    data, chunks = chunked(b"one", b"two\r\n", b"three"), Chunks()
    assert b"".join(chunks.feed(data[at : at + size]) for at in range(0, len(data), size)) == b"onetwo\r\nthree"
    assert chunks.ended
