"""kill -9 of a worker at any point: another one (on SQLite: the restarted one) continues, nothing
is lost, nothing is repeated."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import httpx2
import pytest

from tests.support.scenario.flow import Flow

WORDS = "".join(f"t{n} " for n in range(20))


@pytest.mark.invariant(1)
@pytest.mark.req("S0.33", "S0.36", "S0.38")
@pytest.mark.parametrize("k", [1, 7, 20])
async def test_in_the_middle_of_a_stream(any_flow: Flow, k: int) -> None:
    flow = any_flow
    await flow.first(fault=f"after.model.token:{k}")
    run_id = await flow.post(["step", "look_up"], ["tokens", 20, 4], ["wait", "end"])
    reader = flow.follow(run_id)
    await flow.struck("after.model.token")
    flow.notes.open_gate("end")
    await flow.next()
    await reader.end()
    assert (await flow.run(run_id))["status"] == "done"
    assert reader.text == WORDS
    resumed = reader.types.index("run.resumed")
    assert reader.types[resumed + 1] == "model.reset", "clients are told to drop the open text before it comes again"
    assert flow.effects("step") == [f"{run_id}:look_up"], "a finished step is not repeated"


@pytest.mark.req("S0.18", "S0.42")
@pytest.mark.parametrize("k", [1, 7])
async def test_a_client_of_the_threads_face_is_told_which_text_to_drop(any_flow: Flow, k: int) -> None:
    flow = any_flow
    await flow.first(fault=f"after.model.token:{k + 2}")
    run_id = await flow.post(["tokens", 2, 1], ["step", "look_up"], ["tokens", 20, 4], ["wait", "end"])
    readers = [flow.follow(run_id, face="threads"), flow.follow(run_id, face="threads", drop_after=2)]
    await flow.struck("after.model.token")
    flow.notes.open_gate("end")
    await flow.next()
    for reader in readers:
        await reader.end()
        tokens: dict[int, str] = {}
        for (seq, kind, _), data in zip(reader.seen.events, reader.data, strict=True):
            if kind == "token":
                tokens = {seq: text for seq, text in tokens.items() if not data.get("reset") or seq <= data["after"]}
                tokens[seq] = data["text"]
        assert sum(1 for data in reader.data if data.get("reset")) == 1
        assert "".join(tokens.values()) == reader.data[-2]["text"] == "t0 t1 " + WORDS


@pytest.mark.parametrize("k", [2, 9, 16])
async def test_by_an_unexpected_signal(any_flow: Flow, k: int) -> None:
    flow = any_flow
    worker = await flow.first()
    run_id = await flow.post(["tokens", 20, 8])
    reader = flow.follow(run_id)
    await reader.tokens(k)
    await worker.kill()
    await flow.next()
    await reader.end()
    assert reader.text == WORDS
    assert reader.data[-2]["text"] == WORDS, "the output is whole"


@pytest.mark.invariant(1)
async def test_again_and_again(any_flow: Flow) -> None:
    """A run that makes progress is never given up, however often its worker dies."""
    flow = any_flow
    await flow.first(fault="after.step.finished:1")
    run_id = await flow.post(*[["step", f"s{n}"] for n in range(6)])
    for _ in range(4):
        await flow.struck("after.step.finished")
        await flow.pods[-1].end()
        await flow.next(fault="after.step.finished:1")
    await flow.pods[-1].end()
    await flow.next()
    await flow.reached(run_id, "done")
    assert flow.effects("step") == [f"{run_id}:s{n}" for n in range(6)]


@pytest.mark.invariant(6)
@pytest.mark.parametrize("tool", ["look", "save", "pay"])
async def test_between_the_commit_of_tool_started_and_the_call(any_flow: Flow, tool: str) -> None:
    flow = any_flow
    worker = await flow.first(fault="after.tool.started:1")
    run_id = await flow.post(["call", tool], ["tokens", 3])
    await worker.end()
    assert flow.effects(tool) == []
    await flow.next()
    if tool == "pay":  # whether it was called is unknown, so a person decides
        approval = await flow.approval(run_id, "unknown_outcome")
        assert flow.effects(tool) == []
        assert (await flow.decide(approval, "approve")).status_code == 200
    await flow.reached(run_id, "done")
    assert flow.effects(tool) == [f"{run_id}:{tool}#1"]


@pytest.mark.invariant(6)
async def test_after_the_effect_an_idempotent_tool_sees_the_same_key(any_flow: Flow) -> None:
    flow = any_flow
    worker = await flow.first(fault="before.tool.finished:1")
    run_id = await flow.post(["call", "save"], ["tokens", 3])
    reader = flow.follow(run_id)
    await worker.end()
    assert flow.effects("save") == [f"{run_id}:save#1"]
    await flow.next()
    await reader.end()
    assert set(flow.effects("save")) == {f"{run_id}:save#1"}, "one key, however often: one effect"
    assert reader.count("tool.started") == reader.count("tool.finished") == 1


@pytest.mark.invariant(6)
@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_after_the_effect_a_once_tool_is_never_repeated_silently(any_flow: Flow, decision: str) -> None:
    flow = any_flow
    worker = await flow.first(fault="before.tool.finished:1")
    run_id = await flow.post(["call", "pay"], ["tokens", 3])
    reader = flow.follow(run_id)
    await worker.end()
    await flow.next()
    approval = await flow.approval(run_id, "unknown_outcome")
    assert flow.effects("pay") == [f"{run_id}:pay#1"], "it happened once and was not repeated"
    if decision == "approve":
        flow.evidence.allowed_effects[f"{run_id}:pay#1"] = 2
    assert (await flow.decide(approval, decision)).json()["state"] == (
        "approved" if decision == "approve" else "rejected"
    )
    await reader.end()
    assert (await flow.run(run_id))["status"] == "done"
    if decision == "approve":
        assert flow.effects("pay") == [f"{run_id}:pay#1"] * 2, "a person said so"
        assert reader.text == "t0 t1 t2 "
    else:
        assert flow.effects("pay") == [f"{run_id}:pay#1"]
        assert reader.text == "[UnknownOutcome]t0 t1 t2 "


async def test_between_the_claim_and_the_first_append(any_flow: Flow) -> None:
    flow = any_flow
    worker = await flow.first(fault="after.claim:1")
    thread = await flow.thread()
    posting = asyncio.create_task(flow.post(["tokens", 5], thread=thread))
    await worker.end()
    [row] = await flow.database.rows("select * from runs")
    assert (row["status"], row["attempts"], row["last_seq"]) == ("running", 1, 1)
    await flow.next()
    run_id = await posting
    after = await flow.post(["tokens", 5], thread=thread)
    await flow.reached(after, "done")
    assert [event["type"] for event in await flow.log(run_id)][:2] == ["run.queued", "run.resumed"]


@pytest.mark.invariant(3)
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("status", ["done", "canceled"])
async def test_around_the_commit_that_ends_the_run(any_flow: Flow, moment: str, status: str) -> None:
    flow = any_flow
    worker = await flow.first(fault=f"{moment}.{status}:1")
    thread = await flow.thread()
    run_id = await flow.post(["tokens", 3], ["wait", "end"], thread=thread)
    after = await flow.post(["tokens", 3], thread=thread)
    reader = flow.follow(run_id)
    await flow.at_gate("end")
    if status == "canceled":
        with suppress(httpx2.TransportError):  # on SQLite the server that is asked dies before it answers
            await flow.cancel(run_id)
    else:
        flow.notes.open_gate("end")
    await worker.end()
    ended = (await flow.run(run_id))["status"]
    if moment == "after":
        assert ended == status
    else:  # the pod that answers HTTP may have reaped the canceled run already
        assert ended == "running" or (ended == status == "canceled")
    await flow.next()
    await reader.end()
    assert (await flow.run(run_id))["status"] == status
    assert reader.count("run.finished") == 1
    await flow.reached(after, "done")


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_around_the_commit_that_parks_the_run(any_flow: Flow, moment: str) -> None:
    flow = any_flow
    worker = await flow.first(fault=f"{moment}.park:1")
    run_id = await flow.post(["call", "look"], ["approve", "May I?"], ["tokens", 2])
    await worker.end()
    await flow.next()
    approval = await flow.approval(run_id, "confirmation")
    assert (await flow.decide(approval, "approve")).status_code == 200
    await flow.reached(run_id, "done")
    types = [event["type"] for event in await flow.log(run_id)]
    assert types.count("approval.requested") == 1, "a question that was asked is not asked again"
    assert types.count("approval.decided") == 1
