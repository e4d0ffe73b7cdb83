"""Additions of people to conversations, as types of the API: links to threads, and read positions in channels."""

from msgspec import Struct


class ShareInfo(Struct, frozen=True, kw_only=True):
    """A link that shows a thread to readers without a key. Only the response that creates it has `token`, and `path`:
    its address on the server."""

    share_id: str
    created_at: str
    expires_at: str
    token: str | None = None
    path: str | None = None


class UnreadInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """How far the caller has read a channel or a DM. `unread` counts later messages of other senders, up to 100."""

    unread: int
    channel_id: str | None = None
    dm_conversation_id: str | None = None
    read_message_id: str | None = None

    @property
    def id(self) -> str:
        """Return the id of the channel or the DM."""
        return self.channel_id or self.dm_conversation_id or ""
