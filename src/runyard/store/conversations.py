"""Threads, channels, their messages and their feed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from runyard.domain.conversations.feed import Window
from runyard.domain.conversations.recipients import Participant
from runyard.domain.conversations.thread import (
    Change,
    Conversation,
    Message,
    Reaction,
    Share,
    Thread,
    ThreadKind,
    Unread,
)
from runyard.domain.events import Draft
from runyard.domain.runs.run import Run
from runyard.domain.runs.thread_head import ThreadHead
from runyard.store.queue import Accepted, IdempotencyKey, Post


class LogCopy(Struct, frozen=True):
    """The first events of a run's log as a separate finished run: the start of a thread forked inside that run."""

    run: Run
    message: Message | None
    drafts: Sequence[Draft]


class ThreadStore(Protocol):
    """Threads and their messages."""

    async def create_thread(self, thread: Thread, key: IdempotencyKey | None = None) -> Thread:
        """Store a thread and return it. With a known key, return the thread created then; KeyReused if the digest
        differs. Conflict if the owner has a thread of the same `external_id`."""

    async def change_thread(self, owner: str, thread_id: str, metadata: str) -> Thread:
        """Replace the metadata of a chat and return it; NotFound if the owner has no chat with this id."""

    async def get_thread(self, owner: str, thread_id: str) -> Thread:
        """Return a thread; NotFound if the owner has no thread with this id."""

    async def get_named_thread(self, owner: str, external_id: str) -> Thread:
        """Return the thread that a client named `external_id`, or else the chat with this id; NotFound if there is
        none."""

    async def get_thread_head(self, owner: str, external_id: str) -> ThreadHead:
        """Return the thread that `get_named_thread` returns, with its last run, or an empty head if there is none."""

    async def fork_thread(
        self, thread: Thread, run_id: str, key: IdempotencyKey | None = None, log_copy: LogCopy | None = None
    ) -> Thread:
        """Store a thread that continues from the end of `run_id`, and return it; the run stays unchanged. With a known
        key, return the thread created then. NotFound if the run belongs to no thread of this owner, RunActive until it
        has ended.

        With a `log_copy`, the thread continues from that. The copy is stored in the same commit as the first run of
        the thread, and `run_id`, from which it was taken, need not have ended."""

    async def list_threads(self, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
        """Return threads with an id below `before`, newest first."""

    async def list_active_threads(self, owner: str, before: str | None, limit: int) -> Sequence[Thread]:
        """Return threads by their last activity, newest first: those whose `last_activity` is an id below `before`."""

    async def delete_thread(self, owner: str, thread_id: str) -> None:
        """Delete a thread with its messages, runs, events, approvals and checkpoints. RunActive while one of its runs
        has not ended, Conflict while it has forks."""

    async def list_messages(self, thread_id: str) -> Sequence[Message]:
        """Return all messages of a thread, oldest first."""

    async def get_messages(self, message_ids: Sequence[str]) -> Mapping[str, Message]:
        """Return these messages by id; unknown ids are left out."""

    async def set_title(self, owner: str, thread_id: str, title: str) -> None:
        """Name a chat; NotFound if the owner has no chat with this id."""

    async def titles(self, thread_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the titles of those threads that were named, by id."""

    async def first_messages(self, thread_ids: Sequence[str]) -> Mapping[str, Message]:
        """Return the first message of each of these threads, by thread id; threads without messages are left out."""

    async def search_messages(
        self, owner: str, words: Sequence[str], before: str | None, limit: int
    ) -> Sequence[Message]:
        """Return the messages in the owner's chats, and in the channels and DMs that the owner sees, that have a word
        with each of these beginnings: newest first, with an id below `before`. Sealed if messages are encrypted. A
        message is found as soon as it is stored and until it is deleted. On Postgres its first 100,000 characters are
        searched."""

    async def search_titles(self, owner: str, words: Sequence[str], limit: int) -> Mapping[str, str]:
        """Return given titles of the owner's chats that have a word with each of these beginnings, by thread id, newest
        thread first. Sealed if titles are encrypted."""

    async def history(self, run_id: str, limit: int) -> Sequence[Message]:
        """Return the messages before this run on its own branch: the question and the answer of each of the last
        `limit` ancestors, oldest first. Later messages that wait in the queue are not included."""

    async def create_share(self, share: Share, valid_ms: int, most: int) -> Share:
        """Store a link to a chat, which expires after `valid_ms`, and return it. Delete links that have expired.
        NotFound if the owner has no chat with this id, TooMany if it has `most` links. It is deleted with the chat."""

    async def list_shares(self, owner: str, thread_id: str) -> Sequence[Share]:
        """Return the owner's links to a thread that have not expired, newest first."""

    async def find_share(self, digest: str) -> Share:
        """Return the link with this digest; NotFound if there is none, or if it has expired."""

    async def drop_share(self, owner: str, thread_id: str, share_id: str) -> None:
        """Delete a link; NotFound if the owner has no such link to this thread."""


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
    """Conversations (channels and DMs): their members, messages and reactions, the reply order, and the feed.

    `caller` is a person's id. A caller sees the conversations that they own or belong to, and public channels; other
    conversations are NotFound. The runs of a conversation belong to its owner. An operation locks the conversation's
    row first (shared, so that it cannot be deleted concurrently), then lanes (sorted), then runs.
    """

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
        other senders that are not deleted."""

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
