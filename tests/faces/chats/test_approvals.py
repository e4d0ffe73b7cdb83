"""A person decides an approval once, by its id, and the interaction continues."""

import asyncio

import pytest

from runyard.domain.api_key import LOCAL
from runyard.errors import AlreadyDecided
from runyard.faces.chats.approval_manager import ApprovalManager
from tests.faces.chats.chats_client import Chat, answer_of, chat_agents, interaction_of
from tests.faces.samples.agents_for_tests import Gate
from tests.support.eventually import PATIENCE
from tests.support.in_process.live_server import Serve


@pytest.mark.req("S1.17", "S1.18", "S1.45")
async def test_a_dangerous_tool_waits_for_a_person(chat: Chat, gate: Gate) -> None:
    stream, approval_id = await chat.start_waiting()
    found = await chat.look(interaction_of(stream))
    assert (found["status"], found["final_agent_state"]) == ("WAITING_APPROVAL", None)
    asked = stream.wire[-1][1]
    assert asked == {"approval_id": approval_id, "action": "execute_code", "tool_name": "execute_code",
                     "tool_input": '{"code": "print(1)"}', "kind": "tool"}  # fmt: skip
    assert gate.calls["executed"] == 0
    await stream.close()


@pytest.mark.req("S1.20", "S1.22", "S1.39")
async def test_an_approval_is_answered_at_once_and_the_tool_is_called(chat: Chat, gate: Gate) -> None:
    stream, approval_id = await chat.start_waiting()
    answer = await chat.approve(interaction_of(stream), approval_id, True)
    assert answer.json() == {"status": "processed", "approval_id": approval_id, "approved": True}
    await stream.to_end()
    assert stream.events[3:] == ["approved", "tool_call", "tool_result", "answer", "interaction_complete"]
    assert gate.calls["executed"] == 1


@pytest.mark.req("S1.23")
async def test_a_rejection_is_told_to_the_agent_and_nothing_is_called(chat: Chat, gate: Gate) -> None:
    stream, approval_id = await chat.start_waiting()
    answer = await chat.approve(interaction_of(stream), approval_id, False, reason="no way")
    assert answer.json() == {"status": "processed", "approval_id": approval_id, "approved": False}
    await stream.to_end()
    assert answer_of(stream) == "Not done: no way"
    assert gate.calls["executed"] == 0


@pytest.mark.req("S1.21")
async def test_an_unknown_approval_is_404_and_a_processed_one_400(chat: Chat) -> None:
    stream, approval_id = await chat.start_waiting()
    interaction = interaction_of(stream)
    unknown = f"{approval_id[:-1]}{'0' if approval_id[-1] != '0' else '1'}"
    for wrong in (unknown, "approval_abc", approval_id.removeprefix("approval_")):
        assert (await chat.approve(interaction, wrong, True)).status_code == 404
    assert (await chat.approve(interaction, approval_id, True)).status_code == 200
    for approved in (True, False):
        again = await chat.approve(interaction, approval_id, approved)
        assert (again.status_code, again.json()["code"]) == (400, "already_decided")
    await stream.to_end()
    assert (await chat.approve(interaction, approval_id, True)).status_code == 400


@pytest.mark.req("S1.21")
async def test_an_approval_of_another_interaction_is_unknown(chat: Chat) -> None:
    stream, approval_id = await chat.start_waiting()
    other = Chat(chat.server, "other")
    elsewhere, _ = await other.start_waiting()
    assert (await other.approve(interaction_of(elsewhere), approval_id, True)).status_code == 404
    assert (await chat.look(interaction_of(stream)))["status"] == "WAITING_APPROVAL"
    for each in (stream, elsewhere):
        await each.close()


async def test_a_decision_on_an_interaction_that_ended_says_so(chat: Chat) -> None:
    stream, approval_id = await chat.start_waiting()
    await chat.cancel(interaction_of(stream))
    await stream.to_end()
    assert stream.events[-2:] == ["cancelled", "interaction_complete"]
    late = await chat.approve(interaction_of(stream), approval_id, True)
    assert (late.status_code, late.json()["code"]) == (409, "run_ended")


