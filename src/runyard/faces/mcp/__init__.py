"""The face for MCP (`/mcp`): agents are tools, a tool call is a run, a task is a run. The server keeps no sessions."""
