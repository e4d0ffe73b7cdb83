"""A run waits for a question, a client's tool, two children, a timer and an event, and its server is killed at every
event, directly before its commit and directly after it: the logs say the same as without, no child is started twice,
and no answer is lost.

A kill comes at every occurrence of every event of the whole tree. The events of one commit are stored together or not
at all, so one kill is enough for them.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from tests.support.checker.wait_invariants import Row
from tests.support.eventually import PATIENCE, eventually
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Kind, Pod

ARMED = "armed"
SAID = ("wait.", "tool.", "model.", "run.waiting")  # one half of the work
MAY_REPEAT = {"run.resumed", "run.waiting", "step.started", "model.token", "model.reset"}
STORED_OTHERWISE = {"run.queued", "wait.answered"}  # not by the journal but by
AROUND = {"accept": 3, "answer": 5, "keep_event": 1}
DEPENDS_ON_TIME = {"run.waiting", "run.resumed", "claim", "park"}  # two answers may come at once, or one earlier
SHARED = {"accept:3"}  # on a busy machine one commit accepts both children

WORKER_DIES = ["after.park:1", "before.accept:1", "after.answer:1"]
SERVER_DIES = ["before.answer:1", "after.answer:1", "after.answer:2", "after.expire:1"]


def _program(n: int) -> list[list[Any]]:
    return [
        ["ask", "Which row?"],
        ["client"],
        ["children", [["step", f"s{n}"], ["tokens", 2]], [["sleep", 0.02], ["tokens", 1]]],
        ["sleep", 0.05],
        ["event", "order.paid", f"A-{n}"],
    ]


class PatientClient:
    """A client that posts, and answers until the run is done, whatever happens to the server. It notes each answer
    that the server has acknowledged."""

    def __init__(self, flow: Flow, n: int) -> None:
        self._flow = flow
        self._n = n
        self._tries = 0
        self.run_id = ""
        self.acknowledged: dict[str, Any] = {}

    async def play(self) -> None:
        flow = self._flow
        self.run_id = await flow.post(*_program(self._n))
        await eventually(f"run {self.run_id} is done", self._is_done, PATIENCE)

    async def _is_done(self) -> bool:
        """Answer open waits, each time with another value, and return whether the run is done."""
        pending = f"select id, kind from waits where run_id = '{self.run_id}' and state = 'pending'"
        for wait in await self._flow.database.rows(pending):
            self._tries += 1
            with suppress(httpx2.TransportError, IndexError):
                await self._answer(wait)
        return bool((await self._flow.run(self.run_id))["status"] == "done")

    async def _answer(self, wait: Row) -> None:
        match wait["kind"]:
            case "question":
                await self._send(wait["id"], self._tries)
            case "client_tool":
                await self._send(wait["id"], f"Kyoto {self._tries}")
            case "event":
                await self._flow.deliver(f"e{self._n}", "order.paid", f"A-{self._n}", "card")
            case _:  # others are answered without a client
                pass

    async def _send(self, wait_id: str, value: Any) -> None:
        if (await self._flow.answer(wait_id, value)).status_code == 200:
            self.acknowledged[wait_id] = value


def _same(text: str) -> str:
    """A text without ids, times and numbers, which differ from run to run."""
    return re.sub(r"\d+", "0", re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "id", text))


class Trees:
    """The logs of all runs, by run and by the parent of a run."""

    def __init__(self, runs: Sequence[Row], events: Sequence[Row]) -> None:
        self.logs: dict[str, list[tuple[str, str]]] = {run["id"]: [] for run in runs}
        for event in events:
            self.logs[event["run_id"]].append((event["type"], event["data"].decode()))
        self._families = {run["id"]: [run["id"]] for run in runs if run["parent_run_id"] is None}
        for run in runs:
            if run["parent_run_id"] is not None:
                self._families[run["parent_run_id"]].append(run["id"])

    def events(self, run_id: str) -> list[tuple[str, str]]:
        """The events of a run and its children."""
        return [event for each in self._families[run_id] for event in self.logs[each]]

    def facts(self, run_id: str) -> dict[str, Counter[str]]:
        """The events in the logs of a tree, without those that a crash may add: workers and attempts."""
        family = self._families[run_id]
        logs = {_same(self.logs[each][0][1]): self.logs[each] for each in family}
        assert len(logs) == len(family) == 3, "a parent and two children, none of them twice"
        return {
            name: Counter(f"{kind} {_same(data)}" for kind, data in log if kind not in MAY_REPEAT)
            for name, log in logs.items()
        }

    def answers(self, run_id: str) -> dict[str, Any]:
        answers = [json.loads(data) for kind, data in self.logs[run_id] if kind == "wait.answered"]
        return {answer["wait_id"]: answer.get("value") for answer in answers}


async def _trees(flow: Flow) -> Trees:
    return Trees(
        await flow.database.rows("select id, parent_run_id from runs order by id"),
        await flow.database.rows("select run_id, type, data from run_events order by run_id, seq"),
    )


async def _expire_leases(flow: Flow) -> None:
    """Let the time pass after which the runs of a dead process are reassigned."""
    if not flow.is_sqlite:
        await flow.database.rows("update workers set lease_until = 0")


def _points(trees: Trees, run_id: str, when: str) -> list[str]:
    """Each event of a tree, and each other commit that it needs, as a point at which to kill."""
    kinds = Counter(kind for kind, _ in trees.events(run_id) if kind not in STORED_OTHERWISE)
    kinds |= Counter(AROUND if when == "before" else AROUND | {"claim": 3, "expire": 2})
    return [f"{kind}:{n + 1}" for kind, times in kinds.items() for n in range(times)]


def _struck(flow: Flow) -> set[str]:
    """All that was in the commits at which a server was killed."""
    return {held for _, _, *words in flow.notes.read("faults") for held in words}


async def _until_it_is_over(flow: Flow, pod: Pod, playing: asyncio.Task[None]) -> None:
    """Wait until the server has died, or until the flow is done because it had less commits than usual."""
    ended = asyncio.ensure_future(pod.end(4 * PATIENCE))
    await asyncio.wait([playing, ended], return_when=asyncio.FIRST_COMPLETED)
    if not ended.done():
        with suppress(AssertionError, ProcessLookupError):  # its last commit is struck
            pod.signal(signal.SIGKILL)
        await ended
    await _expire_leases(flow)


@pytest.mark.invariant(1)
@pytest.mark.timeout(600)
@pytest.mark.parametrize("is_said", [True, False], ids=["words-and-waits", "others"])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_with_a_kill_at_every_event(any_flow: Flow, when: str, is_said: bool) -> None:
    """A server that is started after a kill finishes the flow. Then it gets the next one, and is killed itself."""
    flow = any_flow
    pod = await flow.start("serve")
    undisturbed = PatientClient(flow, 0)
    await undisturbed.play()
    await _until_it_is_over(flow, pod, playing := asyncio.create_task(asyncio.sleep(0)))
    clients, tried = [undisturbed], set[str]()
    every_point = _points(await _trees(flow), undisturbed.run_id, when)
    points = [point for point in every_point if point.startswith(SAID) == is_said]
    while left := [point for point in points if point not in tried | _struck(flow)]:
        tried.add(left[0])
        kind, _, n = left[0].rpartition(":")
        pod = await flow.start("serve", fault=f"{when}.{kind}@{ARMED}:{n}")
        await asyncio.wait_for(playing, PATIENCE)
        flow.notes.open_gate(ARMED, pod.pid)
        clients.append(PatientClient(flow, len(clients)))
        playing = asyncio.create_task(clients[-1].play())
        await _until_it_is_over(flow, pod, playing)
    await flow.start("serve")
    await asyncio.wait_for(playing, PATIENCE)

    flow.evidence.expected_faults.clear()  # the next lines check which faults fired
    missed = [point for point in points if point not in _struck(flow)]
    assert [point for point in missed if point.rpartition(":")[0] not in DEPENDS_ON_TIME and point not in SHARED] == []
    trees = await _trees(flow)
    expected = trees.facts(undisturbed.run_id)
    for client in clients:
        assert trees.facts(client.run_id) == expected
        assert client.acknowledged.items() <= trees.answers(client.run_id).items(), "no answer is lost"
    assert len(set(flow.effects("step"))) == len(clients), "in each flow only one child has done the step"


@pytest.mark.parametrize("fault", WORKER_DIES)
async def test_with_a_kill_of_the_worker_alone(flow: Flow, fault: str) -> None:
    """The server that takes the answers lives on."""
    await flow.start("api")
    worker = await flow.start("worker", fault=fault)
    await _finish_on(flow, worker, "worker")


@pytest.mark.parametrize("fault", SERVER_DIES)
async def test_with_a_kill_of_the_server_that_takes_the_answers(flow: Flow, fault: str) -> None:
    """The answer of a person, of a client and of the time. The worker lives on."""
    server = await flow.start("api", fault=fault)
    await flow.start("worker", reap_seconds=0.2 if "answer" in fault else 3600)  # the timer is for the other one
    await _finish_on(flow, server, "api")


async def _finish_on(flow: Flow, pod: Pod, kind: Kind) -> None:
    client = PatientClient(flow, 1)
    playing = asyncio.create_task(client.play())
    await pod.end()
    if kind == "worker":
        await flow.database.rows(f"update workers set lease_until = 0 where id = '{pod.worker_id}'")
    await flow.start(kind)
    await asyncio.wait_for(playing, PATIENCE)
    trees = await _trees(flow)
    assert len(trees.facts(client.run_id)) == 3
    assert client.acknowledged.items() <= trees.answers(client.run_id).items(), "no answer is lost"
    assert len(set(flow.effects("step"))) == 1
