"""Branches of a conversation: who follows whom, and what an edit puts aside. Pure.

A run starts from the end of its parent. An edit gives the edited run's parent another child; what was edited and all
that followed it in the same thread is superseded, not deleted.
"""

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from runyard.domain.run import Status


class Link(Struct, frozen=True):
    """A run, as far as branches are concerned."""

    id: str
    parent_id: str | None
    status: Status
    superseded_by: str | None


def affected(links: Iterable[Link], run_id: str) -> list[Link]:
    """The run and every later one that builds on it, as far as none of them was put aside before."""
    children: dict[str | None, list[Link]] = defaultdict(list)
    found: list[Link] = []
    for link in links:
        children[link.parent_id].append(link)
        if link.id == run_id:
            found.append(link)
    for link in found:  # grows as it goes
        found += children[link.id]
    return [link for link in found if link.superseded_by is None]
