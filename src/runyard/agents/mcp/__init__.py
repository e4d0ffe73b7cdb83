"""MCP, in both directions. Needs the package `mcp`.

`servers.py` declares an MCP server as a source of an agent's tools; `connection.py` opens, keeps and reopens the
connection to it. `serving.py` offers our own tools as an MCP server inside this process, for Claude Agent SDK.
"""
