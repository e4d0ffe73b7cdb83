"""The work of the agent. Change this file."""

from typing import Any

from agent.schemas import AgentRunRequest

TASK_TYPE = "TEMPLATE_TASK"


class WrongInputs(Exception):
    """The inputs cannot be used. Say which, by name, and never what was in them."""

    def __init__(self, *names: str) -> None:
        super().__init__(*names)
        self.names = list(names)


async def do(request: AgentRunRequest) -> dict[str, Any]:
    """The outputs of the task."""
    text = request.inputs.get("text", "")
    if not isinstance(text, str):
        raise WrongInputs("text")
    return {"words": len(text.split())}
