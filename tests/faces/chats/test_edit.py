"""An edit is a branch: it starts where the edited interaction started, and supersedes the later ones."""

import pytest

from tests.faces.chats.chats_client import Chat, answer_of, interaction_of
from tests.faces.samples.agents_for_tests import Gate


async def say_all(chat: Chat, *texts: str) -> list[str]:
    return [interaction_of(await chat.say(text, "rememberer")) for text in texts]


async def branch(chat: Chat) -> list[str]:
    return [each["user_message"] for each in (await chat.whole())["interactions"]]


@pytest.mark.req("S1.30", "S1.31", "S1.32", "S1.58")
async def test_the_first_one_edited_starts_from_nothing(chat: Chat) -> None:
    first, _, _ = await say_all(chat, "a", "b", "c")
    stream = await chat.edit(first, "A")
    assert answer_of(stream) == "nothing"
    assert interaction_of(stream) != first
    assert await branch(chat) == ["A"]
    [only] = (await chat.whole())["interactions"]
    assert only["parent_id"] is None
    assert only["final_agent_state"]["messages"][0] == {"role": "user", "content": "A"}


@pytest.mark.req("S1.31", "S1.32", "S1.33")
async def test_an_edit_in_the_middle_starts_from_the_interaction_before_and_supersedes_the_rest(chat: Chat) -> None:
    first, second, third = await say_all(chat, "a", "b", "c")
    stream = await chat.edit(second, "B")
    assert answer_of(stream) == "a | nothing"
    assert await branch(chat) == ["a", "B"]
    again = interaction_of(stream)
    everything = {each["id"]: each for each in (await chat.whole(include_superseded=True))["interactions"]}
    assert list(everything) == [first, second, third, again]
    assert [everything[each]["superseded_by"] for each in everything] == [None, again, again, None]
    assert everything[again]["parent_id"] == first
    assert (await chat.look(third))["user_message"] == "c", "old branches can be read"


@pytest.mark.req("S1.33", "S1.34")
async def test_an_edit_is_edited_and_the_chat_goes_on_from_there(chat: Chat) -> None:
    _, second = await say_all(chat, "a", "b")
    once = interaction_of(await chat.edit(second, "B"))
    refused = await chat.server.http.post(f"{chat.path}/interactions/{second}/edit", json={"new_user_message": "no"})
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    await chat.edit(once, "BB")
    stream = await chat.say("c", "rememberer")
    assert answer_of(stream) == "a | nothing | BB | a | nothing"
    assert await branch(chat) == ["a", "BB", "c"]


@pytest.mark.req("S1.33")
@pytest.mark.parametrize("backend", ["memory"])
async def test_an_unknown_interaction_is_404_and_changes_nothing(chat: Chat) -> None:
    [first] = await say_all(chat, "a")
    for wrong in ("int_001", first[:-1] + ("0" if first[-1] != "0" else "1")):
        answer = await chat.server.http.post(f"{chat.path}/interactions/{wrong}/edit", json={"new_user_message": "x"})
        assert answer.status_code == 404
    assert await branch(chat) == ["a"]


@pytest.mark.req("S1.32")
async def test_nothing_is_edited_while_something_that_follows_is_under_way(chat: Chat, gate: Gate) -> None:
    [first] = await say_all(chat, "a")
    running = await chat.start("b", "gated")
    await gate.until_reached()
    queued = await chat.start("c", "rememberer")
    for interaction in (first, interaction_of(running), interaction_of(queued)):
        answer = await chat.server.http.post(
            f"{chat.path}/interactions/{interaction}/edit", json={"new_user_message": "x"}
        )
        assert (answer.status_code, answer.json()["code"]) == (409, "run_active")
    gate.open.set()
    await running.to_end()
    await queued.to_end()
    await chat.edit(first, "A")
    assert await branch(chat) == ["A"]


async def test_nothing_is_edited_while_it_waits_for_a_person(chat: Chat) -> None:
    stream, _ = await chat.start_waiting()
    interaction = interaction_of(stream)
    path = f"{chat.path}/interactions/{interaction}/edit"
    assert (await chat.server.http.post(path, json={"new_user_message": "x"})).status_code == 409
    await chat.cancel(interaction)
    await chat.edit(interaction, "better", agent="rememberer")
    assert await branch(chat) == ["better"]
    await stream.close()


@pytest.mark.req("S1.36")
async def test_an_interaction_that_failed_is_tried_again_with_the_same_words(chat: Chat) -> None:
    failed = await chat.say("please", "fickle")
    assert failed.events[-1] == "interaction_complete"
    again = await chat.open(f"/interactions/{interaction_of(failed)}/retry", {})
    await again.to_end()
    assert answer_of(again) == "This time it worked."
    [only] = (await chat.whole())["interactions"]
    assert (only["user_message"], only["status"]) == ("please", "COMPLETED")
    done = await chat.server.http.post(f"{chat.path}/interactions/{only['id']}/retry")
    assert done.status_code == 409


@pytest.mark.req("S1.56")
async def test_a_thread_is_forked_where_a_run_has_ended(chat: Chat) -> None:
    first, _ = await say_all(chat, "a", "b")
    run = (await chat.server.run(first.removeprefix("int_")))["thread_id"]
    made = await chat.server.http.post(f"/api/threads/{run}/fork", json={"run_id": first.removeprefix("int_")})
    assert made.status_code == 201
    fork = Chat(chat.server, made.json()["thread_id"])
    assert await branch(fork) == ["a"]
    assert answer_of(await fork.say("other", "rememberer")) == "a | nothing"
    assert await branch(fork) == ["a", "other"]
    assert await branch(chat) == ["a", "b"], "the thread it comes from stays as it was"
    refused = await chat.server.http.delete(chat.path)
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert (await chat.server.http.delete(fork.path)).status_code == 204
    assert (await chat.server.http.delete(chat.path)).status_code == 204


@pytest.mark.parametrize("backend", ["memory"])
async def test_a_fork_needs_a_run_of_that_thread_that_has_ended(chat: Chat, gate: Gate) -> None:
    empty = await chat.server.thread()
    assert (await chat.server.http.post(f"/api/threads/{empty}/fork")).status_code == 409
    running = await chat.start("b", "gated")
    run_id = interaction_of(running).removeprefix("int_")
    thread = (await chat.server.run(run_id))["thread_id"]
    busy = await chat.server.http.post(f"/api/threads/{thread}/fork")
    assert (busy.status_code, busy.json()["code"]) == (409, "run_active")
    foreign = await chat.server.http.post(f"/api/threads/{empty}/fork", json={"run_id": run_id})
    assert foreign.status_code == 404
    gate.open.set()
    await running.to_end()
    assert (await chat.server.http.post(f"/api/threads/{thread}/fork")).status_code == 201
