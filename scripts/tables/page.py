"""A page of docs/ that is made from the code, in whole or in part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


class Page:
    """`renewed` returns the current page, given the stored one (empty if it does not exist)."""

    def __init__(self, name: str, renewed: Callable[[str], str]) -> None:
        self.path = DOCS / name
        self._renewed = renewed

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8") if self.path.exists() else ""

    @property
    def is_current(self) -> bool:
        return bool(self.text) and self._renewed(self.text) == self.text

    def write(self) -> None:
        self.path.write_text(self._renewed(self.text), encoding="utf-8")
