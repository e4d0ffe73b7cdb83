"""Cancel: acknowledged at once, effective soon, and the end is in the log for every reader."""

import time

import pytest

from tests.faces.chats.chats_client import Chat, interaction_of
from tests.faces.samples.agents_for_tests import Gate


@pytest.mark.req("S1.25", "S1.26", "S1.57")
async def test_a_second_client_cancels_and_the_first_is_told(chat: Chat, gate: Gate) -> None:
    stream = await chat.start("hello", "gated")
    interaction = interaction_of(stream)
    await gate.until_reached()
    answer = await chat.cancel(interaction)
    assert answer.json() == {
        "status": "cancelling",
        "interaction_id": interaction,
        "message": "Interaction will stop at next checkpoint",
    }
    await stream.to_end()
    assert stream.events[-2:] == ["cancelled", "interaction_complete"]
    assert (await chat.look(interaction))["status"] == "CANCELLED"


@pytest.mark.req("S1.39")
@pytest.mark.parametrize("backend", ["memory"])
async def test_a_cancel_takes_effect_within_200_ms(chat: Chat, gate: Gate) -> None:
    took = []
    for n in range(8):  # other tests use this machine, too: the fastest is what the program itself takes
        stream = await chat.start(str(n), "gated")
        await gate.until_reached()
        began = time.monotonic()
        await chat.cancel(interaction_of(stream))
        await stream.to_end()
        took.append(time.monotonic() - began)
        if took[-1] < 0.2:
            return
    pytest.fail(f"{min(took):.2f} s")


async def test_an_interaction_that_has_ended_cannot_be_cancelled(chat: Chat) -> None:
    stream = await chat.say()
    answer = await chat.cancel(interaction_of(stream))
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert (await chat.look(interaction_of(stream)))["status"] == "COMPLETED"


async def test_a_queued_interaction_ends_without_having_begun(chat: Chat, gate: Gate) -> None:
    first = await chat.start("one", "gated")
    await gate.until_reached()
    second = await chat.start("two", "gated")
    await chat.cancel(interaction_of(second))
    await second.to_end()
    assert second.events == ["interaction_started", "cancelled", "interaction_complete"]
    assert gate.calls["gated"] == 1
    gate.open.set()
    await first.to_end()
    assert first.wire[-1][1]["status"] == "COMPLETED"
