"""`runyard serve --processes N`: one socket, N processes, replaced one after another on SIGHUP without a lost run."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod
from tests.support.servers.postgres_server import free_port

WORDS = "".join(f"t{n} " for n in range(20))
GOOD_APP = "from tests.support.apps.flow_app import fixed, player\n"
# An app with which no process starts, and what the process says about it.
BAD_APPS = {
    "the app cannot be loaded": ("raise ValueError('too early')\n", "app.py, line 1: ValueError: too early."),
    "the process fails": (f"{GOOD_APP}from runyard.app import server\nserver.create_app = None\n", "TypeError: "),
}


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


@pytest.mark.parametrize("what", BAD_APPS)
async def test_if_a_new_process_cannot_start_it_says_why_and_the_old_ones_serve(flow: Flow, what: str) -> None:
    """They serve until another SIGHUP replaces them, after the cause is corrected."""
    bad, reason = BAD_APPS[what]
    app = flow.folder / "app.py"
    app.write_text(GOOD_APP)
    flow.app = app
    pod = await flow.start("processes", port=free_port())
    await eventually("both processes serve", lambda: pod.said("server.started") == 2)
    first = _children(pod)
    app.write_text(bad)
    pod.signal(signal.SIGHUP)
    await eventually("the restart fails", lambda: pod.said("process.restart_failed"))
    assert reason in pod.log.read_text()
    assert _children(pod) == first
    await flow.reached(await flow.post(["tokens", 2]), "done")

    app.write_text(GOOD_APP)
    pod.signal(signal.SIGHUP)
    await eventually("all processes are replaced", lambda: pod.said("process.restart_finished"), 60)
    second = _children(pod)
    assert (len(second), first & second) == (2, set())
    await flow.reached(await flow.post(["tokens", 2]), "done")


async def test_each_process_has_a_metrics_port_also_after_a_restart(flow: Flow) -> None:
    ports = _two_free_ports()
    pod = await flow.start("processes", port=free_port(), metrics_port=ports[0])
    await eventually("both processes serve", lambda: pod.said("server.started") == 2)
    run_id = await flow.post(["wait", "end"], ["tokens", 2])
    await flow.at_gate("end")

    async def executing() -> list[str]:
        """Return how many runs the process of each port executes."""
        pages = [(await flow.http.get(f"http://127.0.0.1:{port}/metrics")).text for port in ports]
        return sorted(line for page in pages for line in page.splitlines() if line.startswith("runyard_runs_active "))

    one = ["runyard_runs_active 0.0", "runyard_runs_active 1.0"]
    assert await executing() == one, "each port is that of one process"
    pod.signal(signal.SIGHUP)
    await eventually("all processes are replaced", lambda: pod.said("process.restart_finished"), 60)

    async def resumed() -> bool:
        return await executing() == one

    await eventually("a new process executes the run", resumed)
    flow.notes.open_gate("end")
    await flow.reached(run_id, "done")


def _two_free_ports() -> tuple[int, int]:
    """A port, and the next one."""
    while True:
        port = free_port()
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port + 1))
            return port, port + 1
