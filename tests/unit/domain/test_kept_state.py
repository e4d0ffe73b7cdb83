"""A state that was kept is the state that was folded; bytes of another kind or version are refused."""

import hashlib
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runyard.domain.events import Payload, RunOutput, RunQueued, StepFinished, ToolFinished
from runyard.domain.state.fold import fold
from runyard.domain.state.kept_state import VERSION, decoded, encoded
from runyard.domain.state.run_state import State
from tests.unit.domain.test_fold import _payloads, log

SCHEMA = "bc905f82d7ffe21e"


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(_payloads, max_size=25), st.integers(0, 25))
def test_folding_on_from_a_kept_state_is_folding_the_whole_log(payloads: list[Payload], cut: int) -> None:
    events = log(*payloads)
    kept = decoded(encoded(fold(events[:cut])))
    assert kept == fold(events[:cut])
    assert fold(events[cut:], kept) == fold(events)


@pytest.mark.parametrize("value", [2**80, -1.5e300, "\u2028🦀\n", {"deep": [{"x": None}]}, True])
def test_any_value_of_an_event_is_kept(value: Any) -> None:
    last = RunOutput("text", ["cv"], {"value": value})
    state = fold(log(RunQueued("a"), StepFinished("s", "s", None, value), ToolFinished("c", "t", value), last))
    assert decoded(encoded(state)) == state


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"\xff\x00", b'{"v":0,"state":{}}', b'{"v":1,"state":{}}', b'{"v":2,"state":{}}', b'{"v":3}']
)
def test_bytes_that_are_not_a_state_of_this_version_are_refused(data: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        decoded(data)


def shape(schema: Any) -> Any:
    """A schema without its sentences."""
    match schema:
        case dict():
            return {key: shape(value) for key, value in schema.items() if key != "description"}
        case list():
            return [shape(value) for value in schema]
        case _:
            return schema


def test_a_state_of_another_shape_has_another_version() -> None:
    """Failed? Then `State` has changed: raise VERSION, and write down the new digest here."""
    found = msgspec.json.encode(shape(msgspec.json.schema(State)), order="deterministic")
    assert (VERSION, hashlib.sha256(found).hexdigest()[:16]) == (6, SCHEMA)
