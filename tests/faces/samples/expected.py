"""The tool calls and waits that a translation of a log must show, from the core fold."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from runyard.domain.events import Event, RunWaiting
from runyard.domain.state.fold import fold
from runyard.domain.state.run_state import CallState, State, WaitState


class Result(NamedTuple):
    """A finished call as a client shows it: its input and its result as text."""

    tool: str
    given: str
    said: str
    is_error: bool


def text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def result_of(call: CallState, given: Any = None) -> Result:
    said = call.error if call.output is None and call.error is not None else call.output
    return Result(call.tool, text(call.input if given is None else given), text(said), call.error is not None)


def finished(core: State) -> list[CallState]:
    return [call for call in core.calls if call.status == "finished"]


def shown_waits(events: Sequence[Event]) -> set[str]:
    """Return the waits that were open while the run left its worker. Only they are shown to the client."""
    found = set[str]()
    for n, event in enumerate(events, 1):
        if isinstance(event.payload, RunWaiting):
            found |= {key for key, wait in fold(events[:n]).waits.items() if wait.answered_seq is None}
    return found


def client_waits(events: Sequence[Event]) -> dict[str, WaitState]:
    """Return the shown waits for tools of the client, by call."""
    shown = shown_waits(events)
    return {
        wait.call_id: wait for key, wait in fold(events).waits.items() if wait.kind == "client_tool" and key in shown
    }


def answer_of(wait: WaitState) -> tuple[str, bool]:
    """Return the answer to a wait as text, and whether it is an error."""
    if wait.state == "answered":
        return text(wait.value), False
    return wait.reason or wait.state, True


def results(events: Sequence[Event]) -> list[Result]:
    """Return the finished calls. A call that the client was asked to make has the client's answer as its result."""
    by_client, found = client_waits(events), list[Result]()
    for call in fold(events).calls:
        wait = by_client.get(call.call_id)
        if wait is not None and wait.answered_seq is not None:
            found.append(Result(call.tool, text(wait.input), *answer_of(wait)))
        elif wait is None and call.status == "finished":
            found.append(result_of(call))
    return found
