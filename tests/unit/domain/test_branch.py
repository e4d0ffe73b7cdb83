"""An edit supersedes the run and all its descendants, each once, and no run that was superseded before."""

import pytest

from runyard.domain.runs.branch import BranchRun, affected
from runyard.domain.runs.run import Status


def links(*pairs: str, aside: str = "") -> list[BranchRun]:
    """`ab` is a run b whose parent is a; `.a` has none."""
    return [
        BranchRun(pair[1], pair[0].strip(".") or None, Status.DONE, "x" if pair[1] in aside else None) for pair in pairs
    ]


@pytest.mark.req("S1.32", "S1.33")
@pytest.mark.parametrize(
    ("runs", "edited", "expected"),
    [
        (links(".a", "ab", "bc"), "a", "abc"),
        (links(".a", "ab", "bc"), "b", "bc"),
        (links(".a", "ab", "bc"), "c", "c"),
        (links("bc", "ab", ".a"), "b", "bc"),
        (links(".a", "ab", "ac", "cd", aside="b"), "a", "acd"),
        (links(".a", "ab", "bc", "ad", aside="bc"), "d", "d"),
        (links(".a", ".b"), "a", "a"),
        (links("xa", "ab"), "a", "ab"),
        (links(".a"), "z", ""),
    ],
)
def test_the_run_and_what_builds_on_it(runs: list[BranchRun], edited: str, expected: str) -> None:
    assert sorted(link.id for link in affected(runs, edited)) == sorted(expected)


def test_a_long_conversation_is_no_effort() -> None:
    runs = [BranchRun("0", None, Status.DONE, None)]
    runs += [BranchRun(str(n), str(n - 1), Status.DONE, None) for n in range(1, 20_000)]
    assert len(affected(runs, "1")) == 19_999
