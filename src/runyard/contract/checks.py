"""The clauses of the contract: one function per clause, and its docstring is the clause.

A check looks at the evidence (`probe.py`) and returns if the clause holds. It raises Broken with the reason, which
repeats nothing of an answer except its keys. It raises Unreached if an earlier clause is broken and there is nothing to
look at, so that one mistake is reported once. Standard library only, so that the checker runs anywhere.
"""

from collections.abc import Sequence
from typing import Any

from runyard.contract import transcript
from runyard.contract.findings import Broken, Check, Finding, Unreached, finding, require
from runyard.contract.probe import MARKER, Answer, Evidence
from runyard.errors import Invalid

TERMINAL_NAMES = frozenset({"complete", "done", "final"})
SUCCESS = frozenset({"ok", "success"})
ENDPOINTS = ("sync", "stream")


# --- health ------------------------------------------------------------------------------------------------------


def health_answers(evidence: Evidence) -> None:
    """`GET /health` answers 200 with a JSON object whose `status` is a string."""
    _check_health(evidence["health"])


def readiness_answers(evidence: Evidence) -> None:
    """`GET /health/ready` answers 200 with a JSON object whose `status` is a string."""
    _check_health(evidence["health/ready"])


# --- sync --------------------------------------------------------------------------------------------------------


def sync_answers_json(evidence: Evidence) -> None:
    """`POST /agents/run/sync` answers 200 with a JSON object, declared as `application/json`."""
    answer = evidence["sync"]
    _check_arrived(answer)
    if answer.status != 200:
        raise Broken(f"it answered {answer.status}")
    if answer.kind != "application/json":
        raise Broken("the answer is not declared as application/json")
    if not isinstance(answer.json, dict):
        raise Broken("the answer is not a JSON object")


def sync_echoes_the_request_id(evidence: Evidence) -> None:
    """The sync answer has the `request_id` of the request."""
    if _sync(evidence).get("request_id") != evidence.request_id:
        raise Broken("request_id is missing or another one")


def sync_has_outputs(evidence: Evidence) -> None:
    """The sync answer has an object `outputs`, even if it is empty."""
    if not isinstance(_sync(evidence).get("outputs"), dict):
        raise Broken("outputs is missing or is not an object")


def sync_says_success(evidence: Evidence) -> None:
    """The sync answer reports success: `status` is `ok` or `success`, or `ok` is true."""
    answer = _sync(evidence)
    if answer.get("status") not in SUCCESS and answer.get("ok") is not True:
        raise Broken("neither status nor ok reports success")


def sync_fits_the_envelope(evidence: Evidence) -> None:
    """The sync answer is an AgentRunResponse: `artifacts` and `warnings` are lists of strings, `provenance` and `usage`
    objects, `grounding` a GroundingPack, and there is no `error`."""
    answer = _sync(evidence)
    for name in ("artifacts", "warnings"):
        if name in answer and not _is_text_list(answer[name]):
            raise Broken(f"{name} is not a list of strings")
    for name in ("provenance", "usage"):
        if name in answer and not isinstance(answer[name], dict):
            raise Broken(f"{name} is not an object")
    if answer.get("grounding") is not None and not _is_grounding(answer["grounding"]):
        raise Broken("grounding is not a GroundingPack")
    if answer.get("error") is not None and _is_success(answer):
        raise Broken("a successful answer has an error")


# --- stream ------------------------------------------------------------------------------------------------------


def stream_is_an_event_stream(evidence: Evidence) -> None:
    """`POST /agents/run/stream` answers 200 with `text/event-stream`."""
    answer = evidence["stream"]
    if not answer.status:
        _check_arrived(answer)
    if answer.status != 200:
        raise Broken(f"it answered {answer.status}")
    if answer.kind != "text/event-stream":
        raise Broken("the answer is not declared as text/event-stream")


def stream_comes_in_time(evidence: Evidence) -> None:
    """A stream is never silent for long, and ends."""
    _require_stream(evidence)
    if evidence["stream"].late:
        raise Broken("it took too long")


