"""Agents of other frameworks: one constructor for each. The framework is imported by the program that uses it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runyard.agents.declared.agent import Agent, OnCodeChange, OnUnknown, WhileWaiting, declare
from runyard.agents.declared.claude import Claude
from runyard.agents.declared.graph import Graph
from runyard.agents.declared.wrapped import Wrapped
from runyard.agents.tools.sources import ToolSource
from runyard.agents.tools.tool import Effects, Tool
from runyard.errors import Invalid

if TYPE_CHECKING:
    from agents import Agent as OpenAiAgent
    from agents import RunConfig
    from pydantic_ai.agent import AbstractAgent
    from pydantic_ai.usage import UsageLimits


def pydantic_ai(
    agent: "AbstractAgent[Any, Any]",
    /,
    *,
    name: str | None = None,
    description: str = "",
    tools: Sequence[Tool[..., Any] | ToolSource | Agent] = (),
    deps: object = None,
    deps_factory: Callable[[Any], Any] | None = None,
    effects: Mapping[str, Effects] | None = None,
    usage_limits: "UsageLimits | None" = None,
    history: int = 20,
    while_waiting: WhileWaiting = "hold",
    on_code_change: OnCodeChange = "continue",
    on_unknown: OnUnknown = "ask",
    max_seconds: float | None = None,
    task_type: str | None = None,
    shared: bool = False,
    samples: Sequence[str] = (),
    chat: bool | None = None,
) -> Agent:
    """Make an agent of a pydantic-ai agent. Install it with `pip install 'runyard[pydantic-ai]'`.

    Requests to the model and calls of tools and MCP servers are recorded and not repeated after a crash. A tool that
    needs an approval waits for a person, and an external tool for the client. See `docs/frameworks/pydantic-ai.md`.

    Args:
        agent: The agent of pydantic-ai.
        name: The name of the agent. The default is the name of the pydantic-ai agent.
        description: As for `Agent`.
        tools: Tools of Runyard that the model gets besides those of the agent, as for `Agent`.
        deps: The dependencies of every run.
        deps_factory: A function, plain or async, that gets the `Context` of a run and returns its dependencies.
        effects: What a second call of a tool would do, by the name of the tool, as for `runyard.tool`. The default is
            `"once"`.
        usage_limits: Limits of pydantic-ai for one run.
        history: How many earlier runs of the thread the model reads, at most 200.
        while_waiting: As for `Agent`.
        on_code_change: As for `Agent`.
        on_unknown: As for `Agent`.
        max_seconds: As for `Agent`.
        task_type: As for `Agent`.
        shared: As for `Agent`.
        samples: As for `Agent`.
        chat: As for `Agent`.

    Raises:
        Invalid: If it is not an agent of pydantic-ai, or an option is wrong.

    Example:
        >>> import pydantic_ai
        >>> from pydantic_ai.models.test import TestModel
        >>> model = TestModel(custom_output_text="Paris.")
        >>> geographer = runyard.pydantic_ai(pydantic_ai.Agent(model, name="geographer"))
        >>> run_agent_sync(geographer, "What is the capital of France?").text
        'Paris.'
    """
    if not hasattr(agent, "toolsets") or not hasattr(agent, "output_type"):
        raise Invalid(f"This is a {type(agent).__name__}, not an agent of pydantic-ai.")
    return declare(
        name or agent.name or "",
        "pydantic_ai",
        wrapped=Wrapped(
            agent=agent,
            deps=deps,
            deps_factory=deps_factory,
            limits=usage_limits,
            effects=dict(effects or {}),
            history=history,
        ),
        description=description,
        tools=tools,
        while_waiting=while_waiting,
        on_code_change=on_code_change,
        on_unknown=on_unknown,
        max_seconds=max_seconds,
        task_type=task_type,
        shared=shared,
        samples=samples,
        chat=chat,
    )


def openai_agents(
    agent: "OpenAiAgent[Any]",
    /,
    *,
    name: str | None = None,
    description: str = "",
    tools: Sequence[Tool[..., Any] | ToolSource | Agent] = (),
    context: object = None,
    context_factory: Callable[[Any], Any] | None = None,
    effects: Mapping[str, Effects] | None = None,
    max_turns: int = 10,
    run_config: "RunConfig | None" = None,
    tracing: bool = False,
    history: int = 20,
    while_waiting: WhileWaiting = "hold",
    on_code_change: OnCodeChange = "continue",
    on_unknown: OnUnknown = "ask",
    max_seconds: float | None = None,
    task_type: str | None = None,
    shared: bool = False,
    samples: Sequence[str] = (),
    chat: bool | None = None,
) -> Agent:
    """Make an agent of an agent of OpenAI Agents SDK. Install it with `pip install 'runyard[openai-agents]'`.

    Requests to models and calls of function tools are recorded and not repeated after a crash, also after a handoff. A
    tool that needs an approval waits for a person. See `docs/frameworks/openai-agents.md`.

    Args:
        agent: The agent of OpenAI Agents SDK, the one that starts.
        name: The name of the agent. The default is the name of the SDK's agent, with `_` for spaces.
        description: As for `Agent`.
        tools: Tools of Runyard that the agent gets besides its own, as for `Agent`.
        context: The context object of every run.
        context_factory: A function, plain or async, that gets the `Context` of a run and returns its context object.
        effects: What a second call of a tool would do, by the name of the tool, as for `runyard.tool`. The default is
            `"once"`.
        max_turns: How often one run may ask a model.
        run_config: The `RunConfig` of every run.
        tracing: Whether the SDK sends traces to OpenAI.
        history: How many earlier runs of the thread the model reads, at most 200.
        while_waiting: As for `Agent`.
        on_code_change: As for `Agent`.
        on_unknown: As for `Agent`.
        max_seconds: As for `Agent`.
        task_type: As for `Agent`.
        shared: As for `Agent`.
        samples: As for `Agent`.
        chat: As for `Agent`.

    Raises:
        Invalid: If it is not an agent of OpenAI Agents SDK, or an option is wrong.

    Example:
        >>> import agents
        >>> clerk = agents.Agent(name="Order clerk", model="gpt-5-mini", instructions="Be brief.")
        >>> runyard.openai_agents(clerk, max_turns=5)
        Agent('Order_clerk', kind='openai_agents')
    """
    if not hasattr(agent, "handoffs") or not hasattr(agent, "mcp_servers"):
        raise Invalid(f"This is a {type(agent).__name__}, not an agent of OpenAI Agents SDK.")
    if max_turns < 1:
        raise Invalid("max_turns must be more than 0.")
    return declare(
        agent.name.replace(" ", "_") if name is None else name,
        "openai_agents",
        wrapped=Wrapped(
            agent=agent,
            deps=context,
            deps_factory=context_factory,
            limits=max_turns,
            effects=dict(effects or {}),
            history=history,
            options={"run_config": run_config, "tracing": tracing},
        ),
        description=description,
        tools=tools,
        while_waiting=while_waiting,
        on_code_change=on_code_change,
        on_unknown=on_unknown,
        max_seconds=max_seconds,
        task_type=task_type,
        shared=shared,
        samples=samples,
        chat=chat,
    )


def claude(
    name: str,
    *,
    model: str,
    instructions: str = "",
    description: str = "",
    tools: Sequence[Tool[..., Any] | ToolSource] = (),
    max_turns: int = 5,
    max_usd: float = 0.10,
    sessions: bool = True,
    environment: Mapping[str, str] | None = None,
    while_waiting: WhileWaiting = "hold",
    on_unknown: OnUnknown = "ask",
    max_seconds: float | None = None,
    task_type: str | None = None,
    shared: bool = False,
    samples: Sequence[str] = (),
    chat: bool | None = None,
) -> Agent:
    """Make an agent that the Claude Agent SDK runs. Install it with `pip install 'runyard[claude]'`.

    Args:
        name: The name of the agent.
        model: The name of the model, such as `"claude-sonnet-5"`.
        instructions: The system prompt.
        description: As for `Agent`.
        tools: As for `Agent`.
        max_turns: As for `Agent`.
        max_usd: As for `Agent`.
        sessions: Whether a run in a channel or DM continues the last session there. The SDK keeps sessions in files.
        environment: The environment of the SDK's process, which may hold a key. The default is that of this process.
        while_waiting: As for `Agent`.
        on_unknown: As for `Agent`.
        max_seconds: As for `Agent`.
        task_type: As for `Agent`.
        shared: As for `Agent`.
        samples: As for `Agent`.
        chat: As for `Agent`.

    Raises:
        Invalid: If an option is wrong.

    Example:
        >>> runyard.claude("clerk", model="claude-sonnet-5", instructions="Be brief.")
        Agent('clerk', kind='claude')
    """
    settings = Claude(
        model=model, max_turns=max_turns, max_usd=max_usd, sessions=sessions, environment=dict(environment or {})
    )
    return declare(
        name,
        "claude",
        claude=settings,
        instructions=instructions,
        description=description,
        tools=tools,
        while_waiting=while_waiting,
        on_unknown=on_unknown,
        max_seconds=max_seconds,
        task_type=task_type,
        shared=shared,
        samples=samples,
        chat=chat,
    )


def langgraph(
    name: str,
    graph: Any,
    *,
    nodes: Sequence[str] | None = None,
    history: int = 20,
    max_steps: int = 25,
    description: str = "",
    while_waiting: WhileWaiting = "hold",
    on_code_change: OnCodeChange = "continue",
    on_unknown: OnUnknown = "ask",
    max_seconds: float | None = None,
    task_type: str | None = None,
    samples: Sequence[str] = (),
    chat: bool | None = None,
) -> Agent:
    """Make an agent of a compiled graph. Install LangGraph with `pip install 'runyard[langgraph]'`.

    The graph gets `messages`: the history of the thread and the new message. Its checkpoints are in the log of the run,
    so after a crash it continues from the last one. `interrupt()` becomes a question to a person. Nodes call Runyard's
    tools as `runyard.langchain_tool(tool)`; other code of a node may run more than once.

    Args:
        name: The name of the agent.
        graph: The compiled graph. Its own checkpointer is not used.
        nodes: The nodes whose text is shown, such as `"agent"` or `"research/agent"`. The default is all of them.
        history: How many earlier exchanges of the thread the graph gets.
        max_steps: How many steps one execution of the graph may take (LangGraph's `recursion_limit`).
        description: As for `Agent`.
        while_waiting: As for `Agent`.
        on_code_change: As for `Agent`.
        on_unknown: As for `Agent`.
        max_seconds: As for `Agent`.
        task_type: As for `Agent`.
        samples: As for `Agent`.
        chat: As for `Agent`.

    Raises:
        Invalid: If it is not a compiled graph, or an option is wrong.

    Example:
        >>> from langgraph.graph import START, MessagesState, StateGraph
        >>> def answer(state: MessagesState) -> dict[str, object]:
        ...     return {"messages": [("ai", f"You said {state['messages'][-1].text}.")]}
        >>> graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile()
        >>> run_agent_sync(runyard.langgraph("echo", graph), "tea").text
        'You said tea.'
    """
    return declare(
        name,
        "langgraph",
        graph=Graph(graph=graph, nodes=nodes, history=history, max_steps=max_steps),
        description=description,
        while_waiting=while_waiting,
        on_code_change=on_code_change,
        on_unknown=on_unknown,
        max_seconds=max_seconds,
        task_type=task_type,
        samples=samples,
        chat=chat,
    )
