"""The operations of workers, timers and deciding people on two stores: claims, leases, the log."""

from collections.abc import Sequence
from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from msgspec.structs import replace

from runyard.base.ids import new_id
from runyard.domain.events import MessageTaken, StepFinished
from runyard.domain.push import Push
from runyard.domain.runs.append import Appended, Busy, Outcome, Part, Release
from runyard.domain.runs.run import Feedback, Status
from runyard.store import Snapshot, Store
from tests.store.agreement.agreement import HOUR, Agreement, PartKind, aims, chosen, part_kinds, picks, strangers
from tests.store.agreement.store_pairs import ignoring_order
from tests.store.factories import MANY, Writer, an_approval, approval_request, clock, decision, draft, ending, token


class WorkRules(Agreement):
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
            run = replace(chosen(due, pick), superseded_by=new_id()) if stale else chosen(due, pick)
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

    @rule(pick=picks, name=st.sampled_from("pq"), at_end=strangers, wait_ms=st.sampled_from([0, None, HOUR]))
    def push(self, pick: int, name: str, at_end: bool, wait_ms: int | None) -> None:
        run_id, _ = self._run(pick)
        new = Push(run_id=run_id, id=name, kind="a2a", data={"url": "http://a"})
        self.both(lambda store: store.put_push(new, 2, at_end=at_end), _timeless)
        self.both(lambda store: _delivered(store, wait_ms), sorted)
        self.both(lambda store: store.list_pushes(run_id), lambda found: [_timeless(each) for each in found])
        if pick % 3 == 0:
            self.both(lambda store: store.drop_push(run_id, name))

    @rule(pick=picks, value=st.sampled_from(["up", "down"]), comment=st.sampled_from(["well done", None]))
    def judge(self, pick: int, value: Literal["up", "down"], comment: str | None) -> None:
        run_id, _ = self._run(pick)
        given = Feedback(run_id=run_id, value=value, comment=comment)
        self.both(lambda store: store.put_feedback(given), _timeless)
        if pick % 3 == 0:
            self.both(lambda store: store.drop_feedback(run_id))
        self.both(
            lambda store: store.read_feedback([run_id]), lambda found: {k: _timeless(v) for k, v in found.items()}
        )

    # --- publication

    @rule(batch=st.sampled_from([1, 3, MANY, MANY]))
    def publish(self, batch: int) -> None:
        behind = self.both(lambda store: store.unpublished(0, MANY), ignoring_order)
        self.both(lambda store: store.publish([each.mark(batch) for each in behind]))

    # --- workers

    @rule(pick=picks, limit=st.sampled_from([1, 2, MANY, MANY]), suspects=st.booleans(), kinds=part_kinds)
    def work(self, pick: int, limit: int, suspects: bool, kinds: list[PartKind]) -> None:
        """A worker claims, and writes something to what it got."""
        worker_id = chosen(self.workers, pick)
        # Which suspect is taken, and whether before the others, is left to the store.
        limit = limit if (alone := self.exact and not suspects) else MANY
        self.both(lambda store: store.ready_runs(MANY), lambda ready: sorted(run["run_id"] for run in ready))
        taken = self.both(lambda store: store.claim(worker_id, limit, suspects), ignoring_order if not alone else list)
        # By age: a clock that runs must not decide which part goes to which run.
        writers = [Writer(run) for run in sorted((claim.run for claim in taken), key=lambda run: run.id)]
        self.writers += writers
        self._send([self._part(writer, chosen(kinds, n)) for n, writer in enumerate(writers)])

    @rule(pick=picks, ttl_ms=st.sampled_from([0, HOUR]))
    def heartbeat(self, pick: int, ttl_ms: int) -> None:
        worker_id = chosen(self.workers, pick)
        self.both(lambda store: store.runs_to_cancel(worker_id), sorted)
        self.both(
            lambda store: store.heartbeat(worker_id, ttl_ms),
            lambda beat: (beat["alive"], sorted(run.id for run in beat["holds"])),
        )

    @rule(pick=picks, max_attempts=st.sampled_from([1, 2, 4, 4, 4]))
    def crash(self, pick: int, max_attempts: int) -> None:
        """A worker that has a run, if there is one, dies; another one comes; the dead are reaped."""
        busy = sorted({run.worker_id for run in self._model_runs() if run.worker_id is not None} & {*self.workers})
        worker_id = chosen(busy or self.workers, pick)
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

    # --- the log

    @rule(picked=st.lists(picks, min_size=1, max_size=3), aimed=aims, kinds=part_kinds)
    def write(self, picked: list[int], aimed: bool, kinds: list[PartKind]) -> None:
        """Mostly by those who own their run."""
        fences = {run.id: run.fence for run in self._model_runs() if run.status is Status.RUNNING}
        owning = [writer for writer in self.writers if fences.get(writer.run.id) == writer.run.fence]
        able = owning if aimed and owning else self.writers
        writers = {writer.run.id: writer for writer in (chosen(able, pick) for pick in picked if able)}
        self._send([self._part(writer, chosen(kinds, n)) for n, writer in enumerate(writers.values())])

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
                return writer.part(approval_request(approval), waits=[approval])
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
        approval = chosen(wanted if aimed and wanted else self.approvals, pick)
        owner = "stranger" if stranger else self.runs[approval.run_id]
        event = decision(approval)
        self.both(lambda store: store.answer(owner, approval.id, state, "carol", event))


async def _append(store: Store, parts: Sequence[Part]) -> Sequence[Outcome]:
    """As the journal does it: what was busy in the group is offered again alone."""
    outcomes = list(await store.append(parts))
    for n, part in enumerate(parts):
        if isinstance(outcomes[n], Busy):
            [outcomes[n]] = await store.append([part])
    return outcomes


def _timeless(push: Any) -> Any:
    """Return what is seen of a push or of feedback without times: of a push, whether it has ended."""
    if not isinstance(push, dict):
        return push
    return {**push, "created_at": 0, **({"due_at": push["due_at"] is None} if "due_at" in push else {})}


async def _delivered(store: Store, wait_ms: int | None) -> list[tuple[str, str, int]]:
    """Claim all pushes, and settle each at its next event."""
    found, is_live = await store.claim_pushes(MANY, HOUR)
    done = [await store.settle_push(replace(push, seq=push.seq + 1), wait_ms) for push in found]
    return [("live", "", int(is_live)), *((push.run_id, push.id, push.seq) for push in done if push is not None)]
