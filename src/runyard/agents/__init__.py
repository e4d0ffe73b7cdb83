"""Agents: what a user declares, and how each kind of agent runs. No storage and no HTTP server.

`declared/` holds the declarations (`Agent`, plans, remote services) and loads a user's app. `execution.py` is the
interface between the engine and a runner; `kinds/runners.py` maps each kind of agent to its runner. Every kind has a
folder with a runner (`kinds/*/runner.py`): `python/`, `model/`, `plan/`, `remote/`, `claude/`, `langgraph/`,
`pydantic_ai/`, `openai_agents/`, `scripted/`. `kinds/frameworks/` holds what three of them share.

The runners share four folders: `durable/` (recorded calls and replay after a crash), `tools/` (tools and what they may
reach), `user_code/` (running code that Runyard does not trust) and `sandbox/` (programs in bubblewrap). `mcp/` connects
to MCP servers; `channels/` holds the prompt and the tools of agents in channels. `context/` is what an agent function
gets.
"""
