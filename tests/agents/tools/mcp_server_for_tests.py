"""A real MCP server for tests: `python mcp_server_for_tests.py FOLDER [HOST PORT]`, over stdio or over HTTP.

It writes its pid, its port and the state of the slow call into the folder.
"""

import asyncio
import base64
import os
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer

folder = Path(sys.argv[1])
server = MCPServer("for tests")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(name="say.it")
def say(text: str) -> str:
    return text


@server.tool()
def fail() -> Any:
    from mcp.types import CallToolResult, TextContent

    return CallToolResult(content=[TextContent(type="text", text="no luck today")], is_error=True)


@server.tool()
def picture() -> Any:
    from mcp.types import BlobResourceContents, CallToolResult, EmbeddedResource, ImageContent, TextContent

    encoded = base64.b64encode(b"\x89PNG\r\n\x1a\nabc").decode()
    paper = BlobResourceContents(uri="file:///papers/a.bin", blob=base64.b64encode(b"paper").decode())
    return CallToolResult(
        content=[
            TextContent(type="text", text="two files"),
            ImageContent(type="image", data=encoded, mime_type="image/png"),
            EmbeddedResource(type="resource", resource=paper),
        ]
    )


@server.tool()
def die() -> str:
    os._exit(3)


@server.tool()
async def slow(ctx: Context) -> str:
    await ctx.report_progress(1, 2, "half way")
    (folder / "slow").write_text("began")
    try:
        await asyncio.sleep(60)  # waits on purpose: until it is cancelled
    except BaseException:
        (folder / "slow").write_text("cancelled")
        raise
    return "done"


@server.tool()
def environment() -> dict[str, str]:
    return dict(os.environ)


def serve(host: str, port: int) -> None:
    listener = socket.create_server((host, port))
    config = uvicorn.Config(server.streamable_http_app(host=host), log_level="critical")
    (folder / "port.part").write_text(str(listener.getsockname()[1]))
    (folder / "port.part").rename(folder / "port")  # atomic, so that a reader sees the whole number
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    (folder / "pid").write_text(str(os.getpid()))
    if len(sys.argv) > 2:
        serve(sys.argv[2], int(sys.argv[3]))
    else:
        server.run()
