"""The translation of every third-party protocol goes on from a snapshot of its state."""

from importlib import import_module
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.domain.events import Event
from tests.faces.samples.random_logs import logs
from tests.faces.samples.sample_events import RUN_ID


@pytest.mark.parametrize("face", ["a2a", "ag_ui", "ai_sdk", "langgraph", "mcp", "openai"])
@given(events=logs, cut=st.integers(0, 80))
def test_a_translation_goes_on_from_a_snapshot(face: str, events: list[Event], cut: int) -> None:
    translation: Any = import_module(f"runyard.faces.{face}.translate").Translation
    state: Any = import_module(f"runyard.faces.{face}.state").State
    first, whole = translation(RUN_ID), translation(RUN_ID)
    before = [shown for event in events[:cut] for shown in first.take(event)]
    second = translation(RUN_ID, msgspec.json.decode(msgspec.json.encode(first.state), type=state))
    rest = [shown for event in events[cut:] for shown in second.take(event)]
    assert before + rest == [shown for event in events for shown in whole.take(event)]
    assert second.state == whole.state
