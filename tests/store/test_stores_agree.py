"""Whatever is done to two stores, in whatever order: both answer the same and end up the same.

The memory store is the model. With SQLite it shares a clock that moves only when told to, so everything is compared:
times, order, back-off, leases. Postgres has a clock of its own: times are left out, claims take all that is ready, and
nothing is tried whose outcome depends on how long a step takes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from runyard.domain.append import Appended, Busy, Outcome, Part, Release
from runyard.domain.events import Event, MessageTaken, StepFinished
from runyard.domain.file import Place, StoredFile
from runyard.domain.recipients import Participant
from runyard.domain.run import Run, Status
from runyard.domain.thread import Thread
from runyard.domain.wait import Wait
from runyard.ids import new_id
from runyard.store import Accepted, IdempotencyKey, Post, PostedMessage, Snapshot, Store
from tests.store.channel_factories import a_channel, a_profile, new_message
from tests.store.conftest import postgres_store
from tests.store.factories import (
    ANN,
    BOB,
    MANY,
    Writer,
    a_chat_post,
    a_post,
    a_thread,
    an_approval,
    an_excerpt,
    asked,
    clock,
    decision,
    draft,
    ending,
    received,
    token,
)
from tests.store.push_rules import HOUR, PushRules
from tests.store.store_pairs import OnPostgres, OnSqlite, Setting, answer_of, ignoring_order, seen, told
from tests.store.test_files import a_file

T = TypeVar("T")
X = TypeVar("X")
# Time enough to make a failing example small.
pytestmark = pytest.mark.timeout(600)
PartKind = Literal[
    "tokens", "nothing", "progress", "old fence", "new fence", "skipped batch", "wrong seq", "right seq", "ask",
    "ask for a moment",
    "take messages", "park", "park and yield", "release", "release for later", "done", "error", "canceled",
]  # fmt: skip
MOVES_ON: tuple[PartKind, ...] = ("park", "park and yield", "release", "release for later", "done", "error", "canceled")
STAYS: tuple[PartKind, ...] = (
    "tokens", "nothing", "progress", "right seq", "ask", "ask for a moment", "take messages",
)  # fmt: skip
REFUSED: tuple[PartKind, ...] = ("old fence", "new fence", "skipped batch", "wrong seq")

picks = st.integers(0, 50)
part_kinds = st.lists(st.sampled_from(MOVES_ON + STAYS + REFUSED), min_size=1, max_size=3)
aims = st.integers(0, 3).map(bool)  # mostly at what the operation is made for
owners = st.sampled_from([ANN, ANN, ANN, BOB])
strangers = st.integers(0, 9).map(lambda n: n == 0)


def keys(scope: str) -> st.SearchStrategy[IdempotencyKey | None]:
    return st.none() | st.builds(IdempotencyKey, st.just(scope), st.sampled_from("ab"), st.sampled_from("xxxy"))


class Agreement(PushRules, RuleBasedStateMachine):
    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self.setting = setting
        self.model, self.store = setting.begin()
        self.same = True
        self.threads: list[Thread] = []
        self.runs: dict[str, str] = {}  # run id -> owner
        self.workers: list[str] = []
        self.writers: list[Writer] = []
        self.sent: list[Part] = []
        self.approvals: list[Wait] = []
        self.files: list[StoredFile] = []

    @property
    def exact(self) -> bool:
        return self.setting.clock is not None

    def both(self, operation: Callable[[Store], Awaitable[T]], view: Callable[[Any], Any] = lambda seen: seen) -> Any:
        """Do it to both and compare what they say; `view` drops what may differ."""
        expected, actual = (self.setting.run(answer_of(operation(each))) for each in (self.model, self.store))
        one, two = (view(seen(answer, self.exact)) for answer in (expected, actual))
        self.same = self.same and one == two
        assert two == one
        return expected

    def teardown(self) -> None:
        try:
            if self.same:
                self._compare_what_is_left()
        finally:
            self.setting.end()

    @initialize()
    def start(self) -> None:
        """Two workers, and a conversation that has begun."""
        self._register()
        self._register()
        self.create_thread(ANN, "greeter", None)
        self.accept([(0, "thread", None, False), (0, "thread", None, False), (0, "agent:a", None, False)])
        agent_directory = [Participant("a"), Participant("b"), Participant("c")]
        profiles = [a_profile(party.id) for party in agent_directory]
        self.both(lambda store: store.declare_agents(profiles), lambda _: None)
        self.places = [a_channel("all"), replace(a_channel("few"), is_private=True)]
        self._open(self.places[0], agent_directory)
        self._open(self.places[1], agent_directory[:2])

    def _open(self, place: Thread, members: Sequence[Participant]) -> None:
        self.both(lambda store: store.open_channel(place, members), lambda _: None)

    # --- threads and intake

    @rule(owner=owners, agent=st.sampled_from([None, "greeter"]), key=keys("threads"))
    def create_thread(self, owner: str, agent: str | None, key: IdempotencyKey | None) -> None:
        thread = a_thread(owner, agent)
        made = self.both(lambda store: store.create_thread(thread, key))
        if made == thread:
            self.threads.append(thread)

    @rule(pick=picks, aimed=aims, stranger=strangers)
    def delete_thread(self, pick: int, aimed: bool, stranger: bool) -> None:
        busy = {run.thread_id for run in self._model_runs() if not run.status.is_terminal}
        idle = [thread for thread in self.threads if thread.id not in busy]
        thread = _pick(idle if aimed and idle else self.threads, pick)
        owner = "stranger" if stranger else thread.owner
        self.both(lambda store: store.delete_thread(owner, thread.id))

    @rule(
        wanted=st.lists(
            st.tuples(picks, st.sampled_from(["thread", "thread", "agent:a", "own"]), keys("posts"), strangers),
            min_size=1,
            max_size=3,
        )
    )
    def accept(self, wanted: list[tuple[int, str, IdempotencyKey | None, bool]]) -> None:
        posts = [self._post(*each) for each in wanted]
        answers = self.both(lambda store: store.accept(posts))
        for post, answer in zip(posts, answers, strict=True):
            if isinstance(answer, Accepted) and not answer.repeated:
                self.runs[post.run_id] = post.owner

    def _post(self, pick: int, lane: str, key: IdempotencyKey | None, stranger: bool) -> Post:
        thread = _pick(self.threads, pick) if lane != "own" else None
        owner = BOB if stranger else thread.owner if thread else ANN
        post = a_post(thread, owner=owner, lane=lane if lane == "agent:a" else None, key=key)
        return (
            replace(post, files=[_pick(self.files, pick).id]) if self.files and lane == "thread" and pick % 3 else post
        )

    # --- files

    @rule(owner=owners, digest=st.sampled_from("pq"), pick=picks, place=st.sampled_from(["database", "objects"]))
    def upload(self, owner: str, digest: str, pick: int, place: Place) -> None:
        file = replace(a_file(new_id(), owner), created_at=self.setting.clock.now if self.setting.clock else 0)
        run_id = None if pick % 2 else self._run(pick)[0]
        self.both(lambda store: store.begin_upload(owner, file.content_id, place))
        self.both(lambda store: store.write_chunk(file.content_id, 0, b"\0" + digest.encode()))
        made = self.both(lambda store: store.finish_upload(file, digest, run_id))
        if isinstance(made, StoredFile):
            self.files.append(made)

    @rule(pick=picks, stranger=strangers)
    def look_at_file(self, pick: int, stranger: bool) -> None:
        for file in self.files:
            self._look_at(file, "stranger" if stranger else file.owner)
        self.both(lambda store: store.dropped_contents(MANY), lambda found: sorted(each["id"] for each in found))

    def _look_at(self, file: StoredFile, owner: str) -> None:
        self.both(lambda store: store.get_file(owner, file.id))
        if file.place == "database":
            self.both(lambda store: store.read_chunk(file.content_id, 0))

    @rule()
    def sweep_files(self) -> None:
        self.both(lambda store: store.sweep_files(0, 0, MANY))

    @rule(pick=picks, aimed=aims, key=keys("retries"), agent=st.sampled_from([None, "poet"]), stranger=strangers)
    def retry(self, pick: int, aimed: bool, key: IdempotencyKey | None, agent: str | None, stranger: bool) -> None:
        run_id, owner = self._run(pick, *([Status.DONE, Status.ERROR, Status.CANCELED] if aimed else []))
        owner = "stranger" if stranger else owner
        post = a_post(owner=owner, key=key, agent=agent, lane="agent:a" if pick % 2 else None)
        accepted = self.both(lambda store: store.retry(owner, post, run_id))
        if isinstance(accepted, Accepted) and not accepted.repeated:
            self.runs[post.run_id] = owner

    @rule(name=st.sampled_from("xy"), owner=owners, key=keys("chats"))
    def say(self, name: str, owner: str, key: IdempotencyKey | None) -> None:
        """Post to a thread by its external id, and create it if there is none."""
        post = a_chat_post(name, owner=owner, key=key)
        [answer] = self.both(lambda store: store.accept([post]))
        thread = self.both(lambda store: store.get_named_thread(owner, name))
        if isinstance(answer, Accepted) and not answer.repeated:
            self.runs[post.run_id] = owner
        if isinstance(thread, Thread) and thread.id not in {known.id for known in self.threads}:
            self.threads.append(thread)

    @rule(pick=picks, aimed=aims, key=keys("edits"), stranger=strangers)
    def edit(self, pick: int, aimed: bool, key: IdempotencyKey | None, stranger: bool) -> None:
        inside = [run for run in self._model_runs() if run.thread_id is not None]
        idle = [run for run in inside if run.status.is_terminal and run.superseded_by is None]
        if not (fitting := idle if aimed and idle else inside):
            return
        old = _pick(fitting, pick)
        owner = "stranger" if stranger else old.owner
        post = a_post(old.thread_id, "another", owner=owner, key=key)
        accepted = self.both(lambda store: store.edit(owner, post, old.id))
        if isinstance(accepted, Accepted) and not accepted.repeated:
            self.runs[post.run_id] = owner

    @rule(pick=picks, aimed=aims, key=keys("forks"), stranger=strangers, early=st.booleans())
    def fork(self, pick: int, aimed: bool, key: IdempotencyKey | None, stranger: bool, early: bool) -> None:
        run_id, owner = self._run(pick, *([Status.DONE, Status.ERROR, Status.CANCELED] if aimed else []))
        thread = a_thread("stranger" if stranger else owner)
        run = self.both(lambda store: store.get_run(owner, run_id))
        copy = an_excerpt(run, thread) if early and isinstance(run, Run) else None
        made = self.both(lambda store: store.fork_thread(thread, run_id, key, copy))
        if isinstance(made, Thread) and made.id == thread.id:
            self.threads.append(made)
            if copy is not None:
                self.runs[copy.run.id] = owner

    # --- steering

    @rule(
        pick=picks,
        aimed=aims,
        key=keys("steering"),
        agent=st.sampled_from([None, None, "poet"]),
        most=st.sampled_from([None, None, 1]),
        stranger=strangers,
    )
    def steer(
        self, pick: int, aimed: bool, key: IdempotencyKey | None, agent: str | None, most: int | None, stranger: bool
    ) -> None:
        """Post a message to a thread, mostly one whose run has not ended."""
        post = self._post_to_a_thread(pick, aimed, key, agent, most, stranger)
        event = received(post)
        self._started(self.both(lambda store: store.steer(post, lambda _: event)), post)

    @rule(pick=picks, aimed=aims, key=keys("steering"), grace_ms=st.sampled_from([0, HOUR]), stranger=strangers)
    def interrupt(self, pick: int, aimed: bool, key: IdempotencyKey | None, grace_ms: int, stranger: bool) -> None:
        post = self._post_to_a_thread(pick, aimed, key, None, None, stranger)
        self._started(self.both(lambda store: store.interrupt(post, grace_ms, ending)), post)

    @rule(pick=picks, aimed=aims, key=keys("steering"), stranger=strangers)
    def accept_if_idle(self, pick: int, aimed: bool, key: IdempotencyKey | None, stranger: bool) -> None:
        post = self._post_to_a_thread(pick, aimed, key, None, None, stranger)
        self._started(self.both(lambda store: store.accept_if_idle(post)), post)

    def _post_to_a_thread(
        self, pick: int, aimed: bool, key: IdempotencyKey | None, agent: str | None, most: int | None, stranger: bool
    ) -> Post:
        busy = {run.thread_id for run in self._model_runs() if not run.status.is_terminal}
        fitting = [thread for thread in self.threads if thread.id in busy]
        thread = _pick(fitting if aimed and fitting else self.threads, pick)
        owner = BOB if stranger else thread.owner
        return replace(a_post(thread, owner=owner, key=key, agent=agent), most_queued=most)

    def _started(self, answer: object, post: Post) -> None:
        """Remember the run that the post started, or may start when the steered run ends."""
        if isinstance(answer, Accepted) and not answer.repeated:
            self.runs[post.run_id] = post.owner

    # --- conversations

    @rule(pick=picks, caller=owners, early=st.booleans(), key=keys("words"))
    def speak(self, pick: int, caller: str, early: bool, key: IdempotencyKey | None) -> None:
        """Post a message; the agents of the conversation answer one after another."""
        pause_ms = HOUR if self.exact and not early else 0
        place = _pick(self.places, pick)
        said = new_message(place.id, caller=caller, sender=Participant(caller, "user"), pause_ms=pause_ms, key=key)
        answer = self.both(lambda store: store.post_message(said))
        if isinstance(answer, PostedMessage):
            self.runs |= {each.run_id: place.owner for each in answer.started}

    @rule(lost=strangers)
    def release_held_runs(self, lost: bool) -> None:
        if lost:
            self.both(lambda store: store.recover_held_runs())
        self.both(lambda store: store.release_held_runs(MANY), lambda answer: answer if self.exact else answer[0])

    # --- disconnects, expired approvals, and copies

    @rule(pick=picks, status=st.sampled_from(Status), grace_ms=st.sampled_from([0, 0, HOUR]))
    def leave(self, pick: int, status: Status, grace_ms: int) -> None:
        run_id, _ = self._run(pick, status)
        self.both(lambda store: store.detach(run_id, grace_ms))

    @rule(picked=st.lists(picks, max_size=2))
    def come_back(self, picked: list[int]) -> None:
        run_ids = [self._run(pick)[0] for pick in picked]
        self.both(lambda store: store.attach(run_ids))

    @rule(grace_ms=st.sampled_from([0, HOUR]))
    def deadlines(self, grace_ms: int) -> None:
        self.both(lambda store: store.abandon(MANY, grace_ms, ending), ignoring_order)
        self.both(lambda store: store.expire(MANY, lambda wait: ("expired", decision(wait))), lambda found: found[0])

    @rule(pick=picks, data=st.sampled_from([b"{}", b"[]", None]), stale=strangers)
    def save(self, pick: int, data: bytes | None, stale: bool) -> None:
        due = self.both(lambda store: store.runs_without_checkpoint(MANY), ignoring_order)
        if due:
            run = replace(_pick(due, pick), superseded_by=new_id()) if stale else _pick(due, pick)
            self.both(lambda store: store.save_checkpoint(run, data))

    @rule(
        pick=picks,
        seq=st.integers(0, 9),
        kind=st.sampled_from(["state", "other"]),
        data=st.sampled_from([b"{}", b"[]"]),
    )
    def keep_a_state(self, pick: int, seq: int, kind: str, data: bytes) -> None:
        run_id, _ = self._run(pick)
        self.both(lambda store: store.save_snapshot(run_id, kind, Snapshot(seq, data)))
        self.both(lambda store: store.snapshot(run_id, kind, seq))

    # --- publication

    @rule(batch=st.sampled_from([1, 3, MANY, MANY]))
    def publish(self, batch: int) -> None:
        behind = self.both(lambda store: store.unpublished(0, MANY), ignoring_order)
        self.both(lambda store: store.publish([each.mark(batch) for each in behind]))

    # --- workers

    @rule(pick=picks, limit=st.sampled_from([1, 2, MANY, MANY]), suspects=st.booleans(), kinds=part_kinds)
    def work(self, pick: int, limit: int, suspects: bool, kinds: list[PartKind]) -> None:
        """A worker claims, and writes something to what it got."""
        worker_id = _pick(self.workers, pick)
        # Which suspect is taken, and whether before the others, is left to the store.
        limit = limit if (alone := self.exact and not suspects) else MANY
        self.both(lambda store: store.ready_runs(MANY), lambda ready: sorted(run["run_id"] for run in ready))
        taken = self.both(lambda store: store.claim(worker_id, limit, suspects), ignoring_order if not alone else list)
        # By age: a clock that runs must not decide which part goes to which run.
        writers = [Writer(run) for run in sorted((claim.run for claim in taken), key=lambda run: run.id)]
        self.writers += writers
        self._send([self._part(writer, _pick(kinds, n)) for n, writer in enumerate(writers)])

    @rule(pick=picks, ttl_ms=st.sampled_from([0, HOUR]))
    def heartbeat(self, pick: int, ttl_ms: int) -> None:
        worker_id = _pick(self.workers, pick)
        self.both(lambda store: store.runs_to_cancel(worker_id), sorted)
        self.both(
            lambda store: store.heartbeat(worker_id, ttl_ms),
            lambda beat: (beat["alive"], sorted(run.id for run in beat["holds"])),
        )

    @rule(pick=picks, max_attempts=st.sampled_from([1, 2, 4, 4, 4]))
    def crash(self, pick: int, max_attempts: int) -> None:
        """A worker that has a run, if there is one, dies; another one comes; the dead are reaped."""
        busy = sorted({run.worker_id for run in self._model_runs() if run.worker_id is not None} & {*self.workers})
        worker_id = _pick(busy or self.workers, pick)
        self.both(lambda store: store.heartbeat(worker_id, 0), lambda beat: beat["alive"])
        self.workers.remove(worker_id)
        self._register()
        self.reap(max_attempts)

    @rule(max_attempts=st.sampled_from([1, 4]))
    def reap(self, max_attempts: int) -> None:
        # On a clock that cannot be stopped, nothing may come back with a back-off.
        most = max_attempts if self.exact else min(max_attempts, 2)
        self.both(lambda store: store.reap(MANY, most, ending), ignoring_order)

    @precondition(lambda self: self.exact)
    @rule(ms=st.sampled_from([1, 1000, 5000, 2 * HOUR]), forget=st.booleans())
    def wait(self, ms: int, forget: bool) -> None:
        assert self.setting.clock is not None
        self.setting.clock.now += ms
        if forget:
            self.both(lambda store: store.forget_keys(HOUR))

    def _register(self) -> None:
        self.workers.append(worker_id := new_id())
        self.both(lambda store: store.register(worker_id, "worker", HOUR))

    # --- the log

    @rule(picked=st.lists(picks, min_size=1, max_size=3), aimed=aims, kinds=part_kinds)
    def write(self, picked: list[int], aimed: bool, kinds: list[PartKind]) -> None:
        """Mostly by those who own their run."""
        fences = {run.id: run.fence for run in self._model_runs() if run.status is Status.RUNNING}
        owning = [writer for writer in self.writers if fences.get(writer.run.id) == writer.run.fence]
        able = owning if aimed and owning else self.writers
        writers = {writer.run.id: writer for writer in (_pick(able, pick) for pick in picked if able)}
        self._send([self._part(writer, _pick(kinds, n)) for n, writer in enumerate(writers.values())])

    @precondition(lambda self: self.sent)
    @rule(pick=picks)
    def send_again(self, pick: int) -> None:
        self._send([self.sent[-1 - pick % len(self.sent)]])

    def _send(self, parts: Sequence[Part]) -> None:
        self.sent += parts
        outcomes = self.both(lambda store: _append(store, parts))
        for part, outcome in zip(parts, outcomes, strict=True):
            if isinstance(outcome, Appended):
                self.approvals += part.waits
                for writer in self.writers:
                    if (writer.run.id, writer.run.fence) == (part.run_id, part.fence):
                        writer.batch = part.batch

    def _part(self, writer: Writer, kind: PartKind) -> Part:
        """The next part of this writer; its number counts when it was taken."""
        part = self._drafted(writer, kind)
        writer.batch -= 1
        return part

    def _drafted(self, writer: Writer, kind: PartKind) -> Part:
        run = writer.run
        match kind:
            case "tokens":
                return writer.part(token("a"), token("b"))
            case "nothing":
                return writer.part()
            case "progress":
                return writer.part(draft(StepFinished("s#1", "look up")))
            case "old fence":
                return writer.part(token("a"), fence=run.fence - 1)
            case "new fence":
                return writer.part(token("a"), fence=run.fence + 1)
            case "skipped batch":
                return writer.part(token("a"), batch=writer.batch + 2)
            case "wrong seq":
                return writer.part(token("a"), expected_seq=1)
            case "right seq":
                seq = self.setting.run(self.model.heads([run.id]))
                return writer.part(token("a"), expected_seq=seq[run.id].last_seq + 1 if run.id in seq else 2)
            case "ask" | "ask for a moment":
                approval = replace(an_approval(run), expires_at=clock.now_ms() - HOUR if kind != "ask" else None)
                return writer.part(asked(approval), waits=[approval])
            case "take messages":
                new = [message.id for message in self.setting.run(self.model.new_messages(run.id))]
                return writer.part(*(draft(MessageTaken(message_id)) for message_id in new), takes=new)
            case "park" | "park and yield":
                open_ones = [each for each in self.approvals if each.run_id == run.id][-1:]
                return writer.park(*(open_ones or [an_approval(run)]), hold=kind == "park")
            case "release":
                return writer.part(token("a"), move=Release())
            case "release for later":
                return writer.part(move=Release(delay_ms=HOUR))
            case "done" | "error" | "canceled":
                return writer.finish(Status(kind), "the answer" if run.thread_id else None)

    # --- people

    @rule(pick=picks, status=st.sampled_from(Status), grace_ms=st.sampled_from([0, HOUR]), stranger=strangers)
    def cancel(self, pick: int, status: Status, grace_ms: int, stranger: bool) -> None:
        run_id, owner = self._run(pick, status)
        self.both(lambda store: store.cancel("stranger" if stranger else owner, run_id, grace_ms, ending))

    @precondition(lambda self: self.approvals)
    @rule(pick=picks, aimed=aims, state=st.sampled_from(["approved", "rejected"]), stranger=strangers)
    def decide(self, pick: int, aimed: bool, state: Literal["approved", "rejected"], stranger: bool) -> None:
        waiting = {run.id for run in self._model_runs() if run.status is Status.WAITING}
        wanted = [approval for approval in self.approvals if approval.run_id in waiting]
        approval = _pick(wanted if aimed and wanted else self.approvals, pick)
        owner = "stranger" if stranger else self.runs[approval.run_id]
        event = decision(approval)
        self.both(lambda store: store.answer(owner, approval.id, state, "carol", event))

    def _model_runs(self) -> list[Run]:
        return [run for owner in (ANN, BOB) for run in self.setting.run(_runs_of(self.model, owner))]

    def _run(self, pick: int, *statuses: Status) -> tuple[str, str]:
        """A run in one of these states, if there is one, and its owner."""
        fitting = [(run.id, run.owner) for run in self._model_runs() if run.status in statuses]
        return _pick(fitting or list(self.runs.items()), pick)

    # --- comparison of all reads

    @invariant()
    def lists_are_the_same(self) -> None:
        for owner in (ANN, BOB):
            self.both(lambda store, owner=owner: store.list_runs(owner, {}, None, MANY))  # type: ignore[misc]
        self.both(lambda store: store.list_waits(ANN, None, MANY))
        if self.exact:
            self.both(lambda store: store.list_workers())

    def _compare_what_is_left(self) -> None:
        for thread in self.threads:
            self.both(lambda store, thread=thread: store.get_thread(thread.owner, thread.id))  # type: ignore[misc]
            self.both(lambda store, thread=thread: store.list_messages(thread.id))  # type: ignore[misc]
            self.both(lambda store, thread=thread: store.read_checkpoints(thread.id))  # type: ignore[misc]
        for approval in self.approvals:
            owner = self.runs[approval.run_id]
            self.both(lambda store, owner=owner, it=approval: store.get_wait(owner, it.id))  # type: ignore[misc]
        for place in self.places:
            self.both(lambda store, place=place: store.recent_messages(place.id, None, MANY))  # type: ignore[misc]
        self.both(lambda store: store.number_feed(MANY))
        for caller in (ANN, BOB):
            self.both(lambda store, caller=caller: told(store, caller))  # type: ignore[misc]
        heads = self.both(lambda store: store.heads(list(self.runs)))
        for run_id in self.runs:
            self.both(lambda store, run_id=run_id: store.new_messages(run_id))  # type: ignore[misc]
            self.both(lambda store, run_id=run_id: store.history(run_id, 3))  # type: ignore[misc]
            self.both(lambda store, run_id=run_id: store.snapshot(run_id, "state", MANY))  # type: ignore[misc]
            events = self.both(lambda store, run_id=run_id: store.read(run_id, 0, MANY))  # type: ignore[misc]
            _check_log(events, finished=run_id in heads and heads[run_id].finished)


def _check_log(events: Sequence[Event], finished: bool) -> None:
    """Contiguous from 1; exactly one terminal event, the last one, if and only if the run has ended."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    ends = [event.seq for event in events if event.type == "run.finished"]
    assert ends == ([len(events)] if finished else [])


