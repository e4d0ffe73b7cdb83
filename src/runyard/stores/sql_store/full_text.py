"""Full-text search, which each database writes in its own words."""

from collections.abc import Sequence

from runyard.stores.operations import Transactions


class FullText(Transactions):
    def _match_any(self, words: Sequence[str]) -> str:
        """Return a full-text query that matches any of these words."""
        raise NotImplementedError

    def _match_all(self, words: Sequence[str]) -> str:
        """Return a full-text query that matches texts which have a word with each of these beginnings."""
        raise NotImplementedError

    def _match_title(self, words: Sequence[str]) -> str:
        """Return what finds titles that have a word with each of these beginnings, without an index."""
        raise NotImplementedError
