"""The part of the checker that judges waits, child runs and steered messages (I16 to I18)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runyard.domain.runs.run import TERMINAL_STATUSES, Status

Row = Mapping[str, Any]
ENDED = {status.value for status in TERMINAL_STATUSES}
WAITS = "select id, run_id, kind, state, target from waits"
REQUESTS = {"approval.requested": "approval_id", "wait.requested": "wait_id"}
ANSWERS = {"approval.decided": "approval_id", "wait.answered": "wait_id"}
STEERED = "select message_id, run_id, next_run_id, state from steered_messages"


def broken_waits(runs: Mapping[str, Row], logs: Mapping[str, Sequence[Row]], waits: Sequence[Row]) -> Iterator[str]:
    requested, answered = (
        Counter(
            (run_id, json.loads(event["data"])[kinds[event["type"]]])
            for run_id, log in logs.items()
            for event in log
            if event["type"] in kinds
        )
        for kinds in (REQUESTS, ANSWERS)
    )
    stored = {(wait["run_id"], wait["id"]) for wait in waits}
    for place in (requested.keys() | answered.keys()) - stored:
        yield f"I16 {place[0]}: the log has a wait {place[1]} that is not stored"
    for wait in waits:
        place, is_open = (wait["run_id"], wait["id"]), wait["state"] in ("pending", "void")
        if (requested[place], answered[place]) != (1, 0 if is_open else 1):
            yield f"I16 {place}: {wait['state']}, requested {requested[place]} times, answered {answered[place]} times"
        if wait["state"] == "pending" and runs[wait["run_id"]]["status"] in ENDED:
            yield f"I16 {place}: open, but the run has ended"
    waiting = {wait["run_id"] for wait in waits if wait["state"] == "pending"}
    for run in runs.values():
        if run["status"] == Status.WAITING and run["id"] not in waiting:
            yield f"I16 {run['id']}: the run waits without an open wait"
    yield from _children(runs, waits)


def _children(runs: Mapping[str, Row], waits: Sequence[Row]) -> Iterator[str]:
    targets = Counter(wait["target"] for wait in waits if wait["kind"] == "child")
    for run in runs.values():
        parent = runs.get(run["parent_run_id"] or "")
        if parent is None:
            continue
        if targets[f"run:{run['id']}"] != 1:
            yield f"I17 {run['id']}: {targets['run:' + run['id']]} waits of its parent name it"
        if parent["status"] in ENDED and run["status"] not in ENDED:
            yield f"I17 {run['id']}: {run['status']}, but its parent has ended"
    for wait in waits:
        child = runs.get(str(wait["target"]).removeprefix("run:"))
        if wait["state"] == "pending" and child is not None and child["status"] in ENDED:
            yield f"I17 {wait['run_id']}: it waits for a child that has ended"


def broken_steering(runs: Mapping[str, Row], logs: Mapping[str, Sequence[Row]], rows: Sequence[Row]) -> Iterator[str]:
    came, taken = _messages(logs, "message.received"), _messages(logs, "message.taken")
    known = {(row["run_id"], row["message_id"]): row for row in rows}
    for run_id, message_id in (came.keys() | taken.keys()) - known.keys():
        yield f"I18 {message_id}: came for {run_id}, but no row says so"
    for (run_id, message_id), row in known.items():
        run, own = runs.get(run_id), runs.get(row["next_run_id"])
        times = came[run_id, message_id], taken[run_id, message_id]
        if times != (1, row["state"] == "taken"):
            yield f"I18 {message_id}: {row['state']}, but came and taken {times} times in the log of {run_id}"
        if (own is not None) != (row["state"] == "left") or (own and own["trigger_message_id"] != message_id):
            yield f"I18 {message_id}: {row['state']}, but its own run is {own and own['id']}"
        if row["state"] == "new" and (run is None or run["status"] in ENDED):
            yield f"I18 {message_id}: {run_id} has ended and left it"
    unread = Counter(row["run_id"] for row in rows if row["state"] == "new")
    for run in runs.values():
        if run["unread"] != unread[run["id"]]:
            yield f"I18 {run['id']}: unread is {run['unread']}, but {unread[run['id']]} messages are new"


def _messages(logs: Mapping[str, Sequence[Row]], kind: str) -> Counter[tuple[str, str]]:
    events = [event for log in logs.values() for event in log if event["type"] == kind]
    return Counter((event["run_id"], json.loads(event["data"])["message_id"]) for event in events)
