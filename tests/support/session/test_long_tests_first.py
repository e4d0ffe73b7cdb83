"""The order of tests under xdist keeps every test, and begins each worker's share with long ones."""

from pathlib import Path

import pytest

from tests.support.session.long_tests_first import ALONE, BESIDE, in_shares

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("workers", [1, 2, 4, 7])
def test_every_test_stands_once_in_the_order_and_long_ones_begin_the_shares(workers: int) -> None:
    ids = [f"tests/unit/test_{n}.py::test" for n in range(100)]
    ids[40:40] = [f"{path}::test_{n}" for path in (*ALONE, *BESIDE) for n in range(2)]
    ordered = in_shares(ids, workers)
    assert sorted(ordered) == list(range(len(ids)))
    if workers == 1:
        assert ordered == sorted(ordered)
        return
    begin = 0
    for number in range(workers):
        assert ids[ordered[begin]].startswith(ALONE if number == 0 else BESIDE)
        begin += (len(ids) - begin) // (workers - number)
    short = [place for place in ordered if not ids[place].startswith((*ALONE, *BESIDE))]
    assert short == sorted(short), "the others stay together with their modules"


def test_every_long_test_exists() -> None:
    assert [path for path in (*ALONE, *BESIDE) if not (ROOT / path).exists()] == []