async def test_an_edited_input_is_called_and_one_that_does_not_fit_is_not_a_decision(chat: Chat) -> None:
    stream, approval_id = await chat.start_waiting()
    interaction = interaction_of(stream)
    for wrong in ({"code": 1}, {}, {"cod": "x"}):
        refused = await chat.approve(interaction, approval_id, True, tool_input=wrong)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    assert (await chat.approve(interaction, approval_id, True, tool_input={"code": "print(2)"})).status_code == 200
    await stream.to_end()
    assert answer_of(stream) == "Done: print(2)"


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_decision_is_a_boolean_and_nothing_that_looks_like_one(chat: Chat) -> None:
    stream, approval_id = await chat.start_waiting()
    path = f"{chat.path}/interactions/{interaction_of(stream)}/approve"
    for wrong in ("yes", 1, None):
        answer = await chat.server.http.post(path, json={"approval_id": approval_id, "approved": wrong})
        assert answer.status_code == 422
    await stream.close()


async def test_an_approval_without_a_decision_expires_as_a_rejection(serve: Serve, gate: Gate) -> None:
    server = await serve(chat_agents(gate), approval_seconds=0.05, reap_seconds=0.05)
    chat = Chat(server)
    stream = await chat.say("run it", "coder")
    assert stream.events[2:] == ["approval_required", "rejected", "answer", "interaction_complete"]
    rejected = stream.wire[3][1]
    assert rejected["reason"] == "expired"
    late = await chat.approve(interaction_of(stream), rejected["approval_id"], True)
    assert late.status_code == 400
    assert gate.calls["executed"] == 0


async def test_a_new_message_may_reject_what_is_waited_for(serve: Serve, gate: Gate) -> None:
    server = await serve(chat_agents(gate), chats_while_waiting="reject")
    chat = Chat(server)
    first, _ = await chat.start_waiting()
    second = await chat.say("never mind", "rememberer")
    await first.to_end()
    assert first.events[3:] == ["rejected", "answer", "interaction_complete"]
    assert answer_of(second) == "run it | Not done: A new message came before an answer."


@pytest.mark.req("S1.19")
async def test_a_new_message_waits_behind_an_approval_and_other_chats_do_not(chat: Chat) -> None:
    first, approval_id = await chat.start_waiting()
    second = await chat.start("and then?", "rememberer")
    await Chat(chat.server, "other").say()
    assert second.events == ["interaction_started"]
    await chat.approve(interaction_of(first), approval_id, True)
    await second.to_end()
    assert answer_of(second) == "run it | Done: print(1)"
    await first.to_end()


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_question_about_no_tool_is_shown_as_it_was_asked(chat: Chat) -> None:
    stream = await chat.start("hi", "asker")
    await stream.frames_to("approval_required")
    asked = stream.wire[-1][1]
    assert (asked["action"], asked["kind"]) == ("May I?", "question")
    interaction = interaction_of(stream)
    edited = await chat.approve(interaction, asked["approval_id"], True, tool_input={"amount": 4})
    assert edited.status_code == 422
    await chat.approve(interaction, asked["approval_id"], True)
    await stream.to_end()
    assert answer_of(stream) == "yes"


@pytest.mark.req("S1.24")
async def test_the_manager_blocks_until_it_is_answered(chat: Chat) -> None:
    stream, approval_id = await chat.start_waiting()
    manager = ApprovalManager(chat.server.process.engine, LOCAL)
    task = asyncio.create_task(manager.request_approval(approval_id))
    await asyncio.sleep(0.1)  # waits on purpose: it must still be blocked
    assert not task.done()
    await manager.respond(approval_id, True)
    assert await asyncio.wait_for(task, PATIENCE) is True
    with pytest.raises(AlreadyDecided):
        await manager.respond(approval_id, False)
    assert await manager.request_approval(approval_id) is True, "the first answer stays"
    await stream.to_end()


async def test_a_cancel_wakes_who_waits_for_an_answer(chat: Chat) -> None:
    stream, approval_id = await chat.start_waiting()
    manager = ApprovalManager(chat.server.process.engine, LOCAL)
    task = asyncio.create_task(manager.request_approval(approval_id))
    await chat.cancel(interaction_of(stream))
    assert await asyncio.wait_for(task, PATIENCE) is False
    await stream.to_end()
