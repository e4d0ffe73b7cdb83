"""A pod is killed in the middle of a run: its ended spans have been sent, and the trace continues as a second
attempt."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.flow.order.test_a_group_keeps_its_order import AT_ONCE, channel, say
from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow

if TYPE_CHECKING:
    from tests.support.fakes.otlp_sink import Arrived

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs the extra otlp")

WORDS = "words that only the owner may read"


@pytest.mark.req("S3.35", "S3.36")
async def test_the_second_attempt_is_in_the_same_trace(any_flow: Flow) -> None:
    from tests.support.fakes.otlp_sink import otlp_sink

    flow = any_flow
    with otlp_sink() as sink:
        # a lease that a busy machine does not let run out: that would be an attempt more
        settings: dict[str, Any] = AT_ONCE | {"otlp_endpoint": sink.url, "lease_seconds": 5}
        pod = await flow.first(**settings)
        place = await channel(flow, "player")
        turn = [["step", "look_up"], ["call", "look"], ["wait", WORDS], ["call", "save"]]
        [run_id] = await say(flow, place, *turn)
        await eventually("the first attempt is seen at work", lambda: sink.named("agent.tool"))
        await pod.kill()
        flow.notes.open_gate(WORDS)
        await flow.next(**settings)
        await flow.reached(run_id, "done")
        await eventually("the run is traced to its end", lambda: sink.named("agent.run"))
        await asyncio.gather(*(_stopped(pod) for pod in flow.pods if pod.alive))

        trace = run_id.replace("-", "")
        [run] = sink.named("agent.run")
        assert (run.trace, run.attributes["attempt"], run.attributes["outcome"]) == (trace, 2, "ok")
        steps, tools = sink.named("agent.step"), sink.named("agent.tool")
        assert {span.trace for span in [*steps, *tools]} == {trace}
        first = {span.parent for span in [*steps, *tools]} - {run.id}
        assert len(first) == 1, "spans of the first attempt are below another span, which died with it"
        assert [_tool(span) for span in tools] == [("look", next(iter(first))), ("save", run.id)]
        assert [span.attributes["step"] for span in steps] == ["look_up#1"], "what was done is not done again"
        assert [span.trace for span in sink.named("mailbox.dequeue")] == [trace, trace], "it was claimed twice"
        assert not any(WORDS.encode() in body for body in sink.bodies)


def _tool(span: Arrived) -> tuple[str, str]:
    return span.attributes["tool"], span.parent


async def _stopped(pod: Any) -> None:
    """Send the spans that are not sent yet."""
    pod.terminate()
    await pod.end()
