"""The office of the memory store: conversations, agents, memory, turns and the feed, in plain dictionaries."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from runyard.domain.feed import Entry, Kind, Window
from runyard.domain.ledger import Day, Ledger
from runyard.domain.memory import Block, Passage
from runyard.domain.profile import Profile
from runyard.domain.recipients import Audience, Party, recipients
from runyard.domain.run import Run, Status
from runyard.domain.thread import Change, Conversation, Message, Reaction, Thread, ThreadKind
from runyard.errors import Conflict, Invalid, NotFound
from runyard.ids import first_id_at
from runyard.office import Said, Words
from runyard.store import Accepted, Document, IdempotencyKey, Post, Swept
from runyard.stores._memory_keys import Keys
from runyard.stores._memory_lane import Lane
from runyard.stores._memory_ledger import Ledgers
from runyard.stores._memory_search import search


class MemoryOffice:
    """A part of `MemoryStore`, which brings the rest."""

    _now: Any
    _threads: dict[str, Thread]
    _messages: dict[str, Message]
    _runs: dict[str, Run]
    _lanes: dict[str, Lane]
    _keys: Keys

    def _queue(self, post: Post, agent: str, **origin: Any) -> Accepted:
        raise NotImplementedError

    def _change(self, run: Run, **changes: Any) -> Run:
        raise NotImplementedError

    def _open_office(self) -> None:
        self._members: dict[str, list[Party]] = {}
        self._causes: dict[str, str] = {}
        self._reactions: list[Reaction] = []
        self._agents: dict[str, Profile] = {}
        self._blocks: dict[tuple[str, str], Block] = {}
        self._links: set[tuple[str, str]] = set()
        self._passages: dict[str, Passage] = {}
        self._pauses: dict[str, int] = {}
        self._due: dict[str, int] = {}
        self._ledgers = Ledgers()
        self._feed: list[Entry] = []
        self._numbered = 0
        self._feed_start = 0

    # --- conversations ---------------------------------------------------------------------------------------------

    async def open_channel(
        self, thread: Thread, members: Sequence[Party], key: IdempotencyKey | None = None
    ) -> Conversation:
        made = self._keys.recall(key)
        if made is not None:
            return await self.get_conversation(thread.owner, made)
        self._check_agents(thread.owner, members)
        if self._named_conversation(thread) is not None:
            raise Conflict
        self._keys.remember(key, thread.id, self._now())
        return self._opened(thread, members)

    async def open_dm(self, thread: Thread, members: Sequence[Party]) -> Conversation:
        self._check_agents(thread.owner, members)
        known = self._named_conversation(thread)
        return self._opened(thread, members) if known is None else self._conversation(known.id)

    def _opened(self, thread: Thread, members: Sequence[Party]) -> Conversation:
        self._threads[thread.id] = thread
        self._members[thread.id] = list(dict.fromkeys(members))
        return self._conversation(thread.id)

    def _check_agents(self, owner: str, members: Sequence[Party]) -> None:
        if not all(self._is_active(party.id, owner) for party in members if party.kind == "agent"):
            raise Invalid

    def _is_active(self, agent: str, owner: str) -> bool:
        profile = self._agents.get(agent)
        return profile is not None and profile.is_active and profile.owner in (None, owner)

    def _named_conversation(self, thread: Thread) -> Thread | None:
        name = (thread.owner, thread.kind, thread.name)
        known = (each for each in self._threads.values() if (each.owner, each.kind, each.name) == name)
        return next((each for each in known if each.name is not None), None)

    def _conversation(self, thread_id: str) -> Conversation:
        thread = self._threads.get(thread_id)
        if thread is None or thread.kind == "chat":
            raise NotFound
        return Conversation(thread, list(self._members.get(thread_id, ())))

    def _close_conversation(self, thread_id: str) -> None:
        self._members.pop(thread_id, None)
        self._reactions = [each for each in self._reactions if each.message_id in self._messages]
        self._feed = [each for each in self._feed if each.thread_id != thread_id]

    async def get_conversation(self, caller: str, thread_id: str) -> Conversation:
        here = self._conversation(thread_id)
        if not here.is_seen_by(caller):
            raise NotFound
        return here

    async def list_conversations(
        self, caller: str, kind: ThreadKind, before: str | None, limit: int
    ) -> Sequence[Conversation]:
        found = [self._conversation(thread.id) for thread in self._threads.values() if thread.kind == kind != "chat"]
        seen = [here for here in found if here.is_seen_by(caller) and (before is None or here.thread.id < before)]
        return sorted(seen, key=lambda here: here.thread.id, reverse=True)[:limit]

    async def change_channel(self, owner: str, thread_id: str, change: Change) -> Conversation:
        thread = self._own_channel(owner, thread_id)
        changes = {name: value for name in change.__struct_fields__ if (value := getattr(change, name)) is not None}
        changed = replace(thread, **changes)
        known = self._named_conversation(changed)
        if known is not None and known.id != thread_id:
            raise Conflict
        self._threads[thread_id] = changed
        return self._conversation(thread_id)

    def _own_channel(self, owner: str, thread_id: str) -> Thread:
        thread = self._threads.get(thread_id)
        if thread is None or thread.owner != owner or thread.kind != "channel":
            raise NotFound
        return thread

    async def add_member(self, owner: str, thread_id: str, party: Party) -> Conversation:
        self._own_channel(owner, thread_id)
        self._check_agents(owner, [party])
        if party not in self._members[thread_id]:
            self._members[thread_id].append(party)
        return self._conversation(thread_id)

    async def remove_member(self, owner: str, thread_id: str, party: Party) -> Conversation:
        self._own_channel(owner, thread_id)
        if party not in self._members[thread_id]:
            raise NotFound
        self._members[thread_id].remove(party)
        return self._conversation(thread_id)

    # --- what is said ----------------------------------------------------------------------------------------------

    async def say(self, words: Words) -> Said:
        known = self._causes.get(words.cause) if words.cause is not None else self._keys.recall(words.key)
        if known is not None:
            message = self._said(known)
            return Said(message, self._threads[message.thread_id], repeated=True)
        here = self._conversation(words.message.thread_id)
        if not _may_say(here, words.caller, words.message.party):
            raise NotFound
        parent = self._root(words.message)
        said = self._messages[words.message.id] = replace(words.message, parent_id=parent)
        self._keys.remember(words.key, said.id, self._now())
        if words.cause is not None:
            self._causes[words.cause] = said.id
        woken = recipients(said.party, self._audience(here, said), words.depth)
        started: list[Accepted] = []
        for agent in woken:
            post = words.wake(agent, here.thread.owner, started[-1].run_id if started else None)
            started.append(self._queue(post, agent, thread_id=post.thread_id, trigger_message_id=post.trigger_id))
        self._tell("message_created", said, said.sender or "", said.role, run_id=said.run_id)
        return Said(said, here.thread, started)

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
        spoken: list[Party] | None = None
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
        if message.role != "user" or caller not in (message.sender, self._threads[message.thread_id].owner):
            raise NotFound
        changed = self._messages[message_id] = replace(message, text=text)
        return changed

    async def delete_message(self, caller: str, message_id: str) -> None:
        message = await self.get_message(caller, message_id)
        owner = self._threads[message.thread_id].owner
        if caller != owner and message.party != Party(caller, "user"):
            raise NotFound
        for gone in [m.id for m in self._messages.values() if message_id in (m.id, m.parent_id)]:
            del self._messages[gone]
        self._reactions = [each for each in self._reactions if each.message_id in self._messages]

    async def react(self, caller: str, reaction: Reaction) -> bool:
        message = self._said(reaction.message_id)
        here = self._conversation(message.thread_id)
        if not _may_say(here, caller, Party(reaction.sender, "user" if reaction.role == "user" else "agent")):
            raise NotFound
        if any(_same(each, reaction) for each in self._reactions):
            return False
        self._reactions.append(reaction)
        self._tell("reaction_added", message, reaction.sender, reaction.role, emoji=reaction.emoji)
        return True

    async def remove_reaction(self, caller: str, reaction: Reaction) -> None:
        await self.get_message(caller, reaction.message_id)
        self._reactions = [each for each in self._reactions if not _same(each, reaction)]

    async def reactions(self, message_ids: Sequence[str]) -> Mapping[str, Sequence[Reaction]]:
        found: dict[str, list[Reaction]] = {}
        for each in sorted(self._reactions, key=lambda each: (each.created_at, each.sender, each.emoji)):
            if each.message_id in message_ids:
                found.setdefault(each.message_id, []).append(each)
        return found

    # --- agents ----------------------------------------------------------------------------------------------------

    async def declare_agents(self, profiles: Sequence[Profile]) -> None:
        for profile in profiles:
            known = self._agents.get(profile.id)
            if known is None:
                self._agents[profile.id] = replace(profile, owner=None, created_at=profile.updated_at)
                continue
            same = ("persona", "model", "max_turns", "max_usd")
            if known.owner is not None or any(getattr(known, name) != getattr(profile, name) for name in same):
                made_of = {name: getattr(profile, name) for name in (*same, "updated_at")}
                self._agents[profile.id] = replace(known, owner=None, **made_of)

    async def create_agent(self, profile: Profile) -> Profile:
        if profile.id in self._agents:
            raise Conflict
        self._agents[profile.id] = profile
        return profile

    async def get_agent(self, caller: str, agent: str) -> Profile:
        profile = self._agents.get(agent)
        if profile is None or profile.owner not in (None, caller):
            raise NotFound
        return profile

    async def find_agent(self, agent: str) -> Profile | None:
        return self._agents.get(agent)

    async def list_agents(
        self, caller: str, after: str | None, limit: int, inactive: bool = False
    ) -> Sequence[Profile]:
        mine = [each for each in self._agents.values() if each.owner in (None, caller) and (each.is_active or inactive)]
        return sorted((e for e in mine if after is None or e.id > after), key=lambda each: each.id)[:limit]

    async def change_agent(self, caller: str, profile: Profile) -> Profile:
        known = await self.get_agent(caller, profile.id)
        kept = {"owner": known.owner, "session_id": known.session_id, "created_at": known.created_at}
        changed = self._agents[profile.id] = replace(profile, **kept)
        return changed

    async def keep_session(self, agent: str, session_id: str | None) -> None:
        if agent in self._agents:
            self._agents[agent] = replace(self._agents[agent], session_id=session_id)

    # --- memory ----------------------------------------------------------------------------------------------------

    async def blocks(self, agent: str) -> Sequence[Block]:
        own = [block for block in self._blocks.values() if block.agent == agent]
        others = [b for b in self._blocks.values() if b.is_shared and b.agent != agent and (b.id, agent) in self._links]
        return [*sorted(own, key=lambda b: b.label), *sorted(others, key=lambda b: (b.label, b.agent))]

    async def put_block(self, block: Block, is_shared: bool | None = None) -> Block:
        if block.agent not in self._agents:
            raise NotFound
        known = self._blocks.get((block.agent, block.label), replace(block, is_shared=False))
        shared = known.is_shared if is_shared is None else is_shared
        block = replace(block, id=known.id, is_shared=shared)
        self._blocks[block.agent, block.label] = block
        return block

    async def drop_block(self, agent: str, label: str) -> None:
        if (agent, label) not in self._blocks:
            raise NotFound
        gone = self._blocks.pop((agent, label))
        self._links = {link for link in self._links if link[0] != gone.id}

    async def link_block(self, agent: str, label: str, reader: str) -> None:
        block = self._blocks.get((agent, label))
        if block is None or not block.is_shared or reader not in self._agents:
            raise NotFound
        self._links.add((block.id, reader))

    async def unlink_block(self, agent: str, label: str, reader: str) -> None:
        block = self._blocks.get((agent, label))
        if block is not None:
            self._links.discard((block.id, reader))

    async def put_passage(self, passage: Passage) -> Passage:
        if passage.agent not in self._agents:
            raise NotFound
        for known in self._passages.values():
            if passage.cause is not None and known.cause == passage.cause:
                return known
        self._passages[passage.id] = passage
        return passage

    async def passages(self, agent: str, before: str | None, limit: int) -> Sequence[Passage]:
        mine = [p for p in self._passages.values() if p.agent == agent and (before is None or p.id < before)]
        return sorted(mine, key=lambda p: p.id, reverse=True)[:limit]

    async def find_passages(self, agent: str, query: str, limit: int) -> Sequence[Passage]:
        mine = [Document(p.id, " ".join(p.tags), p.content) for p in self._passages.values() if p.agent == agent]
        return [self._passages[hit.id] for hit in search(mine, query)[:limit]]

    async def drop_passage(self, agent: str, passage_id: str) -> None:
        if passage_id not in self._passages or self._passages[passage_id].agent != agent:
            raise NotFound
        del self._passages[passage_id]

    # --- the ledger ------------------------------------------------------------------------------------------------

    async def mailbox_runs(self, owner: str, agent: str, before: str | None, limit: int) -> Sequence[Run]:
        mine = [run for run in self._runs.values() if (run.owner, run.agent, run.face) == (owner, agent, "channels")]
        older = [run for run in mine if before is None or run.id < before]
        return sorted(older, key=lambda run: run.id, reverse=True)[:limit]

    async def read_ledger(self, run_id: str) -> Ledger:
        return self._ledgers.of(run_id)

    async def usage_by_day(self, owner: str, agent: str, limit: int) -> Sequence[Day]:
        runs = [run.id for run in self._runs.values() if (run.owner, run.agent, run.face) == (owner, agent, "channels")]
        return self._ledgers.by_day(runs)[:limit]

    # --- turns and the feed ----------------------------------------------------------------------------------------

    def _pass_turn(self, run: Run) -> None:
        """Whoever was held behind this run is due after a pause; or waits on, if it never had its turn itself."""
        if not run.in_mailbox:
            return
        never = run.held and run.id not in self._due
        for each in [each for each in self._held() if each.after_run == run.id and each.id not in self._due]:
            if never:
                self._change(each, after_run=run.after_run)
            else:
                self._due[each.id] = self._now() + self._pauses[each.id]

    def _held(self) -> list[Run]:
        return [run for run in self._runs.values() if run.held and run.status is Status.QUEUED]

    async def give_turns(self, limit: int) -> tuple[int, int | None]:
        waiting = sorted((self._due[run.id], run.id) for run in self._held() if run.id in self._due)
        due = [run_id for at, run_id in waiting if at <= self._now()][:limit]
        for run_id in due:
            run = self._change(self._runs[run_id], held=False)
            self._lanes[run.lane_key].release(run, self._now())
        left = [at - self._now() for at, run_id in waiting if run_id not in due]
        return len(due), min(left, default=None)

    async def recover_turns(self) -> None:
        for run in self._held():
            before = self._runs.get(run.after_run or "")
            if run.id not in self._due and (before is None or before.status not in (Status.QUEUED, Status.RUNNING)):
                self._due[run.id] = self._now()

    def _tell_of(self, run: Run, kind: Kind) -> None:
        if run.in_mailbox:
            self._feed.append(
                Entry(
                    no=0,
                    kind=kind,
                    thread_id=run.thread_id or "",
                    thread_kind=self._threads[run.thread_id or ""].kind,
                    actor=run.agent,
                    role="assistant",
                    message_id=run.trigger_message_id,
                    run_id=run.id,
                    created_at=self._now(),
                )
            )

    def _tell(self, kind: Kind, message: Message, actor: str, role: Any, **more: Any) -> None:
        thread = self._threads[message.thread_id]
        about: dict[str, Any] = {"thread_id": thread.id, "thread_kind": thread.kind, "message_id": message.id}
        self._feed.append(Entry(no=0, kind=kind, actor=actor, role=role, created_at=self._now(), **about, **more))

    async def number_feed(self, limit: int) -> int:
        new = [n for n, entry in enumerate(self._feed) if entry.no == 0][:limit]
        for n in new:
            self._numbered += 1
            self._feed[n] = replace(self._feed[n], no=self._numbered)
        return self._numbered

    async def read_feed(self, caller: str, after: int, limit: int) -> Window:
        piece = [entry for entry in self._feed if entry.no > after][:limit]
        seen = [self._shown(entry) for entry in piece if self._is_shown(entry, caller)]
        return Window(seen, piece[-1].no if piece else after)

    async def feed_start(self) -> int:
        return self._feed_start

    # --- retention -------------------------------------------------------------------------------------------------

    async def sweep_words(self, horizon: int, after: str | None, limit: int) -> Swept:
        until = first_id_at(horizon)
        old = sorted(each for each in self._messages if (after or "") < each < until)[:limit]
        dropped = [each for each in old if self._is_over(self._messages[each], until)]
        for each in dropped:
            del self._messages[each]
        self._reactions = [each for each in self._reactions if each.message_id in self._messages]
        return Swept(len(old), len(dropped), old[-1] if len(old) == limit else None)

    def _is_over(self, message: Message, until: str) -> bool:
        about = [run for run in self._runs.values() if run.trigger_message_id == message.id]
        replies = [each for each in self._messages.values() if each.parent_id == message.id]
        return (
            self._threads[message.thread_id].kind != "chat"
            and all(reply.id < until for reply in replies)
            and all(run.status.is_terminal for run in about)
        )

    async def drop_feed(self, horizon: int, limit: int) -> int:
        numbered = [entry for entry in self._feed if entry.no][:limit]
        old = [entry.no for entry in numbered if entry.created_at < horizon]
        if old:
            self._feed_start = max(old)
            self._feed = [entry for entry in self._feed if not 0 < entry.no <= self._feed_start]
        return len(old)

    def _is_waited_for(self, run: Run) -> bool:
        return any(each.after_run == run.id for each in self._held())

    def _is_shown(self, entry: Entry, caller: str) -> bool:
        if entry.thread_kind == "chat" or (entry.kind == "message_created" and entry.message_id not in self._messages):
            return False
        return self._conversation(entry.thread_id).is_seen_by(caller)

    def _shown(self, entry: Entry) -> Entry:
        if entry.kind != "message_created":
            return entry
        return replace(entry, message=self._messages[entry.message_id or ""])


def _may_say(here: Conversation, caller: str, sender: Party) -> bool:
    return here.may_speak(sender.id, caller) if sender.kind == "agent" else here.is_seen_by(caller)


def _same(one: Reaction, other: Reaction) -> bool:
    return replace(one, created_at=0) == replace(other, created_at=0)
