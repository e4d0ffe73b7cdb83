"""The answer of a run, read off its events."""

from collections.abc import AsyncIterator
from typing import Any, TypeVar

from runyard.client.wire import LogEvent
from runyard.errors import AgentError

T = TypeVar("T")


async def output_in(events: AsyncIterator[LogEvent]) -> dict[str, Any]:
    """Return the output of a run when it has ended. Raise AgentError if the run failed or was canceled."""
    output: dict[str, Any] = {}
    trouble = ""
    async for event in events:
        if event.type == "run.output":
            output = event.data
        elif event.type == "run.error":
            trouble = event.data.get("message", "The run failed.")
        elif event.type == "run.canceled":
            trouble = "The run was canceled."
    if trouble:
        raise AgentError(trouble)
    return output


def typed(output: dict[str, Any], kind: type[T]) -> T:
    """Return the structured answer in an output. Raise Invalid if it does not fit the type."""
    from runyard.base.json_schema import convert  # loads the validator, which other calls do not need

    value: T = convert(kind, output.get("outputs", {}))
    return value
