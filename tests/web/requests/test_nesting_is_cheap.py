"""Nesting is checked at about the price of parsing, measured in CPU time and against the parser itself."""

import gc
from collections.abc import Callable
from time import thread_time

import msgspec
import pytest

from runyard.web.body import MOST_LEVELS, NotJson, decoded

FLAT = b"[" + b"[]," * 200_000 + b"[]]"
SOME = b"[" + b"[[[[]]]]," * 66_000 + b"1]"


def cost(work: Callable[[], object]) -> float:
    """The least CPU seconds of five attempts, with the collector kept off what is there already, as in a server."""
    taken = []
    gc.freeze()
    try:
        for _ in range(5):
            began = thread_time()
            work()
            taken.append(thread_time() - began)
    finally:
        gc.unfreeze()
    return min(taken)


def refused(body: bytes) -> None:
    with pytest.raises(NotJson, match=f"more than {MOST_LEVELS} levels"):
        decoded(body)


def test_a_body_that_is_too_deep_costs_next_to_nothing() -> None:
    parsing = cost(lambda: msgspec.json.decode(FLAT))
    for deep in (b"[" * 300_000 + b"]" * 300_000, b"[" * 600_000, b'{"a":' * 100_000):
        assert cost(lambda deep=deep: refused(deep)) < parsing  # type: ignore[misc]


def test_a_body_with_many_brackets_costs_little_more_than_to_parse_it() -> None:
    for body in (FLAT, SOME):
        assert cost(lambda body=body: decoded(body)) < 5 * cost(lambda body=body: msgspec.json.decode(body))  # type: ignore[misc]


def test_the_limit_is_exact_for_lists_and_objects_beside_each_other() -> None:
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        most = opening * MOST_LEVELS + (b"" if opening == b"[" else b"1") + closing * MOST_LEVELS
        beside = b"[" * 300 + b"]" * 300
        assert decoded(b"[%b]" % b",".join([beside] * 3)) is not None
        assert decoded(most) is not None
        refused(b"[%b]" % most)
    assert decoded(b'["' + b"[" * 1000 + b'"]') == ["[" * 1000], "brackets in a text are no nesting"
