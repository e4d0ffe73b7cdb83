"""Tools that Runyard does not call itself: a client's tool, and another agent. A model calls them like any tool.

The run parks until the client answers or the other agent's run has ended (`agents/durable/tool_call.py`).
"""

from collections.abc import Mapping
from typing import Any

from runyard.agents.tools.tool import Tool
from runyard.base.json_schema import SchemaSource, check_schema, check_value, schema_of
from runyard.errors import Invalid, InvalidInput


class WaitingTool(Tool[..., Any]):
    """A tool whose result comes from outside of this process."""

    def __init__(self, name: str, description: str, schema: Mapping[str, Any], timeout: float | None = None) -> None:
        async def called(**given: Any) -> None:
            raise Invalid(f"The tool {name} cannot be called here. Call it with ctx.call.")

        async def unnamed() -> None: ...

        super().__init__(unnamed, name=name, effects="idempotent", timeout=timeout)
        self.fn = called
        self.description = description
        self.schema = {"type": "object", "properties": {}, **schema}
        check_schema(self.schema)

    def by_name(self, args: tuple[Any, ...], given: Mapping[str, Any]) -> Mapping[str, Any]:
        if args:
            raise Invalid(f"The arguments of {self.name} are given by name.")
        return given

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        try:
            check_value(self.schema, dict(given))
        except Invalid as error:
            raise InvalidInput(f"The arguments of {self.name} do not fit: {error.message}") from None
        return dict(given)


class ClientTool(WaitingTool):
    """A tool that the client calls. `answer` is the JSON Schema of its result, if it is declared."""

    def __init__(
        self,
        name: str,
        description: str,
        schema: Mapping[str, Any],
        answer: dict[str, Any] | None = None,
        timeout: float | None = None,
    ) -> None:
        super().__init__(name, description, schema, timeout)
        self.answer = answer


class AgentTool(WaitingTool):
    """Another agent as a tool. Its input is a message; its result is the text of the child run's answer, or its outputs
    if it has any."""

    def __init__(self, agent: str, description: str) -> None:
        message = {"message": {"type": "string", "description": "The task for the agent."}}
        schema = {"properties": message, "required": ["message"], "additionalProperties": False}
        super().__init__(agent.replace(".", "_"), description, schema)
        self.agent = agent


def client_tool(
    name: str,
    description: str,
    input: SchemaSource | None = None,
    *,
    answer: SchemaSource | None = None,
    timeout: float | None = None,
) -> Tool[..., Any]:
    """Declare a tool that the client calls: the browser, the editor, the app that follows the run.

    The run waits until the client sends the result. Clients may also supply such tools with a request.

    Args:
        name: The name of the tool: 1 to 64 letters, digits, `-` or `_`.
        description: What the tool does, for the model.
        input: The type of its input: a pydantic model, a msgspec struct, a dataclass or a JSON Schema of an object.
        answer: The type of its result. The result is checked against it. Any JSON value by default.
        timeout: The seconds after which the call fails. Without it, the run waits as long as it takes.

    Raises:
        Invalid: If a type cannot be described as a JSON Schema, or the schema is too large.

    Example:
        >>> locate = runyard.client_tool("locate", "Return the user's position.", answer={"type": "string"})
        >>> @runyard.agent
        ... async def guide(ctx: runyard.Context) -> str:
        ...     return f"You are in {await ctx.call(locate)}."
        >>> run_agent_sync(guide, "Where am I?", answers={"locate": "Kyoto"}).text
        'You are in Kyoto.'
    """
    schema = {} if input is None else schema_of(input)
    result = None if answer is None else schema_of(answer)
    if result is not None:
        check_schema(result)
    return ClientTool(name, description, schema, result, timeout)
