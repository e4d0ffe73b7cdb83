"""A client's stream is the same whether its own server executes the run or a worker elsewhere."""

from typing import Any

import pytest

from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Serve, Server
from tests.support.in_process.raw_stream import RawStream

OF_ITS_OWN = {"run_id", "thread_id", "message_id", "created_at", "ts", "id"}


def without_its_own(value: Any) -> Any:
    """The stream without ids and times."""
    match value:
        case dict():
            return {key: without_its_own(each) for key, each in value.items() if key not in OF_ITS_OWN}
        case list():
            return [without_its_own(each) for each in value]
        case _:
            return value


def frames_of(stream: RawStream) -> list[tuple[int, str, Any]]:
    return [(frame.id, frame.event, without_its_own(frame.json)) for frame in stream.frames]


async def streamed(server: Server, agent: str) -> list[tuple[int, str, Any]]:
    return frames_of(await server.ended(await server.post(agent)))


@pytest.mark.req("S0.43")
@pytest.mark.parametrize("backend", ["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_another_process_may_execute_and_the_stream_stays_as_it_is(serve: Serve, gate: Gate) -> None:
    gate.open.set()
    alone = await serve()
    here = {agent: await streamed(alone, agent) for agent in ("gated", "steps", "long_step")}
    await alone.process.drain(0)

    without = await serve(worker=False)
    gate.calls.clear()
    elsewhere = await serve()
    assert without.process.worker is None
    assert elsewhere.process.worker is not None
    assert {agent: await streamed(without, agent) for agent in here} == here
