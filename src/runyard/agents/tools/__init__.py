"""Tools: functions that an agent may call, and what they may reach.

`tool.py` makes a tool from a typed function, with `docstrings.py` and `schemas.py` for its description and JSON schema
and `rates.py` for its rate limit. `sources.py` is for tools of other servers, such as MCP. `workspace.py` is the folder
of a thread for file tools. `outbound.py` keeps HTTP calls to public addresses.
"""
