"""The part of the local client for what people add to conversations: feedback, links for readers, read positions."""

from typing import TYPE_CHECKING, Literal

import msgspec

from runyard.client.annotation_wire import ShareInfo, UnreadInfo
from runyard.client.wire import ChannelInfo, FeedbackInfo
from runyard.domain.times import iso
from runyard.errors import Conflict, Invalid
from runyard.faces.native import rows

if TYPE_CHECKING:
    from runyard.domain.api_key import Scope
    from runyard.domain.conversations.thread import Share, Unread
    from runyard.domain.runs.run import Feedback
    from runyard.engine.channels.activity import ConversationActivity
    from runyard.engine.feedback import FeedbackBook
    from runyard.engine.queries.views import Views
    from runyard.engine.shares import Shares
    from runyard.settings import Settings
    from runyard.store import Store


class LocalAnnotations:
    """Links are off where the settings say so, and by default for callers with an API key: a server with keys refuses
    their links."""

    _store: "Store"
    _views: "Views"
    _settings: "Settings"
    _feedback: "FeedbackBook"

    def _owner(self, scope: "Scope") -> str:
        raise NotImplementedError

    async def feedback(self, run_id: str) -> FeedbackInfo | None:
        found = await self._feedback.on(self._owner("read"), run_id)
        return None if found is None else _feedback_info(found)

    async def give_feedback(
        self, run_id: str, value: Literal["up", "down"], comment: str | None = None
    ) -> FeedbackInfo:
        return _feedback_info(await self._feedback.give(self._owner("write"), run_id, value, comment))

    async def delete_feedback(self, run_id: str) -> None:
        await self._feedback.take_back(self._owner("write"), run_id)

    async def share_thread(self, thread_id: str, days: int = 7) -> ShareInfo:
        from runyard.engine.shares import MOST_DAYS
        from runyard.faces.native.shares import OFF

        owner, is_on = self._owner("write"), self._settings.share_links
        if not (self._settings.api_key is None if is_on is None else is_on):
            raise Conflict(OFF)
        if not 1 <= days <= MOST_DAYS:
            raise Invalid(f"The link cannot be valid for that long. Pass 1 to {MOST_DAYS} days.")
        made, token = await self._shares().create(owner, thread_id, days)
        return _share_info(made, token)

    async def shares(self, thread_id: str) -> list[ShareInfo]:
        return [_share_info(share) for share in await self._shares().list_all(self._owner("read"), thread_id)]

    async def revoke_share(self, thread_id: str, share_id: str) -> None:
        await self._shares().revoke(self._owner("write"), thread_id, share_id)

    def _shares(self) -> "Shares":
        from runyard.engine.queries.thread_search import ThreadSearch
        from runyard.engine.shares import Shares

        return Shares(self._store, self._views, ThreadSearch(self._store, self._settings.redactor))

    async def unread(self) -> list[UnreadInfo]:
        return [_unread_info(each) for each in await self._activity().unread(self._owner("read"))]

    async def mark_read(self, channel: ChannelInfo, message_id: str) -> None:
        kind: Literal["dm", "channel"] = "dm" if channel.kind == "dm" else "channel"
        await self._activity().mark_read(self._owner("write"), channel.id, kind, message_id)

    def _activity(self) -> "ConversationActivity":
        from runyard.engine.channels.activity import ConversationActivity

        return ConversationActivity(self._store)


def _feedback_info(found: "Feedback") -> FeedbackInfo:
    return msgspec.convert(rows.feedback_fields(found), FeedbackInfo)


def _share_info(share: "Share", token: str | None = None) -> ShareInfo:
    return ShareInfo(
        share_id=share.id,
        created_at=iso(share.created_at) or "",
        expires_at=iso(share.expires_at) or "",
        token=token,
        path=None if token is None else f"/#/shared/{token}",
    )


def _unread_info(found: "Unread") -> UnreadInfo:
    is_dm = found.kind == "dm"
    return UnreadInfo(
        unread=found.count,
        channel_id=None if is_dm else found.thread_id,
        dm_conversation_id=found.thread_id if is_dm else None,
        read_message_id=found.read_id,
    )
