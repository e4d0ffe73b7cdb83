"""`runyard serve --processes N`: one socket, N processes, replaced one after another on SIGHUP without a lost run."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod
from tests.support.servers.postgres_server import free_port

WORDS = "".join(f"t{n} " for n in range(20))


def _children(pod: Pod) -> set[int]:
    found = Path(f"/proc/{pod.pid}/task/{pod.pid}/children")
    return set(map(int, found.read_text().split())) if found.exists() else set()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.req("S0.36")
async def test_processes_are_replaced_killed_and_stopped_without_a_lost_run(flow: Flow) -> None:
    pod = await flow.start("processes", port=free_port())
    await eventually("both processes serve", lambda: pod.said("server.started") == 2)
    first = _children(pod)

    async def say() -> None:
        for _ in range(6):
            run_id = await flow.post(["step", "s"], ["tokens", 20, 10])
            flow.follow(run_id)
            await asyncio.sleep(0)

    talking = [asyncio.create_task(say()) for _ in range(2)]
    pod.signal(signal.SIGHUP)
    await eventually("all processes are replaced", lambda: pod.said("process.restart_finished"), 60)
    second = _children(pod)
    assert (len(first), len(second), first & second) == (2, 2, set())
    assert not any(_is_alive(pid) for pid in first)

    await asyncio.gather(*talking)
    held = await flow.post(["tokens", 2], ["wait", "end"])
    victim = await flow.at_gate("end")
    assert victim in second
    os.kill(victim, signal.SIGKILL)
    flow.notes.open_gate("end")
    await flow.reached(held, "done")
    await eventually("the killed process is replaced", lambda: len(_children(pod) - {victim}) == 2)

    for reader in flow.readers:
        await reader.end()
    assert {reader.text for reader in flow.readers} == {WORDS}
    assert sorted(flow.effects("step")) == sorted(f"{run}:s" for run in flow.evidence.accepted if run != held)
    await flow.check()

    last = _children(pod)
    pod.terminate()
    assert await pod.end() == 0
    assert not any(_is_alive(pid) for pid in last)


async def test_children_stop_when_their_parent_dies(flow: Flow) -> None:
    pod = await flow.start("processes", port=free_port())
    await eventually("both processes serve", lambda: pod.said("server.started") == 2)
    children = _children(pod)
    await pod.kill()
    await eventually("the children end", lambda: not any(_is_alive(pid) for pid in children))
