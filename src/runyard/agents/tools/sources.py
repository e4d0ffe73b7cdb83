"""Sources of tools that the app does not declare itself, such as MCP servers. Listed when a run needs them."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Unpack

from runyard.agents.tools.tool import Tool, ToolOptions
from runyard.errors import InvalidInput


class ToolSource(ABC):
    @abstractmethod
    async def tools(self) -> Sequence[Tool[..., Any]]:
        """Return the tools, listed once until `close`. Raise ServerGone if the server does not answer."""

    @abstractmethod
    async def close(self) -> None:
        """Release all resources. The next use opens them again."""


class ForeignTool(Tool[..., Any]):
    """A tool of another server. Its schema is used as received, and its input is checked against it."""

    def __init__(
        self,
        call: Callable[[dict[str, Any]], Awaitable[Any]],
        description: str,
        schema: Mapping[str, Any],
        **options: Unpack[ToolOptions],
    ) -> None:
        async def called() -> None: ...

        super().__init__(called, **options)
        self.description = description
        self.schema = {"type": "object", "properties": {}, **schema}
        self._call_it = call

    def __call__(self, *args: Any, **given: Any) -> Any:
        return self._call_it(given)

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

        if not isinstance(given, Mapping):
            raise InvalidInput(f"The arguments of {self.name} do not fit: expected `object`.")
        for problem in Draft202012Validator(self.schema).iter_errors(given):
            raise InvalidInput(f"The arguments of {self.name} do not fit: {_rule(problem)}.")
        return dict(given)

    async def _perform(self, arguments: dict[str, Any]) -> Any:
        return await self._call_it(arguments)


def _rule(problem: Any) -> str:
    """Return the violated rule and its place. The library's own message holds values, and so may keys of an object."""
    rule = problem.validator
    if rule in ("type", "required", "minimum", "maximum", "minLength", "maxLength", "enum"):
        rule = f"{rule} {problem.validator_value}"
    path = [str(part) for part in problem.absolute_schema_path]
    fields = [name for before, name in pairwise(path) if before == "properties"]
    return f"{rule} - at `{'.'.join(['$', *fields])}`"