async def _append(store: Store, parts: Sequence[Part]) -> Sequence[Outcome]:
    """As the journal does it: what was busy in the group is offered again alone."""
    outcomes = list(await store.append(parts))
    for n, part in enumerate(parts):
        if isinstance(outcomes[n], Busy):
            [outcomes[n]] = await store.append([part])
    return outcomes


async def _runs_of(store: Store, owner: str) -> Sequence[Run]:
    return await store.list_runs(owner, {}, None, MANY)


def _pick(items: Sequence[X], pick: int) -> X:
    return items[pick % len(items)]


def _explore(setting: Setting, examples: int, steps: int) -> None:
    class Here(Agreement):
        def __init__(self) -> None:
            super().__init__(setting)

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.invariant(1, 3)
@pytest.mark.req("S0.11", "S0.12", "S4.8", "S4.10", "S4.23")
def test_memory_and_sqlite_agree(empty_sqlite: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    with asyncio.Runner() as runner:
        _explore(OnSqlite(runner, empty_sqlite, tmp_path / "examples"), examples=50, steps=40)


@pytest.mark.invariant(1, 3)
@pytest.mark.req("S0.11", "S0.12", "S4.8", "S4.10", "S4.23")
@pytest.mark.postgres
def test_memory_and_postgres_agree(postgres_dsn: str) -> None:
    with asyncio.Runner() as runner:
        store = postgres_store(postgres_dsn)
        runner.run(store.open())
        try:
            _explore(OnPostgres(runner, postgres_dsn, store), examples=25, steps=30)
        finally:
            runner.run(store.close())