def stream_is_framed(evidence: Evidence) -> None:
    """Every event of a stream has an `event:` line and at least one `data:` line, and ends with an empty line."""
    _require_stream(evidence)
    answer = evidence["stream"]
    if answer.late:
        raise Unreached
    if answer.trouble:
        raise Broken(f"the stream was cut off ({answer.trouble})")
    found = transcript.read(answer.body)
    if found.problems:
        raise Broken(found.problems[0])
    if not found.events:
        raise Broken("there are no events")


def stream_data_is_json(evidence: Evidence) -> None:
    """The data lines of every event, joined by newlines, are one JSON object in UTF-8."""
    for place, event in enumerate(_framed(evidence), 1):
        try:
            value = event.json
        except Invalid:
            raise Broken(f"the data of event {place} is not JSON") from None
        if not isinstance(value, dict):
            raise Broken(f"the data of event {place} is not an object")


def stream_has_one_terminal_event(evidence: Evidence) -> None:
    """A stream has exactly one terminal event: `complete`, `done` or `final`."""
    count = sum(event.name in TERMINAL_NAMES for event in _events(evidence))
    if count != 1:
        raise Broken(f"it has {count}")


def stream_ends_with_its_terminal_event(evidence: Evidence) -> None:
    """The terminal event is the last event."""
    events = _events(evidence)
    if sum(event.name in TERMINAL_NAMES for event in events) != 1:
        raise Unreached
    if events[-1].name not in TERMINAL_NAMES:
        raise Broken("another event follows the terminal event")


def stream_starts_with_the_request_id(evidence: Evidence) -> None:
    """The event `started` has the `request_id` of the request."""
    for event in _events(evidence):
        if event.name == "started" and event.json.get("request_id") != evidence.request_id:
            raise Broken("request_id is missing or another one")


def terminal_event_names_its_request(evidence: Evidence) -> None:
    """The terminal event has the `request_id` of the request."""
    if _terminal(evidence).get("request_id") != evidence.request_id:
        raise Broken("request_id is missing or another one")


def terminal_event_names_its_task(evidence: Evidence) -> None:
    """The terminal event has the `task_type` of the request."""
    if _terminal(evidence).get("task_type") != evidence.task_type:
        raise Broken("task_type is missing or another one")


def terminal_event_has_a_status(evidence: Evidence) -> None:
    """The terminal event has a `status` that is a string."""
    if not isinstance(_terminal(evidence).get("status"), str):
        raise Broken("status is missing or is not a string")


def terminal_event_says_success(evidence: Evidence) -> None:
    """The terminal event reports success: `ok` or `success` is true, or `status` is `ok` or `success`."""
    answer = _terminal(evidence)
    if isinstance(answer.get("status"), str) and not _is_success(answer):
        raise Broken("no field reports success")


def terminal_event_has_outputs(evidence: Evidence) -> None:
    """The terminal event has an object `outputs` or `data` with the result."""
    answer = _terminal(evidence)
    if not isinstance(answer.get("outputs"), dict) and not isinstance(answer.get("data"), dict):
        raise Broken("outputs and data are missing")


# --- refusals ----------------------------------------------------------------------------------------------------


def unknown_tasks_are_refused_in_shape(evidence: Evidence) -> None:
    """A task type that the agent does not know is refused with a 4xx on both endpoints. The body has `request_id`,
    `ok: false` (or `status: "error"`), `outputs` and `warnings`. An agent may also do the task."""
    for endpoint in ENDPOINTS:
        answer = evidence[f"unknown {endpoint}"]
        if answer.status != 200:
            _check_refusal(endpoint, answer)
            body = _body(answer)
            if body.get("request_id") != evidence.request_id or not _is_text_list(body.get("warnings")):
                raise Broken(f"{endpoint}: request_id or warnings are missing")


