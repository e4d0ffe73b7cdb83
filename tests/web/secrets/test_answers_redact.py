"""With redaction on, an answer over any face to a question, to a tool of the client or to an approval stores no
sensitive text."""

from uuid import uuid4

import pytest

from runyard.settings import Settings
from tests.faces.samples.agents_for_tests import Gate, agents
from tests.faces.samples.requests_of_faces import REQUESTS
from tests.support.in_process.live_server import QUICK, Server, served
from tests.support.in_process.raw_stream import RawStream
from tests.web.secrets.answers_of_faces import ANSWERS, Open
from tests.web.secrets.stored_text import columns_with
from tests.web.secrets.ways_in import ANSWERED, MAIL

HEADERS = {"Accept": "application/json, text/event-stream", "A2A-Version": "1.0"}
STATELESS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tasks/update"}
EVENTS = ("wait.answered", "approval.decided")
FACES = pytest.mark.parametrize("face", ANSWERS)


async def waiting_run(server: Server, face: str, agent: str) -> tuple[str, str]:
    """Start a run over a face. Return the client's id of its thread, and the id of the run."""
    thread = str(uuid4())
    path, body = REQUESTS[ANSWERS[face][0]](agent, thread)
    stream = await RawStream.open(server.port, path, HEADERS, body=body)
    assert stream.status == 200
    run_id = str((await server.http.get("/api/runs")).json()["runs"][0]["run_id"])
    await server.waiting(run_id)
    await stream.close()
    return thread, run_id


async def answer(server: Server, face: str, wait: Open) -> None:
    _, make, kinds = ANSWERS[face]
    path, body = make(wait)
    if wait.kind not in kinds:  # the face has no answer of this kind
        path, body = f"/api/waits/{wait.wait_id}", {"value": {"row": 1}}
    headers = {**HEADERS, **(STATELESS | {"Mcp-Name": wait.run_id} if "params" in body and path == "/mcp" else {})}
    sent = await server.http.post(path, json=body, headers=headers)
    assert sent.is_success, (face, wait.kind, sent.text)


async def answers_in_the_log(server: Server, face: str) -> list[tuple[str, str]]:
    """Answer everything that the two agents wait for. Return the kinds of the waits, and the answers in the logs."""
    found: list[tuple[str, str]] = []
    for agent, kinds in (("books", ("question", "client_tool")), ("mails", ("tool",))):
        if not set(kinds) & set(ANSWERS[face][2]):
            continue
        thread, run_id = await waiting_run(server, face, agent)
        for times, kind in enumerate(kinds, 1):
            wait_id = await server.waiting(run_id, times)
            await answer(server, face, Open(agent, thread, run_id, wait_id, kind))
        await server.ended(run_id)
        events = [event for event in await server.log(run_id) if event["type"] in EVENTS]
        found += zip(kinds, [str(event["data"]) for event in events], strict=True)
    return [each for each in found if each[0] in ANSWERS[face][2]]


def test_every_field_of_the_table_that_takes_an_answer_is_sent() -> None:
    sent = {
        name
        for _, make, kinds in ANSWERS.values()
        for kind in kinds
        for name in make(Open("books", "thread", "run", "wait", kind))[1]
    }
    assert {field for fields in ANSWERED.values() for field in fields} <= sent


@pytest.mark.req("S1.48")
@FACES
async def test_an_answer_over_a_face_stores_no_sensitive_text(face: str, database_url: str) -> None:
    settings = Settings(database_url=database_url, redact="email", **QUICK)
    async with served(settings, agents(Gate())) as server:
        found = await answers_in_the_log(server, face)
    assert [kind for kind, _ in found] == list(ANSWERS[face][2])
    for kind, given in found:
        assert "[email]" in given, kind
        assert MAIL not in given, kind
    assert await columns_with(MAIL, database_url) == set()


@pytest.mark.req("S1.48")
@FACES
async def test_without_redaction_the_same_answer_is_stored_as_it_is(face: str, database_url: str) -> None:
    async with served(Settings(database_url=database_url, **QUICK), agents(Gate())) as server:
        found = await answers_in_the_log(server, face)
    assert [kind for kind, given in found if MAIL in given] == list(ANSWERS[face][2])
    assert "run_events.data" in await columns_with(MAIL, database_url)
