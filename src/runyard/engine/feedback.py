"""Feedback: a person's rating of a run's answer, up or down, with a comment. It belongs to the owner of the run."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from runyard.domain.events import clean
from runyard.domain.runs.run import Feedback
from runyard.engine.queries.views import Views
from runyard.errors import Invalid, Unreadable
from runyard.store import RunStore

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

MOST_COMMENT_CHARS = 4000


class FeedbackBook:
    def __init__(self, store: RunStore, views: Views, redactor: "Redactor") -> None:
        self._store = store
        self._views = views
        self._redactor = redactor

    async def give(self, owner: str, run_id: str, value: Literal["up", "down"], comment: str | None) -> Feedback:
        """Store the feedback on a run of this owner, in place of an earlier one."""
        run = await self._views.run(owner, run_id)
        said = self._redactor.text(clean(comment or "")).strip()
        if len(said) > MOST_COMMENT_CHARS:
            raise Invalid(f"The comment is too long. Send at most {MOST_COMMENT_CHARS} characters.")
        return await self._store.put_feedback(Feedback(run_id=run.id, value=value, comment=said or None))

    async def take_back(self, owner: str, run_id: str) -> None:
        """Delete the feedback on a run of this owner, if there is one."""
        run = await self._views.run(owner, run_id)
        await self._store.drop_feedback(run.id)

    async def on(self, owner: str, run_id: str) -> Feedback | None:
        """Return the feedback on a run of this owner."""
        run = await self._views.run(owner, run_id)
        return (await self._store.read_feedback([run.id])).get(run.id)

    async def readable(self, run_ids: Sequence[str]) -> Mapping[str, Feedback]:
        """Return the feedback on these runs by id, without comments that cannot be decrypted: a list shows the rest."""
        try:
            return await self._store.read_feedback(run_ids)
        except Unreadable:
            found: dict[str, Feedback] = {}
            for run_id in run_ids:
                with suppress(Unreadable):
                    found |= await self._store.read_feedback([run_id])
            return found
