"""Idempotency keys of the memory store, each with its result and its time."""

from typing import NamedTuple

from runyard.errors import KeyReused
from runyard.store import IdempotencyKey


class _Known(NamedTuple):
    digest: str
    made: str
    at: int


class Keys:
    def __init__(self) -> None:
        self._known: dict[tuple[str, str], _Known] = {}

    def recall(self, key: IdempotencyKey | None) -> str | None:
        """Return the id of the object that a request with this key created before."""
        known = self._known.get((key.scope, key.key)) if key else None
        if key is None or known is None:
            return None
        if known.digest != key.digest:
            raise KeyReused
        return known.made

    def remember(self, key: IdempotencyKey | None, made: str, now: int) -> None:
        if key is not None:
            self._known[key.scope, key.key] = _Known(key.digest, made, now)

    def forget(self, made_before: int) -> None:
        self._known = {name: known for name, known in self._known.items() if known.at >= made_before}
