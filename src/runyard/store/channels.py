"""What a store promises about conversations: channels and DMs, what is said there and whom it wakes, agents, what they
remember, whose turn it is, and the feed. One suite (`tests/store/`) holds every store to these sentences too.

`caller` is who asks: they see their own conversations, those they are a member of, and public channels; what they do
not see is unknown to them (NotFound). A conversation's runs belong to its owner.

Authority: a conversation's row is locked first (shared, so that it cannot be deleted meanwhile), then lanes (sorted),
then runs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from runyard.domain.feed import Window
from runyard.domain.ledger import Day, Ledger
from runyard.domain.memory import Block, Passage
from runyard.domain.profile import Profile
from runyard.domain.recipients import Party
from runyard.domain.run import Run
from runyard.domain.thread import Change, Conversation, Message, Reaction, Thread, ThreadKind
from runyard.store import Accepted, IdempotencyKey, Post, Store, Swept


class NewMessage(Struct, frozen=True, kw_only=True):
    """Something to be said. A person speaks for `caller`, an agent (`message.role`) in a run of the owner `caller`.

    `wake` makes the run of an agent that the message wakes, given the conversation's owner and the run before it.
    `depth` is that of the run that speaks, `cause` its call (`run_id:call_id`): what a call has said, it says once."""

    caller: str
    message: Message
    wake: Callable[[str, str, str | None], Post]
    depth: int | None = None
    cause: str | None = None
    key: IdempotencyKey | None = None


class PostedMessage(Struct, frozen=True):
    """The message as it stands, and the runs that it started, in order; none if it had been said before."""

    message: Message
    thread: Thread
    started: Sequence[Accepted] = ()
    repeated: bool = False


class ChannelStore(Store, Protocol):
    # --- conversations ---------------------------------------------------------------------------------------------

    async def open_channel(
        self, thread: Thread, members: Sequence[Party], key: IdempotencyKey | None = None
    ) -> Conversation:
        """Store a channel with its members; with a known key, return the one made then. Conflict if its owner has one
        of that name; Invalid if an agent is not there to be used by this owner."""

    async def open_dm(self, thread: Thread, members: Sequence[Party]) -> Conversation:
        """The DM of that name, which is made if there is none. Invalid as for `open_channel`."""

    async def get_conversation(self, caller: str, thread_id: str) -> Conversation:
        """NotFound if the caller sees none of that id."""

    async def list_conversations(
        self, caller: str, kind: ThreadKind, before: str | None, limit: int
    ) -> Sequence[Conversation]:
        """Those of a kind that the caller sees, newest first."""

    async def change_channel(self, owner: str, thread_id: str, change: Change) -> Conversation:
        """NotFound unless it is the owner's; Conflict if another has that name."""

    async def add_member(self, owner: str, thread_id: str, party: Party) -> Conversation:
        """Put somebody into a channel, last; who is in it stays. NotFound unless it is the owner's channel; Invalid for
        an agent that is not there."""

    async def remove_member(self, owner: str, thread_id: str, party: Party) -> Conversation:
        """Take somebody out of a channel. NotFound unless it is the owner's, or if they are not in it."""

    # --- what is said ----------------------------------------------------------------------------------------------

    async def say(self, words: NewMessage) -> PostedMessage:
        """Store a message, tell the feed, and queue a run for every agent that `recipients` names: one commit. The runs
        follow one another: each but the first is held until the one before it has ended or parked.

        A known key or cause says nothing: it is answered with the message said then. NotFound: the caller does not see
        the conversation, the agent may not speak in it, or the message it replies to is not there. A reply to a
        reply is one to the same message."""

    async def recent_messages(
        self, thread_id: str, before: str | None, limit: int, parent_id: str | None = None
    ) -> Sequence[Message]:
        """The newest ones below an id, or of the replies to one, in the order they were said."""

    async def get_message(self, caller: str, message_id: str) -> Message:
        """NotFound unless the caller sees it."""

    async def change_message(self, caller: str, message_id: str, text: str) -> Message:
        """Other words for what a person said. NotFound unless the caller said it."""

    async def delete_message(self, caller: str, message_id: str) -> None:
        """Unsay a message, with its replies and reactions. NotFound unless the caller said it or owns the
        conversation."""

    async def react(self, caller: str, reaction: Reaction) -> bool:
        """Add a reaction and tell the feed; False if it was there. NotFound unless the caller sees the message, or, for
        an agent in a run of the owner `caller`, unless it may speak there."""

    async def remove_reaction(self, caller: str, reaction: Reaction) -> None:
        """Take a reaction back; NotFound unless the caller sees the message."""

    async def reactions(self, message_ids: Sequence[str]) -> Mapping[str, Sequence[Reaction]]:
        """The reactions to these messages, in order; messages without any are left out."""

    # --- agents ----------------------------------------------------------------------------------------------------

    async def declare_agents(self, profiles: Sequence[Profile]) -> None:
        """Keep a row for each agent that code declares. Whether it is active and its memory stay."""

    async def create_agent(self, profile: Profile) -> Profile:
        """Conflict if there is one of that id."""

    async def get_agent(self, caller: str, agent: str) -> Profile:
        """One of the caller's, or one that code declares, active or not; NotFound if there is none."""

    async def find_agent(self, agent: str) -> Profile | None:
        """The agent of that id, whoever may use it: for whoever runs it."""

    async def list_agents(
        self, caller: str, after: str | None, limit: int, inactive: bool = False
    ) -> Sequence[Profile]:
        """Those that the caller may use, by id; those that are not active only if asked for."""

    async def change_agent(self, caller: str, profile: Profile) -> Profile:
        """Write an agent back, but for its id and owner. NotFound as for `get_agent`."""

    async def session(self, agent: str, thread_id: str) -> str | None:
        """The session that the agent's next run in this conversation resumes."""

    async def keep_session(self, agent: str, thread_id: str, session_id: str) -> None:
        """Keep that session. It is dropped with the conversation; nothing happens if the conversation is gone."""

    # --- memory ----------------------------------------------------------------------------------------------------
    # Memory belongs to an agent and an owner: `owner` is that of the conversations in which the agent learned it, or
    # EVERY_OWNER for an agent that is declared as shared.

    async def blocks(self, agent: str, owner: str) -> Sequence[Block]:
        """The agent's own blocks for this owner by label, then those that are shared with it for this owner."""

    async def put_block(self, block: Block, is_shared: bool | None = None) -> Block:
        """Set the content of the agent's block of that owner and label, which is made if there is none. NotFound: no
        such agent."""

    async def drop_block(self, agent: str, owner: str, label: str) -> None:
        """NotFound if there is none."""

    async def link_block(self, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
        """Let another agent read a block when it works for `reader_owner`. NotFound unless both are there and the
        block is shared. A block of one owner is never read for another, linked or not."""

    async def unlink_block(self, agent: str, owner: str, label: str, reader: str, reader_owner: str) -> None:
        """Undo that; nothing happens if they were not linked."""

    async def put_passage(self, passage: Passage) -> Passage:
        """Put something away; with a known cause, return what was put away then. NotFound: no such agent."""

    async def passages(self, agent: str, owner: str, before: str | None, limit: int) -> Sequence[Passage]:
        """What this agent put away for this owner, newest first."""

    async def find_passages(self, agent: str, owner: str, query: str, limit: int) -> Sequence[Passage]:
        """Those of this agent and owner that contain the query, in any case, then those that hold any word of it; the
        best first."""

    async def drop_passage(self, agent: str, owner: str, passage_id: str) -> None:
        """NotFound if there is none."""

    # --- the ledger ------------------------------------------------------------------------------------------------

    async def mailbox_runs(self, owner: str, agent: str, before: str | None, limit: int) -> Sequence[Run]:
        """An owner's runs in the mailbox of an agent, newest first, below an id. However many others there are, only
        those of this agent are looked at."""

    async def holding_runs(self, run_ids: Sequence[str]) -> frozenset[str]:
        """Those of these runs that are the active run of their lane. A run that waits for a person and has given its
        lane to the next one is not."""

    async def read_ledger(self, run_id: str) -> Ledger:
        """The steps and messages of a run of a mailbox, in order. They are written by `append`, with their events; a
        step that has not ended when its run does, however that ends, has failed."""

    async def usage_by_day(self, owner: str, agent: str, limit: int) -> Sequence[Day]:
        """What this owner's runs in the mailbox of an agent have cost, by the day of their steps, the latest first."""

    # --- turns and the feed ----------------------------------------------------------------------------------------

    async def give_turns(self, limit: int) -> tuple[int, int | None]:
        """Let held runs whose turn has come into their lanes, each once; how many, and in how many milliseconds the
        next is due (None: nobody is)."""

    async def recover_turns(self) -> None:
        """See to those who are held behind a run that is over and was not noticed: the safety net."""

    async def number_feed(self, limit: int) -> int:
        """Give what is new in the feed its numbers; the last number. One at a time does it, so numbers become visible
        in order, without a gap."""

    async def read_feed(self, caller: str, after: int, limit: int) -> Window:
        """Up to `limit` entries with a higher number, those that the caller sees now, in order."""

    async def feed_start(self) -> int:
        """The number that the feed begins after; all up to it was dropped."""

    # --- retention -------------------------------------------------------------------------------------------------

    async def sweep_words(self, horizon: int, after: str | None, limit: int) -> Swept:
        """Drop what was said in conversations before `horizon`, with the reactions to it, of up to `limit` messages
        with an id above `after`; but not what was replied to later, nor what a run that has not ended is about. The
        conversations stay."""

    async def drop_feed(self, horizon: int, limit: int) -> int:
        """Drop up to `limit` of the oldest entries of the feed, those from before `horizon`; how many."""
