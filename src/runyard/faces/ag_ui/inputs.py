"""Reads the messages of a request: the question, or results of tool calls. Pure."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from runyard.errors import BadRequest
from runyard.faces.ag_ui import events, wire

ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
KNOWN_ROLES = {*ROLES, "tool", "reasoning", "activity"}
ONLY_TEXT = "This server takes text only: remove images, files and audio from the messages."
SHAPE = "A message has an `id` and a known `role`, which are texts. Its content is a text or a list of parts."
NO_QUESTION = "The messages must end with one of the user, or with results of the tool calls that are pending."


class Input(Struct, frozen=True):
    """What a request asks. `own` is the run of this server whose messages come last, if the client has some of them;
    `results` are texts by tool call id."""

    question: str | None
    earlier: list[dict[str, Any]]
    results: dict[str, str]
    own: str | None


def read(messages: Sequence[dict[str, Any]]) -> Input:
    """Return what the messages ask, without those at the end that this server has sent."""
    known, own = [_checked(message) for message in messages], None
    while known and _is_answer(known[-1]):
        place = events.parsed_message_id(known.pop()["id"])
        own = own or (place and place[0])
    results = {}
    for message in reversed(known):
        if message["role"] != "tool":
            break
        results[str(message.get("toolCallId"))] = str(message.get("error") or text(message))
    if results or not known or known[-1]["role"] != "user":
        return Input(None, [], dict(reversed(results.items())), own)
    earlier = [{"role": ROLES[each["role"]], "content": text(each)} for each in known[:-1] if each["role"] in ROLES]
    return Input(text(known[-1]), [each for each in earlier if each["content"]], {}, own)


def _is_answer(message: dict[str, Any]) -> bool:
    return events.parsed_message_id(message["id"]) is not None or message["role"] in ("reasoning", "activity")


def _checked(message: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(message.get("id"), str) or message.get("role") not in KNOWN_ROLES:
        raise BadRequest(SHAPE)
    return message


def text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise BadRequest(SHAPE)
    return "".join(_part(part) for part in content)


def _part(part: Any) -> str:
    if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
        raise BadRequest(ONLY_TEXT)
    return str(part["text"])


def instructions(body: wire.RunAgentInput) -> str | None:
    """Return the context and the state of a request as instructions for the agent."""
    lines = [f"{each.description}: {each.value}" for each in body.context]
    if body.state:
        lines.append(f"State of the app: {events.said(body.state)}")
    return "\n".join(lines) or None
