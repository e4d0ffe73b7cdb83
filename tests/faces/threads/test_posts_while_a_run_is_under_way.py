"""`while_running`: the effect on a message and on the run that is under way."""

from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Server


async def post(server: Server, thread_id: str, text: str, while_running: str, **headers: str) -> dict[str, object]:
    body = {"content": text, "agent": "gated", "while_running": while_running}
    answer = await server.http.post(f"/api/threads/{thread_id}/messages", json=body, headers=headers)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def test_steer_gives_the_message_to_the_run_and_leaves_none(server: Server, gate: Gate) -> None:
    thread_id = await server.thread()
    run_id = await server.post("gated", "one", thread_id)
    await gate.until_reached()
    steered = await post(server, thread_id, "two", "steer", **{"Idempotency-Key": "k"})
    assert steered == {"run_id": run_id, "steered": True}
    assert await post(server, thread_id, "two", "steer", **{"Idempotency-Key": "k"}) == steered
    state = (await server.http.get(f"/api/runs/{run_id}/state")).json()
    assert [(message["text"], message["after"]) for message in state["received"]] == [("two", None)]
    gate.open.set()
    await server.ended(run_id)
    again = await post(server, thread_id, "two", "steer", **{"Idempotency-Key": "k"})
    assert again["steered"] is False
    await server.ended(str(again["run_id"]))
    seen = (await server.http.get(f"/api/threads/{thread_id}")).json()["messages"]
    assert [message["role"] for message in seen].count("assistant") == 2
    assert [message["content"] for message in seen if message["role"] == "user"] == ["one", "two"]


async def test_an_idle_thread_starts_a_run_whatever_is_asked(server: Server, gate: Gate) -> None:
    gate.open.set()
    for while_running in ("steer", "interrupt", "reject"):
        posted = await post(server, await server.thread(), "one", while_running)
        assert posted["steered"] is False
        await server.ended(str(posted["run_id"]))


async def test_queue_answers_as_before(server: Server, gate: Gate) -> None:
    gate.open.set()
    posted = await post(server, await server.thread(), "one", "queue")
    assert list(posted) == ["run_id"]
    await server.ended(str(posted["run_id"]))


async def test_reject_and_unknown_words_are_refused(server: Server, gate: Gate) -> None:
    thread_id = await server.thread()
    run_id = await server.post("gated", "one", thread_id)
    path, body = f"/api/threads/{thread_id}/messages", {"content": "two", "agent": "gated"}
    refused = await server.http.post(path, json=body | {"while_running": "reject"})
    assert (refused.status_code, refused.json()["code"]) == (409, "run_active")
    assert (await server.http.post(path, json=body | {"while_running": "shout"})).status_code == 422
    gate.open.set()
    await server.ended(run_id)


async def test_interrupt_cancels_the_run_and_starts_the_next(server: Server, gate: Gate) -> None:
    thread_id = await server.thread()
    run_id = await server.post("gated", "one", thread_id)
    await gate.until_reached()
    posted = await post(server, thread_id, "two", "interrupt")
    await server.ended(run_id)
    assert (await server.run(run_id))["status"] == "canceled"
    gate.open.set()
    await server.ended(str(posted["run_id"]))
    assert (await server.run(str(posted["run_id"])))["status"] == "done"


async def test_a_chat_that_is_steered_follows_the_interaction_under_way(server: Server, gate: Gate) -> None:
    async with server.http.stream(
        "POST", "/chats/c1/interactions", json={"user_message": "one", "agent": "gated"}
    ) as first:
        await gate.until_reached()
        async with server.http.stream(
            "POST",
            "/chats/c1/interactions",
            json={"user_message": "two", "agent": "gated", "while_running": "steer"},
        ) as second:
            gate.open.set()
            text = (await second.aread()).decode()
        await first.aread()
    assert "event: interaction_started" not in text, "it follows from its message on"
    assert text.count("event: interaction_complete") == 1
