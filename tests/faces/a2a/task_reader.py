"""Reads the stream of a task by the rules of A2A, as the SDKs do."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import msgspec

from runyard.base.sse import Parser
from runyard.domain.events import Event
from runyard.faces.a2a.follow import LaterUpdates, Updates
from runyard.faces.a2a.objects import Place, Shown, encode, task
from runyard.faces.a2a.translate import Translation
from tests.faces.samples.sample_events import RUN_ID

PLACE = Place("context", "http://server")


def frame(shown: Shown) -> bytes:
    return b"data: %b\n\n" % encode(shown)


def translated(events: Sequence[Event]) -> tuple[Translation, list[Shown]]:
    translation = Translation(RUN_ID)
    return translation, [shown for event in events for shown in translation.take(event)]


def now(events: Sequence[Event]) -> Shown:
    """The task as GetTask returns it."""
    found: Shown = msgspec.json.decode(encode(task(translated(events)[0].state, PLACE)))
    return found


def sent(events: Sequence[Event], part: int = 1) -> list[Shown]:
    """Return the updates for a client that sent the message of a part."""
    updates, parser = Updates(PLACE, part, RUN_ID, frame, None), Parser()
    found: list[Shown] = []
    for event in events:
        if not updates.is_over:
            found += [msgspec.json.decode(each.data) for each in parser.feed(updates.take(event))]
    return found


def subscribed(events: Sequence[Event], after: int) -> list[Shown]:
    """Return the updates for a client that subscribes after so many events."""
    updates, parser = LaterUpdates(PLACE, translated(events[:after])[0], frame), Parser()
    found = [msgspec.json.decode(each.data) for each in parser.feed(updates.first)]
    for event in events[after:]:
        if not updates.is_over:
            found += [msgspec.json.decode(each.data) for each in parser.feed(updates.take(event))]
    return found


def read(shown: Sequence[Shown]) -> dict[str, Any]:
    """Build the task from a stream: it begins with the task, and updates change it."""
    found: dict[str, Any] = deepcopy(shown[0]["task"])
    for each in shown[1:]:
        [(kind, update)] = each.items()
        assert (update["taskId"], update["contextId"]) == (found["id"], found["contextId"])
        if kind == "statusUpdate":
            found["status"] = update["status"]
            found["metadata"] = {**found.get("metadata", {}), **update.get("metadata", {})}
        else:
            _add(found.setdefault("artifacts", []), update)
    return found


def _add(artifacts: list[dict[str, Any]], update: dict[str, Any]) -> None:
    made = deepcopy(update["artifact"])
    known = [each for each in artifacts if each["artifactId"] == made["artifactId"]]
    assert bool(known) or not update["append"], "there is nothing to append to"
    if not known:
        artifacts.append(made)
    elif update["append"]:
        known[0]["parts"] += made["parts"]
    else:
        artifacts[artifacts.index(known[0])] = made


def text_of(found: dict[str, Any]) -> str:
    return "".join(
        part["text"] for each in found.get("artifacts", ()) if each["artifactId"] == "answer" for part in each["parts"]
    )


def same(found: dict[str, Any]) -> dict[str, Any]:
    """A task as it can be compared: text in one piece, and without the history, which streams do not repeat."""
    artifacts = [
        {**each, "parts": [{"text": text_of(found)}]} if each["artifactId"] == "answer" else each
        for each in found.get("artifacts", ())
    ]
    rest = {name: value for name, value in found.items() if name not in ("history", "artifacts", "metadata")}
    return {**rest, "artifacts": artifacts, "metadata": found.get("metadata", {})}
