"""Conversations (channels and DMs): their members, messages and reactions, the reply order, and the feed.

`caller` is a person's id. A caller sees the conversations that they own or belong to, and public channels; other
conversations are NotFound. The runs of a conversation belong to its owner. An operation locks the conversation's row
first (shared, so that it cannot be deleted concurrently), then lanes (sorted), then runs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from runyard.domain.feed import Window
from runyard.domain.recipients import Participant
from runyard.domain.thread import Change, Conversation, Message, Reaction, Thread, ThreadKind, Unread
from runyard.store.intake import Accepted, IdempotencyKey, Post


class NewMessage(Struct, frozen=True, kw_only=True):
    """A message to post. A person posts as `caller`; an agent (`message.role`) posts in a run of the owner `caller`.

    `wake` makes the run of an agent that the message wakes, from the agent, the conversation's owner and the run before
    it. `depth` is the depth of the posting run, `cause` its tool call (`run_id:call_id`): a repeated call posts
    nothing."""

    caller: str
    message: Message
    wake: Callable[[str, str, str | None], Post]
    depth: int | None = None
    cause: str | None = None
    key: IdempotencyKey | None = None


class PostedMessage(Struct, frozen=True):
    """The stored message and the runs that it started, in order. A repeated message starts no runs."""

    message: Message
    thread: Thread
    started: Sequence[Accepted] = ()
    repeated: bool = False


class ChannelStore(Protocol):
    async def open_channel(
        self, thread: Thread, members: Sequence[Participant], key: IdempotencyKey | None = None
    ) -> Conversation:
        """Store a channel with its members. With a known key, return the channel created then. Conflict if its owner
        has a channel of that name; Invalid if this owner cannot use one of the agents."""

    async def open_dm(self, thread: Thread, members: Sequence[Participant]) -> Conversation:
        """Return the DM of that name, and create it if there is none. Invalid as for `open_channel`."""

    async def get_conversation(self, caller: str, thread_id: str) -> Conversation:
        """Return a conversation; NotFound if the caller sees none with this id."""

    async def list_conversations(
        self, caller: str, kind: ThreadKind, before: str | None, limit: int
    ) -> Sequence[Conversation]:
        """Return conversations of a kind that the caller sees, newest first."""

    async def change_channel(self, owner: str, thread_id: str, change: Change) -> Conversation:
        """Update a channel. NotFound if the owner has none with this id; Conflict if the new name is taken."""

    async def add_member(self, owner: str, thread_id: str, party: Participant) -> Conversation:
        """Add a member to a channel, in the last place; do nothing for a present member. NotFound if the owner has no
        such channel; Invalid for an agent that the owner cannot use."""

    async def remove_member(self, owner: str, thread_id: str, party: Participant) -> Conversation:
        """Remove a member from a channel. NotFound if the owner has no such channel or it has no such member."""

    # --- messages

    async def post_message(self, new: NewMessage) -> PostedMessage:
        """Store a message and its feed entry, and queue a run for every agent that `recipients` returns: one commit.
        The runs follow one another: each except the first is held until the previous one has ended or parked.

        A known key or cause stores nothing and returns the message posted then. NotFound: the caller does not see the
        conversation, the agent may not post in it, or the message it replies to does not exist. A reply to a reply
        is stored as a reply to the same parent."""

    async def recent_messages(
        self, thread_id: str, before: str | None, limit: int, parent_id: str | None = None
    ) -> Sequence[Message]:
        """Return the newest messages with an id below `before`, or the newest replies to `parent_id`, oldest first."""

    async def get_message(self, caller: str, message_id: str) -> Message:
        """Return a message; NotFound if the caller does not see it."""

    async def change_message(self, caller: str, message_id: str, text: str) -> Message:
        """Replace the text of a person's message, with a feed entry. NotFound unless the caller posted it, or if it is
        deleted."""

    async def delete_message(self, caller: str, message_id: str, text: str) -> None:
        """Delete a message with its reactions, with a feed entry. Its row stays, with `text` in place of its content.
        Deleting again changes nothing. NotFound unless the caller posted it or owns the conversation."""

    async def react(self, caller: str, reaction: Reaction) -> bool:
        """Add a reaction and its feed entry; return False if it exists already. NotFound if the caller does not see the
        message or, for an agent in a run of the owner `caller`, if it may not post there, or if
        the message is deleted."""

    async def remove_reaction(self, caller: str, reaction: Reaction) -> None:
        """Remove a reaction, with a feed entry if there was one; NotFound if the caller does not see the message."""

    async def reactions(self, message_ids: Sequence[str]) -> Mapping[str, Sequence[Reaction]]:
        """Return the reactions to these messages, in order; messages without reactions are left out."""

    async def mark_read(self, caller: str, thread_id: str, message_id: str) -> None:
        """Store that the caller has read a conversation up to this message. A position never moves back. NotFound if
        the caller sees no such message there."""

    async def unread(self, caller: str, limit: int) -> Sequence[Unread]:
        """Return the newest conversations that the caller sees: the read position, and the number of later messages of
        others that are not deleted."""

    # --- reply order

    async def release_held_runs(self, limit: int) -> tuple[int, int | None]:
        """Put held runs that are due into their lanes, each once. Return how many, and the milliseconds until the next
        run is due (None if no run is)."""

    async def recover_held_runs(self) -> None:
        """Make runs due that are held behind an ended or deleted run: the safety net for a lost release."""

    # --- the feed

    async def number_feed(self, limit: int) -> int:
        """Number the new entries of the feed and return the last number. One transaction at a time does this, so
        numbers become visible in order and without gaps."""

    async def read_feed(self, caller: str, after: int, limit: int) -> Window:
        """Return up to `limit` entries with a number above `after`, in order. The window has those that the caller sees
        now."""

    async def feed_start(self) -> int:
        """Return the number of the last deleted entry; the feed starts after it."""
