"""Channels, DMs, messages and reactions.

Posting is one commit: the message, its feed entry, and a run in the mailbox of every agent that it wakes. The call
returns before any of these runs begins. `post_as_agent` and `react_as_agent` are for the tools of agents: a repeated
call with the same call id takes effect once.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING

from msgspec.structs import replace

from runyard.agents.channels.prompt import LAST_MESSAGES
from runyard.base.clock import Clock
from runyard.base.ids import new_id
from runyard.domain.conversations.recipients import Participant, next_depth
from runyard.domain.conversations.thread import DELETED, Change, Conversation, Message, Reaction, Thread, ThreadKind
from runyard.domain.events import Drafter, RunQueued, clean
from runyard.domain.redaction.no_redaction import NO_REDACTION
from runyard.domain.runs.run import Run, agent_lane
from runyard.engine.limits import Admission, InputLimits, not_blank
from runyard.engine.log.tail import Tail
from runyard.engine.queries.views import checked_id
from runyard.errors import Invalid, NotFound
from runyard.store import IdempotencyKey, NewMessage, Post, PostedMessage, Store
from runyard.telemetry.spans import Recorder, Tracer

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

FACE = "channels"


class Conversations:
    def __init__(
        self,
        store: Store,
        tail: Tail,
        *,
        clock: Clock,
        random: Random,
        pause_seconds: tuple[float, float],
        wake_workers: Callable[[], None],
        wake_feed: Callable[[], None],
        redactor: "Redactor" = NO_REDACTION,
        tracer: Tracer | None = None,
        admission: Admission | None = None,
        memory_owner: Callable[[str, str], str] | None = None,
    ) -> None:
        """`pause_seconds`: the range of the random pause between two replies to one message. `memory_owner` returns
        the owner of an agent's mailbox."""
        self._memory_owner = memory_owner or (lambda agent, owner: owner)
        self._admission = admission or Admission(store, clock, InputLimits())
        self._tracer = tracer or Tracer(Recorder())
        self._redactor = redactor
        self._store = store
        self._tail = tail
        self._clock = clock
        self._random = random
        self._pause = pause_seconds
        self._wake_workers = wake_workers
        self._wake_feed = wake_feed
        self._draft = Drafter(clock, "api")

    # --- channels and DMs

    async def open_channel(
        self,
        owner: str,
        name: str,
        topic: str | None,
        is_private: bool,
        members: Sequence[Participant],
        key: IdempotencyKey | None = None,
    ) -> Conversation:
        thread = Thread(
            id=new_id(),
            owner=owner,
            kind="channel",
            name=self._as_stored(name),
            topic=None if topic is None else self._as_stored(topic),
            is_private=is_private,
            created_at=self._clock.now_ms(),
        )
        return await self._store.open_channel(thread, [_cleaned(party) for party in members], key)

    async def open_dm(
        self, owner: str, agent: str, other_agent: str | None = None, user_id: str | None = None
    ) -> Conversation:
        """Return the DM of an agent with the caller or with another agent, and create it if needed. There is one DM
        for each pair."""
        one, other = Participant(agent), _sender(owner, user_id) if other_agent is None else Participant(other_agent)
        if one == other:
            raise Invalid("Both participants of the DM are the same. Name two different ones.")
        pair = [_cleaned(party) for party in (one, other)]
        thread = Thread(
            id=new_id(),
            owner=owner,
            kind="dm",
            name=" ".join(sorted(f"{party.kind}:{party.id}" for party in pair)),
            is_private=True,
            created_at=self._clock.now_ms(),
        )
        return await self._store.open_dm(thread, pair)

    async def get(self, caller: str, thread_id: str, kind: ThreadKind | None = None) -> Conversation:
        here = await self._store.get_conversation(caller, checked_id(thread_id, "conversation"))
        if kind is not None and here.thread.kind != kind:
            raise NotFound("There is no conversation of that kind with that id.")
        return here

    async def page(self, caller: str, kind: ThreadKind, before: str | None, limit: int) -> Sequence[Conversation]:
        return await self._store.list_conversations(caller, kind, before, limit)

    async def change(self, owner: str, thread_id: str, change: Change) -> Conversation:
        name, topic = (None if text is None else self._as_stored(text) for text in (change.name, change.topic))
        wanted = Change(name=name, topic=topic, is_private=change.is_private)
        return await self._store.change_channel(owner, checked_id(thread_id, "conversation"), wanted)

    async def add(self, owner: str, thread_id: str, party: Participant) -> Conversation:
        return await self._store.add_member(owner, checked_id(thread_id, "conversation"), _cleaned(party))

    async def remove(self, owner: str, thread_id: str, party: Participant) -> Conversation:
        return await self._store.remove_member(owner, checked_id(thread_id, "conversation"), _cleaned(party))

    async def delete(self, owner: str, thread_id: str, kind: ThreadKind) -> None:
        await self.get(owner, thread_id, kind)
        await self._store.delete_thread(owner, thread_id)

    # --- messages and reactions of people

    async def post(
        self,
        caller: str,
        here: Thread,
        text: str,
        *,
        user_id: str | None = None,
        parent_id: str | None = None,
        key: IdempotencyKey | None = None,
    ) -> PostedMessage:
        """Post a message of the caller, under its own name."""
        self._admission.check(here.owner, text)
        sender = _sender(caller, user_id)
        parent = None if parent_id is None else checked_id(parent_id, "message")
        message = self._message(here.id, text, sender, parent)
        return await self._store_message(NewMessage(caller=caller, message=message, wake=self._waker(message), key=key))

    async def messages(
        self, caller: str, thread_id: str, before: str | None, limit: int, parent_id: str | None = None
    ) -> tuple[Conversation, Sequence[Message]]:
        here = await self.get(caller, thread_id)
        parent = None if parent_id is None else checked_id(parent_id, "message")
        return here, await self._store.recent_messages(thread_id, before, limit, parent)

    async def message(self, caller: str, message_id: str) -> tuple[Conversation, Message]:
        message = await self._store.get_message(caller, checked_id(message_id, "message"))
        return await self._store.get_conversation(caller, message.thread_id), message

    async def edit_message(self, caller: str, message_id: str, text: str) -> tuple[Conversation, Message]:
        message = await self._store.change_message(
            caller, checked_id(message_id, "message"), self._as_stored(not_blank(text))
        )
        self._wake_feed()
        return await self._store.get_conversation(caller, message.thread_id), message

    async def delete_message(self, caller: str, message_id: str) -> None:
        """Delete a message. Runs that have read it keep it in their logs."""
        await self._store.delete_message(caller, checked_id(message_id, "message"), DELETED)
        self._wake_feed()

    async def reactions(self, messages: Sequence[Message]) -> dict[str, Sequence[Reaction]]:
        return dict(await self._store.reactions([message.id for message in messages]))

    async def react(self, caller: str, message_id: str, emoji: str, user_id: str | None = None) -> bool:
        _, message = await self.message(caller, message_id)
        return await self._react(caller, message.id, emoji, _sender(caller, user_id))

    async def remove_reaction(self, caller: str, message_id: str, emoji: str) -> None:
        _, message = await self.message(caller, message_id)
        await self._store.remove_reaction(caller, self._reaction(message.id, emoji, Participant(caller, "user")))
        self._wake_feed()

    # --- messages and reactions of agents

    async def post_as_agent(
        self, run: Run, thread_id: str, text: str, call_id: str, parent_id: str | None = None
    ) -> PostedMessage:
        """Post a message of the agent of this run. In a channel it wakes no agent; in a DM it wakes the other agent,
        unless the chain of replies is too long. Raises NotFound if the agent is not in the conversation."""
        parent = None if parent_id is None else checked_id(parent_id, "message")
        sender = Participant(run.agent)
        message = self._message(checked_id(thread_id, "conversation"), text, sender, parent, run.id)
        wake = self._waker(message, run.depth)
        cause = f"{run.id}:{call_id}"
        return await self._store_message(
            NewMessage(caller=run.owner, message=message, wake=wake, depth=run.depth, cause=cause),
        )

    async def parent_of_trigger(self, run: Run) -> str | None:
        """Return the id of the message that starts the reply thread of the message that woke this run; None if it is
        in no reply thread, or was deleted."""
        try:
            return (await self._store.get_message(run.owner, run.trigger_message_id or "")).parent_id
        except NotFound:
            return None

    async def react_as_agent(self, run: Run, message_id: str, emoji: str) -> bool:
        """Add a reaction of the agent of this run. Return False if it was there already."""
        return await self._react(run.owner, checked_id(message_id, "message"), emoji, Participant(run.agent))

    async def last_messages(self, run: Run) -> tuple[Thread, Sequence[Message]]:
        """Return the conversation that woke this run, and those of its last messages that are not deleted."""
        here = await self.get(run.owner, run.thread_id or "")
        last = await self._store.recent_messages(here.thread.id, None, LAST_MESSAGES)
        return here.thread, [message for message in last if message.deleted_at is None]

    # --- shared by people and agents

    def _message(
        self, thread_id: str, text: str, sender: Participant, parent_id: str | None, run_id: str | None = None
    ) -> Message:
        return Message(
            id=new_id(),
            thread_id=thread_id,
            role="user" if sender.kind == "user" else "assistant",
            text=self._as_stored(not_blank(text)),
            run_id=run_id,
            created_at=self._clock.now_ms(),
            sender=sender.id,
            parent_id=parent_id,
        )

    def _as_stored(self, text: str) -> str:
        """Return the text redacted, and without characters that a database cannot store."""
        return self._redactor.text(clean(text))

    def _waker(self, message: Message, depth: int | None = None) -> Callable[[str, str, str | None], Post]:
        """Return the function that makes the run of an agent that the message wakes."""

        def wake(agent: str, owner: str, after: str | None) -> Post:
            return Post(
                owner=owner,
                face=FACE,
                run_id=new_id(),
                lane_key=agent_lane(agent, self._memory_owner(agent, owner)),
                default_agent=agent,
                queued=lambda agent: self._draft(RunQueued(agent, message.id)),
                created_at=message.created_at,
                thread_id=message.thread_id,
                trigger_id=message.id,
                after_run=after,
                pause_ms=int(self._random.uniform(*self._pause) * 1000),
                depth=next_depth(depth),
            )

        return wake

    async def _store_message(self, new: NewMessage) -> PostedMessage:
        posted = await self._store_traced(new)
        for accepted in posted.started:
            if accepted.event is not None:
                self._tail.add(accepted.run_id, [accepted.event])
        if posted.started:
            self._wake_workers()
        self._wake_feed()
        return posted

    async def _store_traced(self, new: NewMessage) -> PostedMessage:
        """Store a message and trace how it wakes agents: `agents.resolve` ends when the first agent is known, or with
        the commit; `mailbox.enqueue` is the rest.

        Both spans are in the trace of each queued run, and in the trace of the message's origin: below the run of the
        agent that posted it, or in a trace of the message."""
        tracer, message_id = self._tracer, new.message.id
        resolving = tracer.begin("agents.resolve", message_id)

        def wake(agent: str, owner: str, after: str | None) -> Post:
            tracer.end(resolving)
            return new.wake(agent, owner, after)

        with tracer.span("mailbox.enqueue", message_id) as queueing:
            try:
                posted = await self._store.post_message(replace(new, wake=wake))
            finally:
                tracer.end(resolving)
            queueing.began = resolving.ended or queueing.began
            queueing.attributes["runs"] = len(posted.started)
        for run in posted.started:
            of = {"run_id": run.run_id, "message_id": message_id}
            tracer.ended_root("agents.resolve", run.run_id, resolving.began, queueing.began, **of)
            tracer.ended_root("mailbox.enqueue", run.run_id, queueing.began, queueing.ended or queueing.began, **of)
        return posted

    async def _react(self, caller: str, message_id: str, emoji: str, sender: Participant) -> bool:
        is_new = await self._store.react(caller, self._reaction(message_id, emoji, sender))
        self._wake_feed()
        return is_new

    def _reaction(self, message_id: str, emoji: str, sender: Participant) -> Reaction:
        return Reaction(
            message_id=message_id,
            emoji=self._as_stored(emoji),
            role="user" if sender.kind == "user" else "assistant",
            sender=sender.id,
            created_at=self._clock.now_ms(),
        )


def _sender(caller: str, user_id: str | None) -> Participant:
    """Return the caller as the sender: the owner of the API key. Raises Invalid if the client names another user."""
    if user_id is not None and user_id != caller:
        raise Invalid("`userId` names another owner. Leave it out: you post as the owner of your API key.")
    return Participant(caller, "user")


def _cleaned(party: Participant) -> Participant:
    return Participant(clean(party.id), party.kind)
