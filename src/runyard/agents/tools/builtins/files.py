"""`read_file` and `write_file`: text files in the thread's workspace (`workspace.py`). Both always need approval."""

from runyard.agents.tools.builtins.guarded import guarded
from runyard.agents.tools.workspace import Workspace
from runyard.agents.user_code.run_in_thread import run_in_thread
from runyard.errors import ToolError


@guarded("none")
async def read_file(path: str) -> str:
    """Read a text file of this conversation's workspace.

    Args:
        path: where it is, relative to the workspace, such as notes/plan.md
    """
    workspace = Workspace.current()
    async with workspace.lock:
        data: bytes = await run_in_thread(workspace.read, path)
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ToolError("The file is not text.") from None


@guarded("idempotent")
async def write_file(path: str, content: str) -> str:
    """Write a text file in this conversation's workspace. What was there under that name is replaced.

    Args:
        path: where to put it, relative to the workspace, such as notes/plan.md
        content: all of the file
    """
    data = content.encode("utf-8", "replace")
    workspace = Workspace.current()
    async with workspace.lock:
        await run_in_thread(workspace.write, path, data)
    return f"Wrote {len(data)} bytes."
