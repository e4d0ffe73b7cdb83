"""The runner of each kind of agent."""

from runyard.agents.declared.agent import Kind
from runyard.agents.execution import Runner
from runyard.agents.kinds.claude.runner import run_claude
from runyard.agents.kinds.langgraph.runner import run_langgraph
from runyard.agents.kinds.model.runner import ModelRunner
from runyard.agents.kinds.openai_agents.runner import run_openai_agents
from runyard.agents.kinds.plan.runner import run_plan
from runyard.agents.kinds.pydantic_ai.runner import run_pydantic_ai
from runyard.agents.kinds.python.runner import run_python
from runyard.agents.kinds.remote.runner import run_remote
from runyard.agents.kinds.scripted.runner import ScriptedRunner

RUNNERS: dict[Kind, Runner] = {
    "python": run_python,
    "scripted": ScriptedRunner(),
    "plan": run_plan,
    "model": ModelRunner(),
    "remote": run_remote,
    "claude": run_claude,
    "langgraph": run_langgraph,
    "pydantic_ai": run_pydantic_ai,
    "openai_agents": run_openai_agents,
}
