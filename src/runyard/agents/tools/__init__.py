"""Tools: declaration, schema, rate limits, sources of tools, workspaces, outbound calls, and the built-in tools."""
