"""MCP: servers as sources of tools, and our tools as a server inside this process."""
