"""The public names load lazily, import nothing heavy, and do not depend on the order of imports."""

import subprocess
import sys

import pytest

import runyard

HEAVY = (
    "fastapi starlette pydantic asyncpg sqlalchemy alembic httpx httpx2 typer uvicorn litellm openai langgraph msgspec "
    "pydantic_ai agents celery"
)


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    "first",
    [
        "import runyard.agents.declared.agent, runyard.agents.tools.tool, runyard.agents.context.context",
        "import runyard.agents.declared.loading, runyard.demo",
        "from runyard import agent, tool",
        "import runyard; runyard.agent; import runyard.agents",
        "pass",
    ],
)
def test_agent_and_tool_are_the_decorators_in_every_order_of_imports(first: str) -> None:
    code = f"""
{first}
import runyard
from runyard import agent, tool
import runyard.agents.kinds.runners
assert runyard.agent is agent and runyard.tool is tool
@runyard.agent
async def f(ctx): ...
@tool
def g(): ...
print(type(f).__name__, type(g).__name__)
"""
    assert python(code) == "Agent Tool"


def test_importing_runyard_imports_nothing_heavy() -> None:
    code = f"import runyard, sys; print([name for name in {HEAVY.split()} if name in sys.modules])"

    assert python(code) == "[]"


def test_declaring_agents_needs_no_web_framework_and_no_driver() -> None:
    light = [name for name in HEAVY.split() if name != "msgspec"]
    code = f"import runyard.demo, sys; print([name for name in {light} if name in sys.modules])"

    assert python(code) == "[]"


def test_declaring_a_model_agent_does_not_load_litellm() -> None:
    code = """
import runyard, sys
runyard.Agent("a", model="openai/gpt-5-mini")
import runyard.app.process, runyard.agents.kinds.runners
print("litellm" in sys.modules, "openai" in sys.modules)
"""
    assert python(code) == "False False"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'agnet'"):
        _ = runyard.agnet  # type: ignore[attr-defined]


def test_the_errors_are_there_after_importing_runyard() -> None:
    code = "import runyard; print(runyard.errors.ToolFailed is runyard.ToolFailed, runyard.__version__[0].isdigit())"

    assert python(code) == "True True"
