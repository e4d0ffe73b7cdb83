"""The objects of A2A that this face makes: tasks, messages, parts, artifacts and updates. Pure.

The names are those of the protocol. `completed` adds what depends on the request: ids and addresses.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from runyard.domain.content.parts import DataPart, File, Part, TextPart
from runyard.domain.conversations.thread import Message
from runyard.domain.events import ApprovalDecided, RunError, Usage, WaitAnswered
from runyard.domain.times import iso
from runyard.domain.wait import ClientWait
from runyard.faces.a2a.state import State

Shown = dict[str, Any]
ANSWER, OUTPUTS = "answer", "outputs"  # ids of artifacts
USER, AGENT = "ROLE_USER", "ROLE_AGENT"
JSON = "application/json"
FILES = "/api/files/"


class Place(NamedTuple):
    """The parts of a task that its log does not have: its context, the message that started it, and the server's
    address."""

    context_id: str
    base: str
    first: Message | None = None


# --- parts and messages


def data_part(value: Any) -> Shown:
    return {"data": value, "mediaType": JSON}


def file_part(file: File) -> Shown:
    return {"url": FILES + file.id, "filename": file.name, "mediaType": file.type}


def part(given: Part) -> Shown:
    match given:
        case TextPart(text):
            return {"text": text}
        case DataPart(data):
            return data_part(data)
        case _:
            return file_part(given)


def content(text: str, parts: Sequence[Part]) -> list[Shown]:
    """Return the content of a message: its parts, or its text."""
    return [part(each) for each in parts] if parts else [{"text": text}]


def message(message_id: str, role: str, parts: Sequence[Shown]) -> Shown:
    return {"messageId": message_id, "role": role, "parts": list(parts)}


def value_part(value: Any) -> Shown:
    return {"text": value} if isinstance(value, str) else data_part(value)


# --- statuses


def status(name: str, ts: int, said: Shown | None = None) -> Shown:
    found: Shown = {"state": name, "timestamp": iso(ts)}
    return found if said is None else {**found, "message": said}


def status_update(found: Shown, metadata: Mapping[str, Any] | None = None) -> Shown:
    update: Shown = {"status": found}
    return {"statusUpdate": {**update, "metadata": dict(metadata)} if metadata else update}


def failure(run_id: str, error: RunError | None) -> Shown:
    """Return what the status of a failed task says."""
    failed = error or RunError("error", "The run failed.")
    return {**message(f"{run_id}.error", AGENT, [{"text": failed.message}]), "metadata": {"code": failed.code}}


def ending(stop_reason: str, usage: Usage | None) -> Shown:
    """Return the metadata of a task that has ended."""
    found: Shown = {"stopReason": stop_reason}
    if usage is not None:
        found["usage"] = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}
    return found


# --- waits


def question(run_id: str, number: int, waits: Mapping[str, ClientWait]) -> Shown:
    """Return the message of a task that requires input: for each wait a text, and data with its id and its schema."""
    parts: list[Shown] = []
    for wait_id, wait in waits.items():
        parts += [{"text": question_text(wait)}, data_part(about(wait_id, wait))]
    return message(f"{run_id}.{number}", AGENT, parts)


def question_text(wait: ClientWait) -> str:
    if wait.prompt is not None:
        return wait.prompt
    return wait.approval_question if wait.is_approval else f"Call {wait.name}, and send its result."


def about(wait_id: str, wait: ClientWait) -> Shown:
    found = {"waitId": wait_id, "kind": wait.kind, "name": wait.name, "input": wait.input, "schema": wait.schema}
    found["expiresAt"] = iso(wait.expires_at)
    return {name: value for name, value in found.items() if value is not None}


def decision(event_id: str, decided: ApprovalDecided) -> Shown:
    """Return a decision as a message of the user."""
    value: Shown = {"approved": decided.decision == "approved"}
    if decided.reason is not None:
        value["reason"] = decided.reason
    return message(event_id, USER, [data_part(value)])


def answer(event_id: str, answered: WaitAnswered) -> Shown:
    """Return an answer as a message of the user."""
    value = answered.value if answered.outcome == "answered" else {"error": answered.message or answered.outcome}
    return message(event_id, USER, [value_part(value)])


# --- artifacts


def artifact(artifact_id: str, name: str, parts: Sequence[Shown]) -> Shown:
    return {"artifactId": artifact_id, "name": name, "parts": list(parts)}


def chunk(text: str, *, append: bool, last: bool = False) -> Shown:
    """Return a piece of the answer. Without `append` it replaces the pieces before."""
    return artifact_update(artifact(ANSWER, ANSWER, [{"text": text}]), append=append, last=last)


def artifact_update(made: Shown, *, append: bool = False, last: bool = True) -> Shown:
    return {"artifactUpdate": {"artifact": made, "append": append, "lastChunk": last}}


def answer_artifact(state: State) -> Shown:
    """Return the answer so far as an artifact."""
    return artifact(ANSWER, ANSWER, [{"text": "".join(state.written)}])


# --- tasks


def task(state: State, place: Place, history_length: int | None = None, *, with_artifacts: bool = True) -> Shown:
    """Return a task as it is after the last event of the state."""
    found: Shown = {"id": state.run_id, "contextId": place.context_id, "status": state.status}
    if with_artifacts:
        made = [answer_artifact(state)] if state.has_answer else []
        found["artifacts"] = [*made, *state.artifacts]
    history = [*_first(state, place.first), *state.history]
    if history_length is not None:
        history = history[-history_length:] if history_length else []
    if history:
        found["history"] = history
    if state.metadata:
        found["metadata"] = state.metadata
    whole: Shown = completed({"task": found}, state.run_id, place)["task"]
    return whole


def _first(state: State, given: Message | None) -> list[Shown]:
    if given is None:
        return []
    name = state.echo.get("messageId")
    return [message(name if isinstance(name, str) else given.id, USER, content(given.text, given.content))]


def completed(shown: Shown, run_id: str, place: Place) -> Shown:
    """Add the ids of the task and its context, and the server's address to files."""
    [(kind, found)] = shown.items()
    ids = {"taskId": run_id, "contextId": place.context_id}
    if kind == "statusUpdate":
        return {kind: {**ids, **found, "status": _named(found["status"], ids)}}
    if kind == "artifactUpdate":
        return {kind: {**ids, **found, "artifact": _addressed(found["artifact"], place.base)}}
    made = {**found, "status": _named(found["status"], ids)}
    if "artifacts" in made:
        made["artifacts"] = [_addressed(each, place.base) for each in made["artifacts"]]
    if "history" in made:
        made["history"] = [_addressed({**each, **ids}, place.base) for each in made["history"]]
    return {kind: made}


def _named(given: Shown, ids: Shown) -> Shown:
    return {**given, "message": {**given["message"], **ids}} if "message" in given else given


def _addressed(given: Shown, base: str) -> Shown:
    """Return an artifact or a message with complete addresses of files."""
    if not any("url" in each for each in given["parts"]):
        return given
    parts = [{**each, "url": base + each["url"]} if "url" in each else each for each in given["parts"]]
    return {**given, "parts": parts}


encode = msgspec.json.Encoder().encode
