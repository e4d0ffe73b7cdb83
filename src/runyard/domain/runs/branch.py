"""Branches of a thread, and the runs that an edit supersedes. Pure.

A run continues from the end of its parent. An edit gives the parent of the edited run another child. The edited run and
all its descendants in the same thread are superseded, not deleted.
"""

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from runyard.domain.runs.run import Status


class BranchRun(Struct, frozen=True):
    """A run's position in the branches of its thread."""

    id: str
    parent_id: str | None
    status: Status
    superseded_by: str | None


def affected(links: Iterable[BranchRun], run_id: str) -> list[BranchRun]:
    """Return the run and all its descendants, without those that were superseded before."""
    children: dict[str | None, list[BranchRun]] = defaultdict(list)
    found: list[BranchRun] = []
    for link in links:
        children[link.parent_id].append(link)
        if link.id == run_id:
            found.append(link)
    for link in found:  # the list grows during the loop
        found += children[link.id]
    return [link for link in found if link.superseded_by is None]
