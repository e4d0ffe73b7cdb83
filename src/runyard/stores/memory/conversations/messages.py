"""Messages in conversations, and the runs that they start. A repeated message starts nothing."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from runyard.domain.conversations.recipients import Audience, Participant, recipients
from runyard.domain.conversations.thread import MOST_UNREAD, Conversation, Message, Reaction, Thread, ThreadKind, Unread
from runyard.errors import NotFound
from runyard.store import Accepted, NewMessage, PostedMessage
from runyard.stores.memory.conversations.feed import Feed
from runyard.stores.memory.queue.intake import Intake


class Messages(Intake, Feed):
    async def post_message(self, new: NewMessage) -> PostedMessage:
        known = self._causes.get(new.cause) if new.cause is not None else self._keys.recall(new.key)
        if known is not None:
            message = self._said(known)
            return PostedMessage(message, self._threads[message.thread_id], repeated=True)
        here = self._conversation(new.message.thread_id)
        if not _may_say(here, new.caller, new.message.party):
            raise NotFound
        parent = self._root(new.message)
        said = self._messages[new.message.id] = replace(new.message, parent_id=parent)
        self._keys.remember(new.key, said.id, self._now())
        if new.cause is not None:
            self._causes[new.cause] = said.id
        woken = recipients(said.party, self._audience(here, said), new.depth)
        started: list[Accepted] = []
        for agent in woken:
            post = new.wake(agent, here.thread.owner, started[-1].run_id if started else None)
            started.append(self._queue(post, agent, thread_id=post.thread_id, trigger_message_id=post.trigger_id))
        self._tell("message_created", said, said.sender or "", said.role, run_id=said.run_id)
        return PostedMessage(said, here.thread, started)

    def _said(self, message_id: str) -> Message:
        message = self._messages.get(message_id)
        if message is None or self._threads[message.thread_id].kind == "chat":
            raise NotFound
        return message

    def _root(self, said: Message) -> str | None:
        if said.parent_id is None:
            return None
        parent = self._said(said.parent_id)
        if parent.thread_id != said.thread_id:
            raise NotFound
        return parent.parent_id or parent.id

    def _audience(self, here: Conversation, said: Message) -> Audience:
        thread = here.thread
        spoken: list[Participant] | None = None
        if said.parent_id is not None:
            spoken = [self._messages[said.parent_id].party]
            replies = sorted(m.id for m in self._messages.values() if m.parent_id == said.parent_id and m.id != said.id)
            spoken += [self._messages[each].party for each in replies]
        return Audience(
            kind="dm" if thread.kind == "dm" else "channel",
            is_private=thread.is_private,
            members=here.members,
            active={agent for agent in self._agents if self._is_active(agent, thread.owner)},
            spoken=spoken,
        )

    async def recent_messages(
        self, thread_id: str, before: str | None, limit: int, parent_id: str | None = None
    ) -> Sequence[Message]:
        inside = [m for m in self._messages.values() if m.thread_id == thread_id and (before is None or m.id < before)]
        wanted = sorted((m for m in inside if parent_id in (None, m.parent_id)), key=lambda m: m.id)
        return wanted[-limit:]

    async def get_message(self, caller: str, message_id: str) -> Message:
        message = self._said(message_id)
        if not self._conversation(message.thread_id).is_seen_by(caller):
            raise NotFound
        return message

    async def change_message(self, caller: str, message_id: str, text: str) -> Message:
        message = await self.get_message(caller, message_id)
        if message.party != Participant(caller, "user") or message.deleted_at is not None:
            raise NotFound
        changed = self._messages[message_id] = replace(message, text=text, edited_at=self._now())
        self._tell("message_updated", message, caller, "user")
        return changed

    async def delete_message(self, caller: str, message_id: str, text: str) -> None:
        message = await self.get_message(caller, message_id)
        owner = self._threads[message.thread_id].owner
        if caller != owner and message.party != Participant(caller, "user"):
            raise NotFound
        if message.deleted_at is not None:
            return
        gone = replace(message, text=text, sources=[], parts=None, deleted_at=self._now())
        self._messages[message_id] = gone
        self._reactions = [each for each in self._reactions if each.message_id != message_id]
        self._tell("message_deleted", message, caller, "user")

    async def react(self, caller: str, reaction: Reaction) -> bool:
        message = self._said(reaction.message_id)
        here = self._conversation(message.thread_id)
        sender = Participant(reaction.sender, "user" if reaction.role == "user" else "agent")
        if not _may_say(here, caller, sender) or message.deleted_at is not None:
            raise NotFound
        if any(_same(each, reaction) for each in self._reactions):
            return False
        self._reactions.append(reaction)
        self._tell("reaction_added", message, reaction.sender, reaction.role, emoji=reaction.emoji)
        return True

    async def remove_reaction(self, caller: str, reaction: Reaction) -> None:
        message = await self.get_message(caller, reaction.message_id)
        left = [each for each in self._reactions if not _same(each, reaction)]
        if len(left) < len(self._reactions):
            self._reactions = left
            self._tell("reaction_removed", message, caller, "user", emoji=reaction.emoji)

    async def reactions(self, message_ids: Sequence[str]) -> Mapping[str, Sequence[Reaction]]:
        found: dict[str, list[Reaction]] = {}
        for each in sorted(self._reactions, key=lambda each: (each.created_at, each.sender, each.emoji)):
            if each.message_id in message_ids:
                found.setdefault(each.message_id, []).append(each)
        return found

    async def mark_read(self, caller: str, thread_id: str, message_id: str) -> None:
        if (await self.get_message(caller, message_id)).thread_id != thread_id:
            raise NotFound
        known = self._read_positions.get((thread_id, caller), "")
        self._read_positions[thread_id, caller] = max(known, message_id)

    async def unread(self, caller: str, limit: int) -> Sequence[Unread]:
        kinds: tuple[ThreadKind, ...] = ("channel", "dm")
        seen = [here.thread for kind in kinds for here in await self.list_conversations(caller, kind, None, limit)]
        newest = sorted(seen, key=lambda thread: thread.id, reverse=True)[:limit]
        return [self._unread(caller, thread) for thread in newest]

    def _unread(self, caller: str, thread: Thread) -> Unread:
        read = self._read_positions.get((thread.id, caller))
        later = [m for m in self._messages.values() if m.thread_id == thread.id and m.id > (read or "")]
        count = sum(m.deleted_at is None and m.party != Participant(caller, "user") for m in later)
        return Unread(thread_id=thread.id, kind=thread.kind, read_id=read, count=min(count, MOST_UNREAD))


def _may_say(here: Conversation, caller: str, sender: Participant) -> bool:
    return here.may_speak(sender.id, caller) if sender.kind == "agent" else here.is_seen_by(caller)


def _same(one: Reaction, other: Reaction) -> bool:
    return replace(one, created_at=0) == replace(other, created_at=0)
