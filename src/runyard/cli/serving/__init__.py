"""Commands that start a process which stays: `dev`, `serve`, `worker` and `mcp`."""
