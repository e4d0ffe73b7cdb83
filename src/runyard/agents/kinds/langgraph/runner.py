"""Run a LangGraph agent: the graph works in its own task, from its last checkpoint in the log of the run.

LangGraph is imported when the first run starts. When the runner returns or raises, no task of the graph is running. A
node in a thread cannot be stopped; it can no longer write to the run.
"""

from runyard.agents.declared.agent import Agent
from runyard.agents.durable.outcome import outcome
from runyard.agents.execution import Execution, ModelOutput, Parked


async def run_langgraph(agent: Agent, execution: Execution, /) -> ModelOutput:
    from runyard.agents.kinds.langgraph.graph_run import GraphRun
    from runyard.agents.kinds.langgraph.node_steps import GraphParking

    parking = GraphParking()
    graph_run = GraphRun(agent, execution, parking, await execution.forked_copy())
    main = await parking.run_until_parked(graph_run.run(), f"agent:{execution.run.id}")
    if main is None:
        raise Parked(graph_run.open_waits())
    return outcome(main, execution)
