"""The responses of feedback and share routes to Bob's requests with Ann's ids."""

from collections.abc import Sequence

from tests.web.access.two_owners_table import RUN, RUNS, THREAD, Try, gone

UP = {"value": "up", "comment": "mine"}

SHARING: dict[str, Sequence[Try]] = {
    "GET /api/runs/{run_id}/feedback": RUNS,
    "PUT /api/runs/{run_id}/feedback": [gone(RUN, UP), gone({"run_id": "<letter>"}, UP)],
    "DELETE /api/runs/{run_id}/feedback": RUNS,
    "GET /api/threads/{thread_id}/shares": [gone(THREAD), gone({"thread_id": "<channel>"})],
    "POST /api/threads/{thread_id}/shares": [gone(THREAD), gone(THREAD, {"days": 1})],
    "DELETE /api/threads/{thread_id}/shares/{share_id}": [
        gone({**THREAD, "share_id": "<share>"}),
        gone({"thread_id": "<own thread>", "share_id": "<share>"}),
    ],
    "GET /api/shared": [Try(404), Try(404, headers={"X-Share-Token": "<share>"})],
}
