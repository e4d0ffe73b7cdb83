"""The other content of a request as the log stores it: clean, and redacted if the settings say so."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from runyard.domain.events import ClientTool, clean, cleaned
from runyard.domain.task import RunOptions, Task

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

UNREDACTED_LABELS = frozenset({"request_id"})  # labels of a task that answers repeat


def redacted_tool(redactor: "Redactor", tool: ClientTool) -> ClientTool:
    return ClientTool(tool.name, redactor.text(tool.description), redactor.value(tool.schema))


def task_as_stored(redactor: "Redactor", task: Task) -> Task:
    """Return the task with redacted inputs and labels. The request id stays, because answers repeat it."""
    if not redactor.is_on:
        return task
    labels = {name: label if name in UNREDACTED_LABELS else redactor.text(label) for name, label in task.labels.items()}
    return replace(task, inputs=redactor.value(task.inputs), labels=labels)


def options_as_stored(redactor: "Redactor", options: RunOptions) -> RunOptions:
    """Return the options with clean and redacted texts."""
    instructions = options.instructions
    return replace(
        options,
        instructions=None if instructions is None else redactor.text(clean(instructions)),
        earlier=redactor.value(cleaned(options.earlier)),
        echo=redactor.value(cleaned(options.echo)),
    )
