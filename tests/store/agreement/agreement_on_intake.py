"""The operations of clients on two stores: threads, posts, files, steering and conversations."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from msgspec.structs import replace

from runyard.base.ids import new_id
from runyard.domain.content.file import Place, StoredFile
from runyard.domain.conversations.recipients import Participant
from runyard.domain.conversations.thread import Share, Thread
from runyard.domain.runs.run import Run, Status
from runyard.store import Accepted, IdempotencyKey, Post, PostedMessage
from tests.store.agreement.agreement import HOUR, Agreement, aims, chosen, keys, owners, picks, strangers
from tests.store.channel_factories import a_channel, a_profile, new_message
from tests.store.content.test_files import a_file
from tests.store.factories import ANN, BOB, MANY, a_chat_post, a_log_copy, a_post, a_thread, ending, received


class IntakeRules(Agreement):
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

    # --- threads and intake

    @rule(owner=owners, agent=st.sampled_from([None, "greeter"]), key=keys("threads"))
    def create_thread(self, owner: str, agent: str | None, key: IdempotencyKey | None) -> None:
        thread = a_thread(owner, agent)
        made = self.both(lambda store: store.create_thread(thread, key))
        if made == thread:
            self.threads.append(thread)

    @rule(pick=picks, owner=owners, title=st.sampled_from(["one", "two"]))
    def name_thread(self, pick: int, owner: str, title: str) -> None:
        if self.threads:
            thread = chosen(self.threads, pick)
            self.both(lambda store: store.set_title(owner, thread.id, title))

    @rule(pick=picks, owner=owners, valid_ms=st.sampled_from([0, HOUR]))
    def share_thread(self, pick: int, owner: str, valid_ms: int) -> None:
        if self.threads:
            thread = chosen(self.threads, pick)
            share = Share(id=new_id(), owner=owner, thread_id=thread.id, digest=new_id(), upto=thread.id)
            self.both(lambda store: store.create_share(share, valid_ms, 2), _without_times)
            self.both(lambda store: store.find_share(share.digest), _without_times)
            found = self.setting.run(self.model.list_shares(owner, thread.id))
            self.both(lambda store: store.list_shares(owner, thread.id), lambda seen: [_without_times(s) for s in seen])
            if found and pick % 2:
                self.both(lambda store: store.drop_share(owner, thread.id, found[-1].id))

    @rule(pick=picks, aimed=aims, stranger=strangers)
    def delete_thread(self, pick: int, aimed: bool, stranger: bool) -> None:
        busy = {run.thread_id for run in self._model_runs() if not run.status.is_terminal}
        idle = [thread for thread in self.threads if thread.id not in busy]
        thread = chosen(idle if aimed and idle else self.threads, pick)
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
        thread = chosen(self.threads, pick) if lane != "own" else None
        owner = BOB if stranger else thread.owner if thread else ANN
        post = a_post(thread, owner=owner, lane=lane if lane == "agent:a" else None, key=key)
        return (
            replace(post, files=[chosen(self.files, pick).id]) if self.files and lane == "thread" and pick % 3 else post
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
        self.both(lambda store: store.get_thread_head(owner, name))
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
        old = chosen(fitting, pick)
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
        copy = a_log_copy(run, thread) if early and isinstance(run, Run) else None
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
        thread = chosen(fitting if aimed and fitting else self.threads, pick)
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
        place = chosen(self.places, pick)
        said = new_message(place.id, caller=caller, sender=Participant(caller, "user"), pause_ms=pause_ms, key=key)
        answer = self.both(lambda store: store.post_message(said))
        if isinstance(answer, PostedMessage):
            self.runs |= {each.run_id: place.owner for each in answer.started}

    @rule(lost=strangers)
    def release_held_runs(self, lost: bool) -> None:
        if lost:
            self.both(lambda store: store.recover_held_runs())
        self.both(lambda store: store.release_held_runs(MANY), lambda answer: answer if self.exact else answer[0])


def _without_times(share: Any) -> Any:
    return {**share, "created_at": 0, "expires_at": 0} if isinstance(share, dict) else share
