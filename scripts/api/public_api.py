"""The public names, with their members: what docs/api.md describes and what the checks of types and examples walk."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import runyard
import runyard.testing
from runyard.agents.tools.tool import Tool
from runyard.errors import RunyardError

MODULES: dict[str, ModuleType] = {"runyard": runyard, "runyard.testing": runyard.testing}
_NOT_DESCRIBED = {"__version__", "errors"}
# Fields that settings.md describes one by one, and a store whose operations `runyard.store` describes.
_WITHOUT_MEMBERS = {"Settings", "MemoryStore"}
_FOR_RUNNERS = {
    "App.plans",
    "Context.flush_text",
    "Message.party",
    "Node.digest",
    "Timeouts.within",
    "Tool.by_name",
    "Tool.run",
}


class Public(NamedTuple):
    """A public name. `owner` is the class of a member."""

    module: str
    name: str
    value: Any
    owner: type | None = None

    @property
    def label(self) -> str:
        return f"{self.owner.__name__}.{self.name}" if self.owner is not None else f"{self.module}.{self.name}"

    @property
    def is_error(self) -> bool:
        return isinstance(self.value, type) and issubclass(self.value, RunyardError)


def names() -> Iterator[Public]:
    """Return the public classes, functions and tools, module by module."""
    for path, module in MODULES.items():
        for name in sorted(set(module.__all__) - _NOT_DESCRIBED, key=lambda name: (name.lower(), name)):
            value = getattr(module, name)
            if callable(value):
                yield Public(path, name, value)


def members(of: Public) -> Iterator[Public]:
    """Return the public methods and properties of a class, in the order of their definition."""
    if not isinstance(of.value, type) or of.is_error or of.name in _WITHOUT_MEMBERS:
        return
    seen: set[str] = set()
    for kind in of.value.__mro__:
        if not kind.__module__.startswith("runyard."):
            continue
        for name, value in vars(kind).items():
            found = value.fget if isinstance(value, property) else getattr(value, "func", value)
            if not name.startswith("_") and name not in seen and inspect.isfunction(found):
                seen.add(name)
                member = Public(of.module, name, found, of.value)
                if member.label not in _FOR_RUNNERS:
                    yield member


def documentation(of: Public) -> str:
    """Return the docstring; for a tool, that of its function."""
    return inspect.cleandoc((of.value.fn if isinstance(of.value, Tool) else of.value).__doc__ or "")
