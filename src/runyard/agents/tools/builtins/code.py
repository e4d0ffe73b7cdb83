"""`run_python`: run a program in the sandbox, with the thread's workspace as its folder. Always needs approval."""

from typing import Any

from runyard.agents.sandbox.sandbox import Sandbox
from runyard.agents.tools.builtins.guarded import guarded
from runyard.agents.tools.workspace import Workspace
from runyard.agents.user_code.current_call import stream_output

SANDBOX = Sandbox()  # one per process, because its self-test runs once

_WHY = {
    "time": "it took too long",
    "memory": "it used too much memory",
    "disk": "it wrote too much into its folder",
    "output": "it printed too much",
    "watch": "it stopped or killed the process that watches it",
}


@guarded("once")
async def run_python(code: str) -> dict[str, Any]:
    """Run a Python program and return what it prints. It has the standard library, no network, and the files of this
    conversation's workspace in its current folder; files that it writes there are kept.

    Args:
        code: the whole program

    Raises:
        NoSandbox: If this machine has no working sandbox. `runyard doctor` says why.

    Example:
        >>> runyard.Agent("analyst", model="openai/gpt-5-mini", tools=[runyard.run_python]).tools
        (Tool('run_python'),)
    """
    workspace = Workspace.current()
    async with workspace.lock:
        ended = await SANDBOX.run(code, workspace.folder, on_output=stream_program_output)
    if ended.stopped is not None:
        return {"stopped": f"{_WHY[ended.stopped]}; its files were not kept", "output": ended.output}
    return {"exit_code": ended.code, "output": ended.output}


async def stream_program_output(text: str) -> None:
    await stream_output(text)
