"""Logs, traces and metrics report on the server. When they fail, runs and the shutdown of the process do not change."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod

F_SETPIPE_SZ = 1031
PROGRAM = (["tokens", 3], ["call", "pay"], ["step", "one"], ["tokens", 3])


async def works_and_stops(flow: Flow, pod: Pod) -> None:
    for _ in range(5):
        run_id = await flow.post(*PROGRAM)
        await flow.reached(run_id, "done", "error")
        [finished] = [json.loads(row["data"]) for row in await flow.log(run_id) if row["type"] == "tool.finished"]
        assert finished.get("error") is None, "the tool took effect, and the log must say so"
        assert (await flow.run(run_id))["status"] == "done"
    assert len(flow.effects("pay")) == 5
    pod.terminate()
    assert await pod.end() == 0


async def test_a_full_disk_of_the_log(sqlite_flow: Flow) -> None:
    await works_and_stops(sqlite_flow, await sqlite_flow.start(log_to=Path("/dev/full")))


async def test_a_closed_pipe_of_the_log(sqlite_flow: Flow) -> None:
    fifo, reader = pipe(sqlite_flow.folder)
    pod = await sqlite_flow.start(log_to=fifo)
    os.close(reader)
    await works_and_stops(sqlite_flow, pod)


async def test_a_pipe_that_is_not_read_any_more(sqlite_flow: Flow) -> None:
    fifo, reader = pipe(sqlite_flow.folder)
    with closing(os.fdopen(reader)):
        await works_and_stops(sqlite_flow, await sqlite_flow.start(log_to=fifo))


def pipe(folder: Path) -> tuple[Path, int]:
    """A pipe by name that holds one page, and its end to read from."""
    fifo = folder / "log.pipe"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, F_SETPIPE_SZ, 4096)
    return fifo, reader


@pytest.mark.parametrize("sink", ["logger", "tracer", "metrics"])
async def test_a_sink_that_raises(sqlite_flow: Flow, sink: str) -> None:
    await works_and_stops(sqlite_flow, await sqlite_flow.start(broken=sink))
