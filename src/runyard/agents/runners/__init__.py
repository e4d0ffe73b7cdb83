"""How each kind of agent is run: the one table."""

from runyard.agents.agent import Kind
from runyard.agents.execution import Runner
from runyard.agents.runners.claude import run_claude
from runyard.agents.runners.model import ModelRunner
from runyard.agents.runners.plan import run_plan
from runyard.agents.runners.python import run_python
from runyard.agents.runners.remote import run_remote
from runyard.agents.runners.scripted import ScriptedRunner

RUNNERS: dict[Kind, Runner] = {
    "python": run_python,
    "scripted": ScriptedRunner(),
    "plan": run_plan,
    "model": ModelRunner(),
    "remote": run_remote,
    "claude": run_claude,
}