def broken_requests_are_refused_in_shape(evidence: Evidence) -> None:
    """A request without a `request_id` is refused with a 4xx. The body has `ok: false` or `status: "error"`, and
    `outputs`."""
    for endpoint in ENDPOINTS:
        _check_refusal(endpoint, evidence[f"broken {endpoint}"])


def refusals_repeat_nothing(evidence: Evidence) -> None:
    """A refusal does not repeat the inputs."""
    for name in ("unknown sync", "unknown stream", "broken sync", "broken stream"):
        answer = evidence[name]
        if answer.status >= 400 and MARKER.encode() in answer.body:
            raise Broken(f"{name.split()[1]}: the refusal repeats an input")


CHECKS: Sequence[Check] = (
    health_answers,
    readiness_answers,
    sync_answers_json,
    sync_echoes_the_request_id,
    sync_has_outputs,
    sync_says_success,
    sync_fits_the_envelope,
    stream_is_an_event_stream,
    stream_comes_in_time,
    stream_is_framed,
    stream_data_is_json,
    stream_has_one_terminal_event,
    stream_ends_with_its_terminal_event,
    stream_starts_with_the_request_id,
    terminal_event_names_its_request,
    terminal_event_names_its_task,
    terminal_event_has_a_status,
    terminal_event_says_success,
    terminal_event_has_outputs,
    unknown_tasks_are_refused_in_shape,
    broken_requests_are_refused_in_shape,
    refusals_repeat_nothing,
)


def run(evidence: Evidence) -> list[Finding]:
    return [finding(check, evidence) for check in CHECKS]


# --- what the checks share ---------------------------------------------------------------------------------------


def _check_arrived(answer: Answer) -> None:
    if answer.late:
        raise Broken("it took too long")
    if answer.trouble:
        raise Broken(f"the answer is incomplete ({answer.trouble})")


def _check_health(answer: Answer) -> None:
    _check_arrived(answer)
    if answer.status != 200:
        raise Broken(f"it answered {answer.status}")
    if not isinstance(_body(answer).get("status"), str):
        raise Broken("the answer is not a JSON object with a string `status`")


def _body(answer: Answer) -> dict[str, Any]:
    found = answer.json
    return found if isinstance(found, dict) else {}


def _sync(evidence: Evidence) -> dict[str, Any]:
    require(sync_answers_json, evidence)
    return _body(evidence["sync"])


def _require_stream(evidence: Evidence) -> None:
    require(stream_is_an_event_stream, evidence)


def _framed(evidence: Evidence) -> list[transcript.Event]:
    require(stream_is_framed, evidence)
    return transcript.read(evidence["stream"].body).events


def _events(evidence: Evidence) -> list[transcript.Event]:
    require(stream_data_is_json, evidence)
    return _framed(evidence)


def _terminal(evidence: Evidence) -> dict[str, Any]:
    require(stream_ends_with_its_terminal_event, evidence)
    return dict(_events(evidence)[-1].json)


def _check_refusal(endpoint: str, answer: Answer) -> None:
    try:
        _check_arrived(answer)
    except Broken as broken:
        raise Broken(f"{endpoint}: {broken}") from None
    if not 400 <= answer.status < 500:
        raise Broken(f"{endpoint}: it answered {answer.status}")
    body = _body(answer)
    refused = body.get("ok") is False or body.get("status") == "error"
    if not refused or not isinstance(body.get("outputs"), dict):
        raise Broken(f"{endpoint}: the body does not have the fields of a refusal")


def _is_success(answer: dict[str, Any]) -> bool:
    return answer.get("ok") is True or answer.get("success") is True or answer.get("status") in SUCCESS


def _is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_grounding(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    chunks = value.get("chunks", [])
    whole = isinstance(chunks, list) and all(
        isinstance(chunk, dict) and isinstance(chunk.get("chunk_id"), str) and isinstance(chunk.get("doc_id"), str)
        for chunk in chunks
    )
    return whole and _is_text_list(value.get("citations", []))
