"""Run a remote agent: one recorded call under the rules of every tool. Its answer is the output.

`agents/durable/tool_call.py` has these rules. After a crash a finished call is not made again. A call that had started
follows the agent's `effects` and `on_unknown`.
"""

from copy import copy

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.execution import Execution
from runyard.agents.kinds.python.runner import run_python
from runyard.domain.content.parts import text_and_data
from runyard.errors import FilesNotSupported


async def run_remote(agent: Agent, execution: Execution, /) -> Output:
    remote = agent.remote
    assert remote is not None  # the declaration was checked

    async def answer(ctx: Context) -> Output:
        if ctx.message.files:
            raise FilesNotSupported(f"The remote agent {agent.name} takes no files. Send text, or a link to the file.")
        inputs = ctx.inputs
        if ctx.task is None or ctx.task.parts:
            name = remote.message_as if ctx.task is None else "message"
            inputs = {name: text_and_data(ctx.message.text, ctx.message.parts)}
        found = await ctx.call_agent(agent, **inputs)
        text, grounding = found.get("text"), found.get("grounding") or {}
        cited = grounding.get("citations") or []
        sources = [one for one in cited if isinstance(one, str)] if isinstance(cited, list) else []
        return Output(text if isinstance(text, str) else "", sources=sources, outputs=found)

    acting = copy(agent)
    acting.fn = answer
    return await run_python(acting, execution)
