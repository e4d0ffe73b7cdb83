"""`read_file` and `write_file`: text files in the thread's workspace (`agents/tools/workspace.py`). Both always need
approval."""

from runyard.agents.tools.builtins.guarded import guarded
from runyard.agents.tools.workspace import Workspace
from runyard.agents.user_code.run_in_thread import run_in_thread
from runyard.errors import ToolError


@guarded("none")
async def read_file(path: str) -> str:
    """Read a text file of this conversation's workspace.

    Args:
        path: where it is, relative to the workspace, such as notes/plan.md

    Raises:
        ToolError: If there is no such file, or it is not text.

    Example:
        >>> @runyard.agent
        ... async def reader(ctx: runyard.Context) -> str:
        ...     await ctx.call(runyard.write_file, path="plan.md", content="Rest.")
        ...     return await ctx.call(runyard.read_file, path="plan.md")
        >>> run_agent_sync(reader, "Go", decisions={"write_file": True, "read_file": True}).text
        'Rest.'
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
    """Write a text file in this conversation's workspace. An existing file is replaced.

    Args:
        path: where to put it, relative to the workspace, such as notes/plan.md
        content: all of the file

    Raises:
        ToolError: If the path leads out of the workspace, or the workspace is full.

    Example:
        >>> @runyard.agent
        ... async def writer(ctx: runyard.Context) -> str:
        ...     return await ctx.call(runyard.write_file, path="plan.md", content="Rest.")
        >>> run_agent_sync(writer, "Go", decisions={"write_file": True}).text
        'Wrote 5 bytes.'
    """
    data = content.encode("utf-8", "replace")
    workspace = Workspace.current()
    async with workspace.lock:
        await run_in_thread(workspace.write, path, data)
    return f"Wrote {len(data)} bytes."
