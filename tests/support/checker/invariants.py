"""The checker: what must hold after every flow scenario, whatever was done to the processes.

It looks at the database itself, at what the clients saw, at what stores acknowledged and at what agents did to the
world, and raises `InvariantBroken` with every breach it found, each under its number:

    I1   a log is 1..N without gap, N is the run's last_seq, and no event stands in it twice
    I2   the fence never decreases along a log
    I3   a run that ended has exactly one run.finished, last, equal to its status; no other run has one
    I4   at most one run of a lane is active at a time, and first starts are in the order of the queue (a run that was
         held comes when it is released, and after all that could be claimed before that)
    I5   every accepted request became a run that has ended or waits
    I6   no step and no tool finished twice; a `once` effect happened at most once (or as often as a person allowed)
    I7   what a client got, over all its connections, is the log exactly once, in order
    I8   every append that was acknowledged is in the log
    I9   lanes count what is queued and not held, and name who is active
    I10  no transaction is left idle, no session waits for a lock
    I11  every HTTP error is problem+json with a known code
    I12  the faults really happened: otherwise the scenario is VOID
    I13  a run is published no further than its log goes; it is closed only if all of it is published and it is at rest;
         its state has moved if, and only if, its end is published
    I14  a run of a group starts after the one before it has ended (or parked, or never had its turn); who is held has
         not started, and no run is held behind an ended run
    I15  no number of the feed is given twice, or lies past its head; each run in a mailbox was told to begin once, and
         to be done once, in that order, exactly if it has ended
    I16  every wait was requested once in its run's log, and answered once if it has an answer; a run that ended has no
         open wait, and a run that waits has one
    I17  every child run belongs to exactly one wait of its parent; a parent that ended leaves no child at work, and no
         run waits for a child that has ended
    I18  no message for a run is without a run that has it: the run under way took it, once; or it has a separate run;
         or the run that it came for has not ended
    I19  a file that a message or an answer names is stored whole and counts as used
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import pairwise
from typing import Protocol

import runyard.web.body  # noqa: F401 (its errors are among the known ones)
from runyard import errors
from runyard.domain.runs.run import Status
from tests.support.checker.file_invariants import FILES, MESSAGES, USES, broken_files
from tests.support.checker.wait_invariants import ENDED, STEERED, WAITS, Row, broken_steering, broken_waits
from tests.support.scenario.facts_and_gates import Notes

LEAVES = ("run.waiting", "run.finished")
CLOCKS_MS = 5  # events have the time of their process, starts that of the database
STATES = {"done": "finished", "error": "finished", "canceled": "cancelled"}
# in one statement, because outboxes may still be at work
PUBLISHED = """
select r.id, r.status, r.state, r.last_seq, o.next_seq, o.open from runs r left join run_outbox o on o.run_id = r.id
"""
FEED = "select no, kind, run_id from feed order by no, id"
FEED_HEAD = "select last from feed_head"
TWICE = {"step.finished": "step", "tool.finished": "call_id"}


def _known_codes() -> set[str]:
    def tree(kind: type[errors.RunyardError]) -> Iterator[str]:
        yield kind.code
        for child in kind.__subclasses__():
            yield from tree(child)

    return {*tree(errors.RunyardError), *(status.name.lower() for status in HTTPStatus), "draining"} - {"error"}


class InvariantBroken(AssertionError):
    """Something that must always hold does not."""


class Database(Protocol):
    async def rows(self, sql: str) -> Sequence[Row]: ...

    async def unrest(self) -> Sequence[str]:
        """Idle transactions and lock waits that did not go away in a reasonable time."""


@dataclass
class Seen:
    """The events that one client got of one run, over all its connections. `face` decides which it should have got."""

    run_id: str
    face: str = "native"
    events: list[tuple[int, str, str]] = field(default_factory=list)  # seq, type, event id (native face only)
    complete: bool = False
    should_be_complete: bool = False


@dataclass
class Answer:
    status: int
    content_type: str
    body: bytes


@dataclass
class Evidence:
    """The records of the clients and of the test."""

    notes: Notes
    accepted: list[str] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    failures: list[Answer] = field(default_factory=list)
    expected_faults: Counter[str] = field(default_factory=Counter)
    allowed_effects: dict[str, int] = field(default_factory=dict)  # by key; 1 where nothing is said


async def check(database: Database, evidence: Evidence) -> None:
    """Raise InvariantBroken if anything that must always hold does not."""
    found = await breaches(database, evidence)
    if found:
        more = f"\n... and {len(found) - 20} more" if len(found) > 20 else ""
        raise InvariantBroken("\n".join(found[:20]) + more)


async def breaches(database: Database, evidence: Evidence) -> list[str]:
    """Return every breach, each under its number."""
    runs = {row["id"]: row for row in await database.rows("select * from runs")}
    events = await database.rows("select * from run_events order by run_id, seq")
    lanes = await database.rows("select * from lanes")
    logs: dict[str, list[Row]] = defaultdict(list)
    for event in events:
        logs[event["run_id"]].append(event)
    return [
        *_logs(runs, logs),
        *_lanes(runs, lanes),
        *_turns(runs, logs),
        *broken_waits(runs, logs, await database.rows(WAITS)),
        *_feed(runs, await database.rows(FEED), await database.rows(FEED_HEAD)),
        *broken_steering(runs, logs, await database.rows(STEERED)),
        *broken_files(logs, *[await database.rows(each) for each in (MESSAGES, FILES, USES)]),
        *_published(await database.rows(PUBLISHED)),
        *_accepted(runs, evidence),
        *_effects(evidence),
        *_clients(logs, evidence),
        *_acknowledged(logs, evidence),
        *(f"I10 {what}" for what in await database.unrest()),
        *_answers(evidence),
        *_faults(evidence),
    ]


def _logs(runs: Mapping[str, Row], logs: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    for run_id in logs.keys() - runs.keys():
        yield f"I1 {run_id}: a log without a run"
    for run_id, run in runs.items():
        log = logs.get(run_id, [])
        seqs = [event["seq"] for event in log]
        if seqs != list(range(1, len(seqs) + 1)):
            yield f"I1 {run_id}: seqs are {seqs}"
        if run["last_seq"] != len(seqs):
            yield f"I1 {run_id}: last_seq is {run['last_seq']} after {len(seqs)} events"
        for event_id, times in Counter(event["id"] for event in log).items():
            if times > 1:
                yield f"I1 {run_id}: event {event_id} stands {times} times in the log"
        fences = [event["fence"] for event in log]
        if fences != sorted(fences):
            yield f"I2 {run_id}: the fences along the log are {fences}"
        yield from _end(run, log)
        for kind, key in TWICE.items():
            finished = Counter(json.loads(event["data"])[key] for event in log if event["type"] == kind)
            for name, times in finished.items():
                if times > 1:
                    yield f"I6 {run_id}: {kind} of {name} stands {times} times in the log"


def _end(run: Row, log: Sequence[Row]) -> Iterator[str]:
    ends = [event for event in log if event["type"] == "run.finished"]
    if run["status"] not in ENDED:
        if ends:
            yield f"I3 {run['id']}: run.finished, but the run is {run['status']}"
    elif len(ends) != 1 or log[-1] is not ends[0]:
        yield f"I3 {run['id']}: {len(ends)} x run.finished; the log ends {[event['type'] for event in log[-3:]]}"
    elif json.loads(ends[0]["data"])["status"] != run["status"]:
        yield f"I3 {run['id']}: the log says {ends[0]['data']!r}, the run {run['status']}"


def _lanes(runs: Mapping[str, Row], lanes: Sequence[Row]) -> Iterator[str]:
    members: dict[str, list[Row]] = defaultdict(list)
    for run in sorted(runs.values(), key=lambda run: int(run["pos"])):
        members[run["lane_key"]].append(run)
    for lane in lanes:
        inside = members.pop(lane["key"], [])
        queued = sum(run["status"] == Status.QUEUED and not run["held"] for run in inside)
        if lane["runnable"] != queued:
            yield f"I9 {lane['key']}: runnable is {lane['runnable']}, but {queued} runs are queued and not held"
        active = [run["id"] for run in inside if run["status"] in (Status.RUNNING, Status.WAITING)]
        if active != ([lane["active_run"]] if lane["active_run"] else []):
            yield f"I9 {lane['key']}: active_run is {lane['active_run']}, but {active} run or wait"
        started = [run for run in inside if run["started_at"] is not None]
        for before, after in pairwise([run for run in started if run["after_run"] is None]):
            if before["started_at"] > after["started_at"]:
                yield f"I4 {lane['key']}: {after['id']} started before {before['id']}, which came first"
        for before, after in pairwise(sorted(started, key=lambda run: int(run["started_at"]))):
            if before["finished_at"] is None or before["finished_at"] > after["started_at"]:
                yield f"I4 {lane['key']}: {after['id']} started while {before['id']} was active"
    for key in members:
        yield f"I9 {key}: runs without a lane"


def _turns(runs: Mapping[str, Row], logs: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    for run in runs.values():
        if run["held"] and run["started_at"] is not None:
            yield f"I14 {run['id']}: held, and started"
        before = runs.get(run["after_run"] or "")
        stuck = run["held"] and run["status"] == Status.QUEUED and run["due_at"] is None
        if stuck and (before is None or before["status"] not in (Status.QUEUED, Status.RUNNING)):
            yield f"I14 {run['id']}: held behind a run that is over"
        if before is None or run["started_at"] is None:
            continue
        left = [event["ts"] for event in logs.get(before["id"], []) if event["type"] in LEAVES]
        if not left or min(left) > run["started_at"] + CLOCKS_MS:
            yield f"I14 {run['id']}: started while it was the turn of {before['id']}"


def _feed(runs: Mapping[str, Row], feed: Sequence[Row], heads: Sequence[Row]) -> Iterator[str]:
    numbers = [row["no"] for row in feed if row["no"] is not None]
    if len(numbers) != len(set(numbers)) or (numbers and max(numbers) > max((row["last"] for row in heads), default=0)):
        yield f"I15 the numbers of the feed are {numbers}, its head {[row['last'] for row in heads]}"
    told: dict[str, list[str]] = defaultdict(list)
    for row in feed:
        if row["kind"] in ("agent_typing", "agent_done"):
            told[row["run_id"]].append(row["kind"])
    for run in runs.values():
        if run["face"] == "channels":
            begun = ["agent_typing"] if run["started_at"] is not None else []
            truth = begun + (["agent_done"] if begun and run["status"] in ENDED else [])
            if told[run["id"]] != truth:
                yield f"I15 {run['id']}: told {told[run['id']]}, not {truth}"


def _published(rows: Sequence[Row]) -> Iterator[str]:
    for run in rows:
        if run["next_seq"] is None:
            yield f"I13 {run['id']}: a run without a cursor"
            continue
        behind = run["next_seq"] <= run["last_seq"]
        if run["next_seq"] > run["last_seq"] + 1:
            yield f"I13 {run['id']}: published up to {run['next_seq'] - 1} of {run['last_seq']}"
        if not run["open"] and (behind or run["status"] == Status.RUNNING):
            yield f"I13 {run['id']}: closed at {run['next_seq']} of {run['last_seq']}, and the run is {run['status']}"
        state = "started" if behind else STATES.get(run["status"], "started")
        if run["state"] != state:
            yield f"I13 {run['id']}: state is {run['state']}, not {state}"


def _accepted(runs: Mapping[str, Row], evidence: Evidence) -> Iterator[str]:
    for run_id in evidence.accepted:
        status = runs[run_id]["status"] if run_id in runs else "unknown"
        if status not in ENDED | {Status.WAITING.value}:
            yield f"I5 {run_id}: accepted, but {status}"


def _effects(evidence: Evidence) -> Iterator[str]:
    """Also those of `idempotent` tools whose key was seen are fine: the outside world recognises the key."""
    done = Counter((tool, key) for tool, key, _ in evidence.notes.read("effects"))
    for (tool, key), times in done.items():
        if tool in ("pay", "send") and times > evidence.allowed_effects.get(key, 1):
            yield f"I6 {tool} {key}: happened {times} times"


def _clients(logs: Mapping[str, Sequence[Row]], evidence: Evidence) -> Iterator[str]:
    for seen in evidence.seen:
        log = [event for event in logs.get(seen.run_id, []) if seen.face != "threads" or _is_shown(event)]
        if seen.should_be_complete and not seen.complete:
            yield f"I7 {seen.run_id}: a client was never told that the run has ended"
        if not seen.complete:
            last = seen.events[-1][0] if seen.events else 0
            log = [event for event in log if event["seq"] <= last]
        got, truth = [seq for seq, _, _ in seen.events], [event["seq"] for event in log]
        if got != truth:
            yield f"I7 {seen.run_id}: a client got {got} of {truth}"
        elif seen.face == "native" and [e[2] for e in seen.events] != [event["id"] for event in log]:
            yield f"I7 {seen.run_id}: a client got other events than those in the log"


def _is_shown(event: Row) -> bool:
    """Whether the threads face shows the event."""
    return event["type"] in {
        "model.token", "model.reset", "tool.started", "tool.finished",
        "run.output", "run.error", "run.canceled", "run.finished",
    }  # fmt: skip


def _acknowledged(logs: Mapping[str, Sequence[Row]], evidence: Evidence) -> Iterator[str]:
    stored = {run_id: {event["id"] for event in log} for run_id, log in logs.items()}
    for run_id, event_id, _ in evidence.notes.read("acknowledged"):
        if event_id not in stored.get(run_id, set()):
            yield f"I8 {run_id}: event {event_id} was acknowledged and is gone"


def _answers(evidence: Evidence) -> Iterator[str]:
    known = _known_codes()
    for answer in evidence.failures:
        what = f"{answer.status} {answer.content_type} {answer.body[:200]!r}"
        if answer.content_type != "application/problem+json" or answer.status == 500:
            yield f"I11 {what}"
        elif json.loads(answer.body)["code"] not in known:
            yield f"I11 unknown code: {what}"


def _faults(evidence: Evidence) -> Iterator[str]:
    fired = Counter(point for point, *_ in evidence.notes.read("faults"))
    for point, times in evidence.expected_faults.items():
        if fired[point] < times:
            yield f"I12 VOID: {point} fired {fired[point]} times, not {times}"
