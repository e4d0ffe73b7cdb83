"""With one guarantee removed, the same scenarios must fail the checker. A checker that cannot fail proves nothing."""

from __future__ import annotations

import pytest

from tests.flow.kills.test_a_zombie_cannot_write import frozen_until_succeeded
from tests.support.checker.invariants import InvariantBroken, breaches
from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow


@pytest.mark.invariant(2)
async def test_without_the_fence_a_zombie_is_caught(flow: Flow) -> None:
    _, _, zombie, successor = await frozen_until_succeeded(flow, unsafe="fence lease")
    before = sum(words[2] == str(zombie.pid) for words in flow.notes.read("acknowledged"))
    await eventually(
        "the zombie writes",
        lambda: sum(words[2] == str(zombie.pid) for words in flow.notes.read("acknowledged")) > before + 3,
    )
    await zombie.kill()
    flow.notes.open_gate("end", successor.pid)
    with pytest.raises(InvariantBroken, match=r"I2 .* the fences along the log are"):
        await flow.check()


@pytest.mark.invariant(5)
@pytest.mark.parametrize("unsafe", ["", "batch"])
async def test_without_the_batch_number_a_repeat_after_a_lost_answer_is_caught(flow: Flow, unsafe: str) -> None:
    await flow.start("api")
    await flow.start("worker", fault="after.model.token:3:lose", unsafe=unsafe)
    run_id = await flow.post(["tokens", 10, 4], ["wait", "end"])
    await flow.struck("after.model.token")
    flow.notes.open_gate("end")  # not before: the part that is repeated must not be the one that ends the run
    await flow.reached(run_id, "done")
    if not unsafe:
        await flow.check()
        return
    with pytest.raises(InvariantBroken, match=r"I1 .* stands 2 times in the log"):
        await flow.check()


async def test_a_fault_that_did_not_happen_makes_the_scenario_void(flow: Flow) -> None:
    await flow.start("api")
    await flow.start("worker", fault="after.model.token:1000")
    await flow.post(["tokens", 3])
    with pytest.raises(InvariantBroken, match="I12 VOID"):
        await flow.check()


async def test_an_accepted_run_that_no_worker_executes_is_caught(flow: Flow) -> None:
    await flow.start("api")
    await flow.post(["tokens", 3])
    with pytest.raises(InvariantBroken, match=r"I5 .*queued"):
        await flow.check(seconds=0.5)


DAMAGE = {
    "I1": "update run_events set seq = seq + 100 where seq = 3",
    "I1 ": "update runs set last_seq = last_seq + 1",
    "I3": "update runs set status = 'error'",
    "I4": "update runs set started_at = 1 where pos = 2",
    "I6": "update run_events set type = 'tool.finished', data = convert_to('{\"call_id\": \"x\"}', 'UTF8')"
    " where seq in (2, 3)",
    "I7": "delete from run_events where seq = 2",
    "I8": "update run_events set id = gen_random_uuid() where seq = 2",
    "I9": "update lanes set runnable = 1",
    "I9 ": "update lanes set active_run = gen_random_uuid()",
    "I13": "update run_outbox set next_seq = 100",
    "I13 ": "update runs set state = 'cancelled'",
    "I13  ": "delete from run_outbox",
}


LOST = {
    "forgotten": "update steered_messages set state = 'new'",
    "without a row": "delete from steered_messages",
    "taken twice": "update run_events set type = 'message.taken' where type = 'message.received'",
    "counted wrongly": "update runs set unread = 1",
    "without its run": "update steered_messages set state = 'left'",
}


FAMILY = {
    "I16 an open wait": "update waits set state = 'pending', answered_at = null where kind = 'question'",
    "I16 no request": "delete from waits where kind = 'question'",
    "I16 two answers": "update run_events set type = 'wait.answered' where type = 'wait.requested'",
    "I17 no wait": "update waits set target = null where kind = 'child'",
    "I17 waits on": "update waits set state = 'pending', answered_at = null where kind = 'child'",
    "I17 left alone": "update runs set status = 'waiting' where parent_run_id is not null",
}


@pytest.mark.parametrize("how", FAMILY)
async def test_a_wrong_wait_or_child_is_caught(flow: Flow, how: str) -> None:
    await flow.start("serve")
    run_id = await flow.post(["ask", "Which row?"], ["children", [["tokens", 1]]])
    async with flow.answering({"question": 7}):
        await flow.reached(run_id, "done")
    await flow.settled()
    for pod in flow.pods:
        await pod.kill()
    await flow.database.rows(FAMILY[how])
    with pytest.raises(InvariantBroken, match=rf"(^|\n){how[:3]} "):
        await flow.check(seconds=5)


@pytest.mark.parametrize("how", LOST)
async def test_a_lost_message_is_caught(flow: Flow, how: str) -> None:
    await flow.start("serve")
    thread = await flow.thread()
    run_id = await flow.post(["wait", "gate"], ["messages"], thread=thread)
    await flow.at_gate("gate")
    assert (await flow.steer(thread, "also")) == (run_id, True)
    flow.notes.open_gate("gate")
    await flow.reached(run_id, "done")
    await flow.database.rows(LOST[how])
    with pytest.raises(InvariantBroken, match=r"(^|\n)I18 "):
        await flow.check(seconds=5)


@pytest.mark.parametrize("number", DAMAGE)
async def test_damage_to_the_database_is_caught(flow: Flow, number: str) -> None:
    await flow.start("serve")
    thread = await flow.thread()
    for _ in range(2):
        reader = flow.follow(await flow.post(["tokens", 3], thread=thread))
        await reader.end()
    await flow.database.rows(DAMAGE[number])
    with pytest.raises(InvariantBroken, match=rf"(^|\n){number.strip()} "):
        await flow.check(seconds=5)


FILES = {  # how a file is damaged, and how that is undone
    "update file_contents set size = size + 1": "update file_contents set size = size - 1",
    "update file_contents set state = 'uploading'": "update file_contents set state = 'ready'",
    "update files set is_used = false": "update files set is_used = true",
    "update file_uses set message_id = null": "update file_uses set message_id = (select id from messages limit 1)",
    "delete from file_chunks": "",
    "delete from files": "",
}


async def test_a_file_that_is_missing_or_not_whole_is_caught(flow: Flow) -> None:
    await flow.start("serve")
    made = await flow.request("POST", "/api/files?name=a.txt", content=b"hello", headers={"Content-Type": "text/plain"})
    parts = [{"type": "text", "text": "[]"}, {"type": "file", "file_id": made.json()["file_id"]}]
    thread = await flow.thread()
    posted = await flow.request("POST", f"/api/threads/{thread}/messages", json={"parts": parts, "agent": "player"})
    await flow.reached(posted.json()["run_id"], "done")
    await flow.settled()
    assert await breaches(flow.database, flow.evidence) == []
    for damage, undo in FILES.items():
        await flow.database.rows(damage)
        found = await breaches(flow.database, flow.evidence)
        assert found, damage
        assert {breach[:4] for breach in found} == {"I19 "}, damage
        if undo:
            await flow.database.rows(undo)
    with pytest.raises(InvariantBroken, match=r"(^|\n)I19 "):
        await flow.check(seconds=5)
