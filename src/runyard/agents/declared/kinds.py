"""One constructor for each of Runyard's kinds of agents besides the model agent. Each takes only what its kind has."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from runyard.agents.declared.agent import (
    Agent,
    AgentFunction,
    OnCodeChange,
    OnUnknown,
    WhileWaiting,
    declare,
)
from runyard.agents.declared.functions import check_function
from runyard.agents.declared.nodes import Node, checked
from runyard.agents.declared.remote import Remote
from runyard.agents.declared.script import parse
from runyard.agents.tools.sources import ToolSource
from runyard.agents.tools.tool import Effects, Tool
from runyard.contract.timeouts import Timeouts
from runyard.errors import Invalid


@overload
def agent(fn: AgentFunction, /) -> Agent: ...
@overload
def agent(
    *,
    name: str | None = None,
    instructions: str = "",
    description: str = "",
    tools: Sequence[Tool[..., Any] | ToolSource] = (),
    while_waiting: WhileWaiting = "hold",
    on_code_change: OnCodeChange = "continue",
    on_unknown: OnUnknown = "ask",
    max_seconds: float | None = None,
    task_type: str | None = None,
    shared: bool = False,
    samples: Sequence[str] = (),
    chat: bool | None = None,
) -> Callable[[AgentFunction], Agent]: ...
def agent(
    fn: AgentFunction | None = None,
    /,
    *,
    name: str | None = None,
    instructions: str = "",
    description: str = "",
    tools: Sequence[Tool[..., Any] | ToolSource] = (),
    while_waiting: WhileWaiting = "hold",
    on_code_change: OnCodeChange = "continue",
    on_unknown: OnUnknown = "ask",
    max_seconds: float | None = None,
    task_type: str | None = None,
    shared: bool = False,
    samples: Sequence[str] = (),
    chat: bool | None = None,
) -> Agent | Callable[[AgentFunction], Agent]:
    """Make an agent of an `async def f(ctx)`. Use it as `@agent` or as `@agent(option=...)`.

    The function returns its answer as a str or an `Output`. If it returns None, the tokens that it wrote are the
    answer. After a crash or an approval it is called again from the top, and its recorded calls return their results.

    Args:
        fn: The function.
        name: The name of the agent. The default is the name of the function.
        instructions: A description of the agent, for the prompts of channels.
        description: As for `Agent`. The default is the docstring of the function.
        tools: The tools that the function may call by name, and tool servers.
        while_waiting: As for `Agent`.
        on_code_change: As for `Agent`.
        on_unknown: As for `Agent`.
        max_seconds: As for `Agent`.
        task_type: As for `Agent`.
        shared: As for `Agent`.
        samples: As for `Agent`.
        chat: As for `Agent`.

    Raises:
        Invalid: If the function is not an `async def f(ctx)`, or an option is wrong.

    Example:
        >>> @runyard.agent
        ... async def greeter(ctx: runyard.Context) -> None:
        ...     await ctx.token(f"Hello {ctx.message.text}")
        >>> run_agent_sync(greeter, "Ada").text
        'Hello Ada'
    """

    def made(fn: AgentFunction) -> Agent:
        check_function(fn, "agent")
        return declare(
            getattr(fn, "__name__", "") if name is None else name,
            "python",
            fn=fn,
            instructions=instructions,
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

    return made if fn is None else made(fn)


def plan(
    name: str,
    nodes: Sequence[Node],
    *,
    description: str = "",
    while_waiting: WhileWaiting = "hold",
    on_code_change: OnCodeChange = "continue",
    on_unknown: OnUnknown = "ask",
    max_seconds: float | None = None,
    task_type: str | None = None,
    samples: Sequence[str] = (),
    chat: bool = False,
) -> Agent:
    """Make an agent of nodes that run one after another. A finished node is never run again.

    Args:
        name: The name of the agent.
        nodes: The nodes, in the order in which they run. Their names are unique.
        description: As for `Agent`.
        while_waiting: As for `Agent`.
        on_code_change: As for `Agent`.
        on_unknown: What happens to a node with effects `"once"` that had started when its worker died.
        max_seconds: As for `Agent`.
        task_type: As for `Agent`.
        samples: As for `Agent`.
        chat: Whether the page offers the agent for chats. A plan has results and no answer.

    Raises:
        Invalid: If there is no node, or an option is wrong.

    Example:
        >>> async def ping(ctx: runyard.NodeContext) -> dict[str, bool]:
        ...     return {"alive": True}
        >>> device = runyard.plan("device", [runyard.Node("Ping", ping)])
        >>> run_agent_sync(device).status
        'done'
    """
    found = checked(nodes)
    if not found:
        raise Invalid(f"Agent {name}: a plan has at least one node.")
    return declare(
        name,
        "plan",
        plan=found,
        description=description,
        while_waiting=while_waiting,
        on_code_change=on_code_change,
        on_unknown=on_unknown,
        max_seconds=max_seconds,
        task_type=task_type,
        samples=samples,
        chat=chat,
    )


def remote(
    name: str,
    *,
    url: str,
    task_type: str,
    description: str = "",
    effects: Effects = "once",
    allow: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
    timeouts: Timeouts | None = None,
    message_as: str = "query",
    labels: Mapping[str, str] | None = None,
    while_waiting: WhileWaiting = "hold",
    on_unknown: OnUnknown = "ask",
    max_seconds: float | None = None,
    samples: Sequence[str] = (),
    chat: bool = False,
) -> Agent:
    """Make an agent of a service that implements the agent contract (`docs/contract.md`).

    Args:
        name: The name of the agent.
        url: The base address of the service, such as `https://lit.example.org`.
        task_type: The task type that the service does.
        description: As for `Agent`.
        effects: What happens if the service does the task twice: `"none"`, `"idempotent"` or `"once"`.
        allow: Networks that may be called although they are not public, such as `"127.0.0.1"`.
        headers: Headers of every request. They may hold a key and are never logged.
        timeouts: How long the service may take.
        message_as: The name of the input that holds the text of a message.
        labels: Labels of requests that come from a message and not from a task.
        while_waiting: As for `Agent`.
        on_unknown: As for `Agent`.
        max_seconds: As for `Agent`.
        samples: As for `Agent`.
        chat: Whether the page offers the agent for chats. The service then needs no more than the text of a message.

    Raises:
        Invalid: If the address, a network, a timeout or an option is wrong.

    Example:
        >>> runyard.remote("literature", url="https://lit.example.org", task_type="LIT_RETRIEVAL", effects="none")
        Agent('literature', kind='remote')
    """
    service = Remote(
        name,
        url=url,
        task_type=task_type,
        effects=effects,
        allow=allow,
        headers=headers,
        timeouts=timeouts,
        message_as=message_as,
        labels=labels,
    )
    return declare(
        name,
        "remote",
        remote=service,
        description=description,
        while_waiting=while_waiting,
        on_unknown=on_unknown,
        max_seconds=max_seconds,
        samples=samples,
        chat=chat,
    )


def scripted(
    name: str,
    script: Sequence[Mapping[str, Any]],
    *,
    description: str = "",
    samples: Sequence[str] = (),
    chat: bool = True,
) -> Agent:
    """Make an agent that plays a list of entries: for demos, tests and benchmarks.

    Args:
        name: The name of the agent.
        script: The entries, such as `{"token": "Hello"}`, `{"pause_ms": 50}` or `{"tool": "search", "output": {}}`.
        description: As for `Agent`.
        samples: As for `Agent`.
        chat: As for `Agent`.

    Raises:
        Invalid: If an entry is wrong, or there is none.

    Example:
        >>> run_agent_sync(runyard.scripted("demo", [{"token": "Hello"}])).text
        'Hello'
    """
    found = parse(script)
    if not found:
        raise Invalid(f"Agent {name}: a script has at least one entry.")
    return declare(name, "scripted", script=found, description=description, samples=samples, chat=chat)
