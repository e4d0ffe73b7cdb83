"""Links that show a conversation to readers without a key: read-only, for some days, and until they are revoked.

A link shows the messages that the thread had when the link was made, without superseded branches. It
shows nothing else: no runs, no tools, no other threads, and of files only the names. The token is returned once; the
store has its digest.
"""

from collections.abc import Sequence
from typing import Any

from runyard.base.ids import new_id, new_secret
from runyard.domain.api_key import SECRET_LENGTH, digest_of
from runyard.domain.content.parts import File
from runyard.domain.conversations.thread import Message, Share
from runyard.domain.times import iso
from runyard.engine.queries.thread_search import ThreadSearch
from runyard.engine.queries.views import Views, checked_id
from runyard.errors import Invalid, NotFound
from runyard.store import ThreadStore

DAY_MS = 86_400_000
DEFAULT_DAYS, MOST_DAYS = 7, 30
MOST_LINKS = 20  # to one thread
NOT_FOUND = "There is no such link, or it has expired."


class Shares:
    def __init__(self, store: ThreadStore, views: Views, thread_search: ThreadSearch) -> None:
        self._store = store
        self._views = views
        self._thread_search = thread_search

    async def create(self, owner: str, thread_id: str, days: int) -> tuple[Share, str]:
        """Make a link to a thread of this owner. Return it with its token, which is not stored."""
        thread = await self._views.thread(owner, thread_id)
        said = await self._store.list_messages(thread.id)
        if not said:
            raise Invalid("The thread has no messages to share; send one first.")
        token = new_secret(SECRET_LENGTH)
        newest = max(message.id for message in said)
        share = Share(id=new_id(), owner=owner, thread_id=thread.id, digest=digest_of(token), upto=newest)
        return await self._store.create_share(share, days * DAY_MS, MOST_LINKS), token

    async def list_all(self, owner: str, thread_id: str) -> Sequence[Share]:
        """Return the links to a thread that are valid, newest first."""
        thread = await self._views.thread(owner, thread_id)
        return await self._store.list_shares(owner, thread.id)

    async def revoke(self, owner: str, thread_id: str, share_id: str) -> None:
        """Delete a link. Its readers get what an unknown link gets."""
        thread = await self._views.thread(owner, thread_id)
        await self._store.drop_share(owner, thread.id, checked_id(share_id, "link"))

    async def read(self, token: str) -> dict[str, Any]:
        """Return the conversation behind a token as JSON; NotFound if it is unknown, revoked or expired."""
        share = await self._store.find_share(digest_of(token))
        try:
            thread = await self._views.thread(share.owner, share.thread_id)
        except NotFound:
            raise NotFound(NOT_FOUND) from None  # deleted meanwhile
        said = [message for message in await self._store.list_messages(thread.id) if message.id <= share.upto]
        runs = await self._views.runs_by_id(share.owner, [message.run_id for message in said if message.run_id])
        aside = {run.id for run in runs.values() if run.superseded_by is not None}
        return {
            "title": (await self._thread_search.titles([thread.id])).get(thread.id),
            "shared_at": iso(share.created_at),
            "expires_at": iso(share.expires_at),
            "messages": [_message(message) for message in said if message.run_id not in aside],
        }


def _message(message: Message) -> dict[str, Any]:
    files = [part.name for part in message.content if isinstance(part, File)]
    return {"role": message.role, "content": message.text, "created_at": iso(message.created_at), "files": files}
