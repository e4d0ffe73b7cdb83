"""Rules of the state machine that compares stores: what it does with pushes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule
from msgspec.structs import replace

from runyard.domain.push import Push
from runyard.store import Store
from tests.store.factories import MANY

HOUR = 3_600_000


class PushRules:
    both: Callable[..., Any]
    _run: Callable[..., tuple[str, str]]

    @rule(
        pick=st.integers(0, 50),
        name=st.sampled_from("pq"),
        at_end=st.booleans(),
        wait_ms=st.sampled_from([0, None, HOUR]),
    )
    def push(self, pick: int, name: str, at_end: bool, wait_ms: int | None) -> None:
        run_id, _ = self._run(pick)
        new = Push(run_id=run_id, id=name, kind="a2a", data={"url": "http://a"})
        self.both(lambda store: store.put_push(new, 2, at_end=at_end), _timeless)
        self.both(lambda store: _delivered(store, wait_ms), sorted)
        self.both(lambda store: store.list_pushes(run_id), lambda found: [_timeless(each) for each in found])
        if pick % 3 == 0:
            self.both(lambda store: store.drop_push(run_id, name))


def _timeless(push: Any) -> Any:
    """Return what is seen of a push without times: only whether it has ended."""
    return {**push, "due_at": push["due_at"] is None, "created_at": 0} if isinstance(push, dict) else push


def _delivered(store: Store, wait_ms: int | None) -> Awaitable[list[tuple[str, str, int]]]:
    """Claim all pushes, and settle each at its next event."""

    async def deliver() -> list[tuple[str, str, int]]:
        found, is_live = await store.claim_pushes(MANY, HOUR)
        done = [await store.settle_push(replace(push, seq=push.seq + 1), wait_ms) for push in found]
        return [("live", "", int(is_live)), *((push.run_id, push.id, push.seq) for push in done if push is not None)]

    return deliver()
