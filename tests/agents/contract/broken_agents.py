"""Agents that break exactly one clause of the contract, and the check that must find it."""

import threading

from tests.agents.contract.agent_server import (
    GOOD,
    Behaviour,
    Reply,
    as_json,
    as_stream,
    envelope,
    event,
    frames,
    refusal,
)

held = threading.Event()  # never set: an agent that waits for it is silent until its client times out


def _hold() -> None:
    held.wait(5)


def _without(body: dict[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in body.items() if name not in names}


BROKEN: dict[str, tuple[str, Behaviour]] = {
    "health without a status": ("health_answers", GOOD.but(health=lambda: as_json({"up": True}))),
    "health that fails": ("health_answers", GOOD.but(health=lambda: as_json({"status": "ok"}, 500))),
    "readiness in plain text": ("readiness_answers", GOOD.but(ready=lambda: Reply(kind="text/plain", body=b"ready"))),
    "a sync answer in another status": ("sync_answers_json", GOOD.but(sync=lambda a: as_json(envelope(a), 201))),
    "a sync answer that is text": (
        "sync_answers_json",
        GOOD.but(sync=lambda a: Reply(kind="text/html", body=as_json(envelope(a)).body)),
    ),
    "a sync answer that is a list": ("sync_answers_json", GOOD.but(sync=lambda a: as_json([envelope(a)]))),
    "a sync answer that is cut off": (
        "sync_answers_json",
        GOOD.but(sync=lambda a: Reply(body=as_json(envelope(a)).body[:-1], cut=True)),
    ),
    "a sync answer to another request": (
        "sync_echoes_the_request_id",
        GOOD.but(sync=lambda a: as_json(envelope(a, request_id="other"))),
    ),
    "a sync answer without outputs": (
        "sync_has_outputs",
        GOOD.but(sync=lambda a: as_json(_without(envelope(a), "outputs"))),
    ),
    "a sync answer that says nothing of success": (
        "sync_says_success",
        GOOD.but(sync=lambda a: as_json(envelope(a, status="finished"))),
    ),
    "warnings that are one text": (
        "sync_fits_the_envelope",
        GOOD.but(sync=lambda a: as_json(envelope(a, warnings="none"))),
    ),
    "chunks without a document": (
        "sync_fits_the_envelope",
        GOOD.but(sync=lambda a: as_json(envelope(a, grounding={"chunks": [{"chunk_id": "1"}]}))),
    ),
    "a success with an error": (
        "sync_fits_the_envelope",
        GOOD.but(sync=lambda a: as_json(envelope(a, error={"code": "X", "message": "x"}))),
    ),
    "a stream that is declared as text": (
        "stream_is_an_event_stream",
        GOOD.but(stream=lambda a: Reply(kind="text/plain", body=b"".join(frames(a)))),
    ),
    "a stream that falls silent": (
        "stream_comes_in_time",
        GOOD.but(stream=lambda a: Reply(kind="text/event-stream", body=frames(a)[0], then=_hold)),
    ),
    "a stream without event lines": (
        "stream_is_framed",
        GOOD.but(stream=lambda a: as_stream(*(frame.partition(b"\n")[2] for frame in frames(a)))),
    ),
    "a stream whose last event is not ended": (
        "stream_is_framed",
        GOOD.but(stream=lambda a: as_stream(b"".join(frames(a))[:-1])),
    ),
    "an event without data": ("stream_is_framed", GOOD.but(stream=lambda a: as_stream(b"event: x\n\n", *frames(a)))),
    "a stream that is not UTF-8": ("stream_is_framed", GOOD.but(stream=lambda a: as_stream(b": \xff\n\n", *frames(a)))),
    "data that is not JSON": (
        "stream_data_is_json",
        GOOD.but(stream=lambda a: as_stream(b"event: progress\ndata: half\n\n", *frames(a))),
    ),
    "a stream without a terminal event": (
        "stream_has_one_terminal_event",
        GOOD.but(stream=lambda a: as_stream(*frames(a)[:-1])),
    ),
    "a second complete": (
        "stream_has_one_terminal_event",
        GOOD.but(stream=lambda a: as_stream(*frames(a), event("complete", {}))),
    ),
    "progress after the end": (
        "stream_ends_with_its_terminal_event",
        GOOD.but(stream=lambda a: as_stream(*frames(a), event("progress", {"percent": 100}))),
    ),
    "started without a request id": (
        "stream_starts_with_the_request_id",
        GOOD.but(stream=lambda a: as_stream(event("started", {}), *frames(a)[1:])),
    ),
    "a terminal event of another request": (
        "terminal_event_names_its_request",
        GOOD.but(stream=lambda a: as_stream(*frames(a, request_id="other"))),
    ),
    "a terminal event of no task": (
        "terminal_event_names_its_task",
        GOOD.but(stream=lambda a: as_stream(*frames(a, task_type=""))),
    ),
    "a terminal event without a status": (
        "terminal_event_has_a_status",
        GOOD.but(stream=lambda a: as_stream(*frames(a, status=None, ok=True))),
    ),
    "a terminal event that says nothing of success": (
        "terminal_event_says_success",
        GOOD.but(stream=lambda a: as_stream(*frames(a, status="finished"))),
    ),
    "a terminal event without a result": (
        "terminal_event_has_outputs",
        GOOD.but(stream=lambda a: as_stream(*frames(a, outputs=[]))),
    ),
    "an unknown task that is a crash": (
        "unknown_tasks_are_refused_in_shape",
        GOOD.but(unknown=lambda a: as_json(refusal(a), 500)),
    ),
    "an unknown task that is refused under `detail`": (
        "unknown_tasks_are_refused_in_shape",
        GOOD.but(unknown=lambda a: as_json({"detail": refusal(a)}, 400)),
    ),
    "an unknown task that only sync refuses in shape": (
        "unknown_tasks_are_refused_in_shape",
        GOOD.but(unknown_stream=lambda a: as_json({"error": "no"}, 400)),
    ),
    "a broken request that is done": ("broken_requests_are_refused_in_shape", GOOD.but(broken=GOOD.sync)),
    "a broken request that is refused in another shape": (
        "broken_requests_are_refused_in_shape",
        GOOD.but(broken=lambda a: as_json({"detail": [{"loc": ["body", "request_id"]}]}, 422)),
    ),
    "a refusal that repeats the inputs": (
        "refusals_repeat_nothing",
        GOOD.but(broken=lambda a: as_json(refusal(a, error={"code": "X", "message": str(a["inputs"])}), 422)),
    ),
}
