"""Applies the same operations to two stores: how operations are drawn, and how results are compared.

The memory store is the model. With SQLite it shares a clock that only the test moves, so everything is compared:
times, order, back-off, leases. Postgres has its own clock: times are left out, claims take all that is ready, and
nothing is tried whose outcome depends on how long a step takes. The rules are in `agreement_on_intake.py` and
`agreement_on_work.py`.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from runyard.base.ids import new_id
from runyard.domain.content.file import StoredFile
from runyard.domain.conversations.recipients import Participant
from runyard.domain.conversations.thread import Thread
from runyard.domain.events import Event
from runyard.domain.runs.append import Part
from runyard.domain.runs.run import Run, Status
from runyard.domain.wait import Wait
from runyard.store import IdempotencyKey, Store
from tests.store.agreement.store_pairs import Setting, answer_of, seen, visible_feed
from tests.store.factories import ANN, BOB, MANY, Writer

T = TypeVar("T")
X = TypeVar("X")
HOUR = 3_600_000
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


class Agreement(RuleBasedStateMachine):
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
        self.places: list[Thread] = []

    @property
    def exact(self) -> bool:
        return self.setting.clock is not None

    def both(self, operation: Callable[[Store], Awaitable[T]], view: Callable[[Any], Any] = lambda seen: seen) -> Any:
        """Apply an operation to both and compare the results; `view` drops parts that may differ."""
        expected, actual = (self.setting.run(answer_of(operation(each))) for each in (self.model, self.store))
        one, two = (view(seen(answer, self.exact)) for answer in (expected, actual))
        self.same = self.same and one == two
        assert two == one, f"the model said {one}, the store {two}"
        return expected

    def teardown(self) -> None:
        try:
            if self.same:
                self._compare_what_is_left()
        finally:
            self.setting.end()

    def _open(self, place: Thread, members: Sequence[Participant]) -> None:
        self.both(lambda store: store.open_channel(place, members), lambda _: None)

    def _register(self) -> None:
        self.workers.append(worker_id := new_id())
        self.both(lambda store: store.register(worker_id, "worker", HOUR))

    def _model_runs(self) -> list[Run]:
        return [run for owner in (ANN, BOB) for run in self.setting.run(runs_of(self.model, owner))]

    def _run(self, pick: int, *statuses: Status) -> tuple[str, str]:
        """A run in one of these states, if there is one, and its owner."""
        fitting = [(run.id, run.owner) for run in self._model_runs() if run.status in statuses]
        return chosen(fitting or list(self.runs.items()), pick)

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
            self.both(lambda store, caller=caller: visible_feed(store, caller))  # type: ignore[misc]
            self.both(lambda store, caller=caller: store.search_messages(caller, ["hel"], None, MANY))  # type: ignore[misc]
            self.both(lambda store, caller=caller: store.search_titles(caller, ["t"], MANY))  # type: ignore[misc]
        threads = [thread.id for thread in self.threads]
        self.both(lambda store: store.titles(threads))
        self.both(lambda store: store.first_messages(threads))
        heads = self.both(lambda store: store.heads(list(self.runs)))
        self.both(lambda store: store.read_logs(list(self.runs), 3))
        for run_id in self.runs:
            self.both(lambda store, run_id=run_id: store.new_messages(run_id))  # type: ignore[misc]
            self.both(lambda store, run_id=run_id: store.history(run_id, 3))  # type: ignore[misc]
            self.both(lambda store, run_id=run_id: store.ancestors(run_id, 3))  # type: ignore[misc]
            self.both(lambda store, run_id=run_id: store.snapshot(run_id, "state", MANY))  # type: ignore[misc]
            events = self.both(lambda store, run_id=run_id: store.read(run_id, 0, MANY))  # type: ignore[misc]
            check_log(events, finished=run_id in heads and heads[run_id].finished)


def check_log(events: Sequence[Event], finished: bool) -> None:
    """Contiguous from 1; exactly one terminal event, the last one, if and only if the run has ended."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1)), events
    ends = [event.seq for event in events if event.type == "run.finished"]
    assert ends == ([len(events)] if finished else []), events


async def runs_of(store: Store, owner: str) -> Sequence[Run]:
    return await store.list_runs(owner, {}, None, MANY)


def chosen(items: Sequence[X], pick: int) -> X:
    return items[pick % len(items)]
