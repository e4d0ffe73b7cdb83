"""Every core event is documented, as the code has it and as the faces show it."""

from __future__ import annotations

import re
from typing import get_args

import msgspec
import pytest

from runyard.domain.events import EVENT_TYPES, PAYLOADS, PROGRESS, SCHEMA_VERSION, Event, EventType, Payload
from runyard.faces.plans.translate import image
from runyard.faces.threads.translate import frame
from scripts.tables import events_table
from tests.faces.samples.sample_events import EVENTS

ROW = re.compile(r"^\| `([a-z.]+)`(\*?) \| (.+) \|$", re.M)


def section(title: str) -> dict[str, list[str]]:
    """The rows of one table of docs/events.md: cells by event name."""
    text = events_table.PAGE.text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return {name: cells.split(" | ") for name, _, cells in ROW.findall(text)}


def test_every_core_event_is_documented_with_its_fields_in_order() -> None:
    rows = section("The events")
    assert list(rows) == list(EVENT_TYPES)
    for kind, cells in rows.items():
        names = re.fullmatch(r"`\{(.*)\}`", cells[0])
        assert names, kind
        told = [name.rstrip("?") for name in names[1].split(", ")]
        assert told == [field.name for field in msgspec.structs.fields(PAYLOADS[kind])]  # type: ignore[index]


def test_every_core_event_says_what_it_means() -> None:
    for kind, payload in PAYLOADS.items():
        said = payload.__doc__ or ""
        assert said.rstrip().endswith("."), kind


def test_the_union_the_names_and_the_payloads_are_the_same_set() -> None:
    assert {kind.type for kind in get_args(Payload)} == set(EVENT_TYPES) == set(PAYLOADS)
    assert set(EVENT_TYPES) >= PROGRESS
    assert SCHEMA_VERSION in events_table.versions()


@pytest.mark.req("S0.13")
@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_the_threads_column_is_what_the_face_sends(kind: EventType) -> None:
    [event] = [event for event in EVENTS if event.type == kind]
    found = re.search(rb"^event: (.*)$", frame(event), re.M)
    assert section("Frames of each face")[kind][0] == (found[1].decode() if found else "-")


@pytest.mark.req("S4.5")
@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_the_plans_column_is_what_the_face_sends(kind: EventType) -> None:
    [event] = [event for event in EVENTS if event.type == kind]
    assert section("Frames of each face")[kind][4] == image("run", event).type


def test_every_column_of_the_envelope_is_documented() -> None:
    text = events_table.PAGE.text.partition("## The envelope\n")[2].partition("\n## ")[0]
    told = [name.rstrip("?") for name in re.findall(r"^\| `(\w+\??)` \|", text, re.M)]
    assert sorted(told) == sorted(Event.__struct_fields__)
