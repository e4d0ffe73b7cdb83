"""An MCP server over HTTP on loopback, in a thread of the test, so that it outlives killed workers.

Its tool `charge` notes each amount in `charged`.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from mcp.server.mcpserver import MCPServer


class FakeMcpServer:
    def __init__(self, url: str) -> None:
        self.url = url
        self.charged: list[str] = []

    def charge(self, amount: int) -> str:
        """Charge an amount."""
        self.charged.append(str(amount))
        return f"charged {amount}"


@contextmanager
def fake_mcp_server() -> Iterator[FakeMcpServer]:
    listener = socket.create_server(("127.0.0.1", 0))
    made = FakeMcpServer(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
    server = MCPServer("payments")
    server.tool()(made.charge)
    # without a configuration of its loggers, which belong to the whole process
    config = uvicorn.Config(server.streamable_http_app(host="127.0.0.1"), log_config=None, access_log=False)
    serving = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(serving.serve([listener])))
    thread.start()
    try:
        yield made
    finally:
        serving.should_exit = serving.force_exit = True
        thread.join()
        listener.close()
