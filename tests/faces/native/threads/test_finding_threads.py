"""Threads have titles, messages of all threads are searched, and threads are exported."""

from typing import Any

from runyard.domain.conversations.search import excerpt, title_of, words_of
from tests.support.in_process.live_server import Server


async def _said(server: Server, text: str) -> tuple[str, str]:
    thread = await server.thread()
    answer = await server.http.post(f"/api/threads/{thread}/messages", json={"content": text, "agent": "happy"})
    run_id = str(answer.json()["run_id"])
    await server.ended(run_id)
    return thread, run_id


async def _found(server: Server, query: str, **more: Any) -> dict[str, Any]:
    answer = await server.http.get("/api/search", params={"query": query, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _marked(hit: dict[str, Any]) -> list[str]:
    return [hit["text"][start:end] for start, end in hit["marks"]]


async def test_messages_of_all_threads_are_found_page_by_page_with_the_words_marked(server: Server) -> None:
    first, run_id = await _said(server, "Book a Table in Lisbon, please")
    second, _ = await _said(server, "Is the table in lisbon booked?")
    await _said(server, "Something else")
    page = await _found(server, "lisb tab", limit=1)
    [hit] = page["messages"]
    assert (hit["thread_id"], hit["role"], _marked(hit)) == (second, "user", ["table", "lisbon"])
    assert hit["title"] == "Is the table in lisbon booked?"
    [hit] = (await _found(server, "lisb tab", limit=2, before=page["next"]))["messages"]
    assert (hit["thread_id"], hit["run_id"], _marked(hit)) == (first, run_id, ["Table", "Lisbon"])
    assert (await _found(server, "nothing-like-it"))["messages"] == []
    for wrong in ({"query": "?!"}, {"query": ""}, {"query": "x", "before": "wrong"}):
        assert (await server.http.get("/api/search", params=wrong)).status_code == 422
    assert (await server.http.delete(f"/api/threads/{second}")).status_code == 204
    assert [hit["thread_id"] for hit in (await _found(server, "lisbon"))["messages"]] == [first]


async def test_threads_are_listed_by_their_last_activity(server: Server) -> None:
    first, _ = await _said(server, "first")
    second, _ = await _said(server, "second")

    async def listed(**query: Any) -> list[str]:
        rows: list[str] = []
        while True:
            page = (await server.http.get("/api/threads", params={"limit": 1, **query})).json()
            rows += [row["thread_id"] for row in page["threads"] if row["thread_id"] in (first, second)]
            if page["next"] is None:
                return rows
            query["before"] = page["next"]

    assert await listed(sort="activity") == [second, first]
    again = await server.post("happy", "again", first)
    await server.ended(again)
    assert await listed(sort="activity") == [first, second]
    assert await listed() == [second, first]
    assert (await server.http.get("/api/threads", params={"sort": "size"})).status_code == 422


async def test_a_title_is_the_first_words_until_a_person_gives_one(server: Server) -> None:
    thread, _ = await _said(server, "Plan   my trip\n\nto the sea")
    empty = await server.thread()

    async def titles() -> dict[str, str | None]:
        rows = (await server.http.get("/api/threads")).json()["threads"]
        return {row["thread_id"]: row["title"] for row in rows if row["thread_id"] in (thread, empty)}

    assert await titles() == {thread: "Plan my trip to the sea", empty: None}
    renamed = await server.http.patch(f"/api/threads/{thread}", json={"title": "  Portugal  "})
    assert (renamed.status_code, renamed.json()["title"]) == (200, "Portugal")
    assert await titles() == {thread: "Portugal", empty: None}
    assert (await _found(server, "portu"))["threads"] == [{"thread_id": thread, "title": "Portugal", "marks": [[0, 8]]}]
    for wrong in ("", " ", "x" * 201):
        assert (await server.http.patch(f"/api/threads/{thread}", json={"title": wrong})).status_code == 422


async def test_a_thread_is_exported_as_json_and_as_markdown(server: Server) -> None:
    thread, run_id = await _said(server, "Hello there")
    exported = (await server.http.get(f"/api/threads/{thread}/export")).json()
    assert (exported["thread_id"], exported["title"]) == (thread, "Hello there")
    assert [message["role"] for message in exported["messages"]] == ["user", "assistant"]
    assert exported["messages"][0]["run_id"] == run_id
    text = await server.http.get(f"/api/threads/{thread}/export", params={"format": "markdown"})
    assert text.headers["content-type"].startswith("text/markdown")
    assert text.text.startswith("# Hello there\n\n## user, ")
    assert exported["messages"][1]["content"] in text.text


def test_words_excerpts_and_titles() -> None:
    assert words_of("Ärger, a_b & C-3! ärger") == ["ärger", "a", "b", "c", "3"]
    long = "x " * 200 + "needle " + "y " * 200
    found = excerpt(long, ["need"])
    assert len(found.text) < 300
    assert [found.text[start:end] for start, end in found.marks] == ["needle"]
    assert excerpt("", ["a"]).marks == []
    assert title_of("word " * 40) == "word " * 15 + "word\u2026"
    assert title_of("z" * 200) == "z" * 80 + "\u2026"
