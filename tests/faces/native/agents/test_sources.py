"""The sources of an answer can be read."""

from runyard.store import Document
from tests.support.in_process.live_server import Server

RUST = Document("cv_001", "Ada Marsh", "Knows Rust.")
OTHER = Document("cv_002", "Ben Okafor", "Grows roses.")


async def test_the_sources_of_an_answer_are_documents_and_no_others_are_shown(server: Server) -> None:
    await server.store.put_documents("cvs", [RUST, OTHER])
    run_id = await server.post("happy")
    await server.ended(run_id)
    answer = await server.http.get(f"/api/runs/{run_id}/sources")
    row = {"collection": "cvs", "id": "cv_001", "title": "Ada Marsh", "text": "Knows Rust."}
    assert (answer.status_code, answer.json()) == (200, {"sources": [row]})


async def test_a_run_that_has_said_nothing_yet_has_no_sources(server: Server) -> None:
    await server.store.put_documents("cvs", [RUST])
    run_id = await server.post("asks")
    await server.waiting(run_id)
    assert (await server.http.get(f"/api/runs/{run_id}/sources")).json() == {"sources": []}
