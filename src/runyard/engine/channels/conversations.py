"""Where people and agents talk: channels, DMs, and what is said there.

Saying something is one commit: the message, its entry in the feed, and a run in the mailbox of every agent that it
wakes; the answer goes back before any of them has begun. `speak` and `react_as` are what an agent's tools do, in the
name of the run that calls them: a call that is repeated under its own id happens once.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING

from msgspec.structs import replace

from runyard.agents.channels.prompt import LAST_MESSAGES
from runyard.clock import Clock
from runyard.domain.events import Drafter, RunQueued, clean
from runyard.domain.recipients import Party, next_depth
from runyard.domain.run import Run, agent_lane
from runyard.domain.thread import Change, Conversation, Message, Reaction, Thread, ThreadKind
from runyard.engine.limits import Admission, InputLimits, not_blank
from runyard.engine.log.tail import Tail
from runyard.engine.queries.views import known
from runyard.errors import Invalid, NotFound
from runyard.ids import new_id
from runyard.store import IdempotencyKey, NewMessage, Post, PostedMessage, Store
from runyard.telemetry.spans import Recorder, Tracer

if TYPE_CHECKING:
    from runyard.domain.redaction import Redactor

FACE = "channels"


class Conversations:
    def __init__(
        self,
        store: Store,
        tail: Tail,
        clock: Clock,
        random: Random,
        pause_seconds: tuple[float, float],
        wake_workers: Callable[[], None],
        wake: Callable[[], None],
        redactor: "Redactor | None" = None,
        tracer: Tracer | None = None,
        admission: Admission | None = None,
        memory_owner: Callable[[str, str], str] | None = None,
    ) -> None:
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
        self._stir = wake
        self._draft = Drafter(clock, "api")

    # --- places

    async def open_channel(
        self,
        owner: str,
        name: str,
        topic: str | None,
        is_private: bool,
        members: Sequence[Party],
        key: IdempotencyKey | None = None,
    ) -> Conversation:
        thread = Thread(
            id=new_id(),
            owner=owner,
            kind="channel",
            name=self._kept(name),
            topic=None if topic is None else self._kept(topic),
            is_private=is_private,
            created_at=self._clock.now_ms(),
        )
        return await self._store.open_channel(thread, [_cleaned(party) for party in members], key)

    async def open_dm(
        self, owner: str, agent: str, other_agent: str | None = None, user_id: str | None = None
    ) -> Conversation:
        """The DM of an agent with the caller or with another agent; there is one of each pair."""
        one, other = Party(agent), _speaker(owner, user_id) if other_agent is None else Party(other_agent)
        if one == other:
            raise Invalid("A DM has two participants.")
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
        here = await self._store.get_conversation(caller, known(thread_id, "conversation"))
        if kind is not None and here.thread.kind != kind:
            raise NotFound("There is no conversation of that kind with that id.")
        return here

    async def page(self, caller: str, kind: ThreadKind, before: str | None, limit: int) -> Sequence[Conversation]:
        return await self._store.list_conversations(caller, kind, before, limit)

    async def change(self, owner: str, thread_id: str, change: Change) -> Conversation:
        name, topic = (None if text is None else self._kept(text) for text in (change.name, change.topic))
        wanted = Change(name=name, topic=topic, is_private=change.is_private)
        return await self._store.change_channel(owner, known(thread_id, "conversation"), wanted)

    async def add(self, owner: str, thread_id: str, party: Party) -> Conversation:
        return await self._store.add_member(owner, known(thread_id, "conversation"), _cleaned(party))

    async def remove(self, owner: str, thread_id: str, party: Party) -> Conversation:
        return await self._store.remove_member(owner, known(thread_id, "conversation"), _cleaned(party))

    async def delete(self, owner: str, thread_id: str, kind: ThreadKind) -> None:
        await self.get(owner, thread_id, kind)
        await self._store.delete_thread(owner, thread_id)

    # --- what people say

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
        """The caller says something, always in its own name."""
        self._admission.check(here.owner, text)
        sender = _speaker(caller, user_id)
        parent = None if parent_id is None else known(parent_id, "message")
        message = self._message(here.id, text, sender, parent)
        return await self._say(NewMessage(caller=caller, message=message, wake=self._waker(message), key=key))

    async def messages(
        self, caller: str, thread_id: str, before: str | None, limit: int, parent_id: str | None = None
    ) -> tuple[Conversation, Sequence[Message]]:
        here = await self.get(caller, thread_id)
        parent = None if parent_id is None else known(parent_id, "message")
        return here, await self._store.recent_messages(thread_id, before, limit, parent)

    async def message(self, caller: str, message_id: str) -> tuple[Conversation, Message]:
        message = await self._store.get_message(caller, known(message_id, "message"))
        return await self._store.get_conversation(caller, message.thread_id), message

    async def reword(self, caller: str, message_id: str, text: str) -> tuple[Conversation, Message]:
        message = await self._store.change_message(caller, known(message_id, "message"), self._kept(not_blank(text)))
        return await self._store.get_conversation(caller, message.thread_id), message

    async def unsay(self, caller: str, message_id: str) -> None:
        await self._store.delete_message(caller, known(message_id, "message"))

    async def reactions(self, messages: Sequence[Message]) -> dict[str, Sequence[Reaction]]:
        return dict(await self._store.reactions([message.id for message in messages]))

    async def react(self, caller: str, message_id: str, emoji: str, user_id: str | None = None) -> bool:
        _, message = await self.message(caller, message_id)
        return await self._react(caller, message.id, emoji, _speaker(caller, user_id))

    async def take_back(self, caller: str, message_id: str, emoji: str) -> None:
        _, message = await self.message(caller, message_id)
        await self._store.remove_reaction(caller, self._reaction(message.id, emoji, Party(caller, "user")))

    # --- what agents do, through their tools

    async def speak(
        self, run: Run, thread_id: str, text: str, call_id: str, parent_id: str | None = None
    ) -> PostedMessage:
        """The agent of this run says something: in a channel it wakes nobody, in a DM the other side, while the chain
        is not too long. NotFound where it may not speak."""
        parent = None if parent_id is None else known(parent_id, "message")
        sender = Party(run.agent)
        message = self._message(known(thread_id, "conversation"), text, sender, parent, run.id)
        wake = self._waker(message, run.depth)
        cause = f"{run.id}:{call_id}"
        return await self._say(
            NewMessage(caller=run.owner, message=message, wake=wake, depth=run.depth, cause=cause),
        )

    async def thread_of(self, run: Run) -> str | None:
        """The message that starts the thread in which this run was woken; None if a message outside of any thread woke
        it, or if that message is gone."""
        try:
            return (await self._store.get_message(run.owner, run.trigger_message_id or "")).parent_id
        except NotFound:
            return None

    async def react_as(self, run: Run, message_id: str, emoji: str) -> bool:
        """The agent of this run reacts; False if it had."""
        return await self._react(run.owner, known(message_id, "message"), emoji, Party(run.agent))

    async def last_messages(self, run: Run) -> tuple[Thread, Sequence[Message]]:
        """Where the agent of this run was spoken to, and what was said there last."""
        here = await self.get(run.owner, run.thread_id or "")
        return here.thread, await self._store.recent_messages(here.thread.id, None, LAST_MESSAGES)

    # --- what both have in common

    def _message(
        self, thread_id: str, text: str, sender: Party, parent_id: str | None, run_id: str | None = None
    ) -> Message:
        return Message(
            id=new_id(),
            thread_id=thread_id,
            role="user" if sender.kind == "user" else "assistant",
            text=self._kept(not_blank(text)),
            run_id=run_id,
            created_at=self._clock.now_ms(),
            sender=sender.id,
            parent_id=parent_id,
        )

    def _kept(self, text: str) -> str:
        """As it is stored: what is sensitive by its name."""
        return clean(text) if self._redactor is None else self._redactor.text(clean(text))

    def _waker(self, message: Message, depth: int | None = None) -> Callable[[str, str, str | None], Post]:
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

    async def _say(self, words: NewMessage) -> PostedMessage:
        said = await self._traced(words)
        for accepted in said.started:
            if accepted.event is not None:
                self._tail.add(accepted.run_id, [accepted.event])
        if said.started:
            self._wake_workers()
        self._stir()
        return said

    async def _traced(self, words: NewMessage) -> PostedMessage:
        """Trace how a message wakes agents: `agents.resolve` ends when the first of them is known, or when all is done;
        `mailbox.enqueue` is the rest.

        Each run that is queued has both in its own trace. They also are where the message came from: below the run of
        the agent that said it, or in a trace of the message."""
        tracer, message_id = self._tracer, words.message.id
        resolving = tracer.begin("agents.resolve", message_id)

        def wake(agent: str, owner: str, after: str | None) -> Post:
            tracer.end(resolving)
            return words.wake(agent, owner, after)

        with tracer.span("mailbox.enqueue", message_id) as queueing:
            try:
                said = await self._store.post_message(replace(words, wake=wake))
            finally:
                tracer.end(resolving)
            queueing.began = resolving.ended or queueing.began
            queueing.attributes["runs"] = len(said.started)
        for run in said.started:
            of = {"run_id": run.run_id, "message_id": message_id}
            tracer.past("agents.resolve", run.run_id, resolving.began, queueing.began, **of)
            tracer.past("mailbox.enqueue", run.run_id, queueing.began, queueing.ended or queueing.began, **of)
        return said

    async def _react(self, caller: str, message_id: str, emoji: str, sender: Party) -> bool:
        is_new = await self._store.react(caller, self._reaction(message_id, emoji, sender))
        self._stir()
        return is_new

    def _reaction(self, message_id: str, emoji: str, sender: Party) -> Reaction:
        return Reaction(
            message_id=message_id,
            emoji=self._kept(emoji),
            role="user" if sender.kind == "user" else "assistant",
            sender=sender.id,
            created_at=self._clock.now_ms(),
        )


def _speaker(caller: str, user_id: str | None) -> Party:
    """The person who speaks: always the owner of the API key. A client may name that owner, and no other."""
    if user_id is not None and user_id != caller:
        raise Invalid("`userId` names another owner. Leave it out: you speak as the owner of your API key.")
    return Party(caller, "user")


def _cleaned(party: Party) -> Party:
    return Party(clean(party.id), party.kind)
