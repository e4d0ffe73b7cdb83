"""Check that every public name is fully typed: `python -m scripts.api.public_types`, a part of `make check`.

Each parameter and result of a public function, method or property has an annotation. A parameter or result that is
`Any` as a whole is allowed only where the table below says why; JSON inside of a container (`dict[str, Any]`) is fine.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Iterator
from typing import Any

from runyard.agents.tools.tool import Tool
from scripts.api.public_api import Public, members, names

# Why a whole value may be Any.
ANY = {
    "Client.answer_wait": "an answer is JSON",
    "Client.send_event": "the data of an event is JSON",
    "Context.ask": "the answer to a JSON Schema is JSON",
    "Context.call": "a tool that is named by a str has any arguments and any result",
    "Context.call_agent": "the inputs of a task are JSON",
    "Context.request_approval": "the details of a question are JSON",
    "Context.wait_for": "the data of an event is JSON",
    "NodeContext.call_agent": "the inputs of a task are JSON",
    "runyard.DataPart": "any JSON value",
    "runyard.langgraph": "a graph has a type of LangGraph, which may not be installed",
    "runyard.testing.RecordedStep": "the result of a step is JSON",
    "runyard.testing.ToolCall": "the input and output of a tool are JSON",
}


def problems() -> Iterator[str]:
    """Return a sentence for every hole in the types of the public names."""
    for one in names():
        if not one.is_error and one.name not in ("Settings", "MemoryStore"):
            yield from _holes(one)
        for member in members(one):
            yield from _holes(member)


def _holes(of: Public) -> Iterator[str]:
    value = of.value.fn if isinstance(of.value, Tool) else of.value
    for one in typing.get_overloads(value) or [value]:
        found = inspect.signature(one)
        for parameter in found.parameters.values():
            if parameter.name != "self":
                yield from _hole(of, f"the parameter {parameter.name}", parameter.annotation)
        if not isinstance(value, type):
            yield from _hole(of, "the result", found.return_annotation)


def _hole(of: Public, what: str, annotation: Any) -> Iterator[str]:
    if annotation is inspect.Signature.empty:
        yield f"{of.label}: {what} has no type."
    elif annotation in (Any, "Any") and of.label not in ANY:
        yield f"{of.label}: {what} is Any; name its type, or say why not in scripts/api/public_types.py."


def main() -> int:
    found = list(problems())
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
