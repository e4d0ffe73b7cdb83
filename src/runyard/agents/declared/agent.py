"""What a user declares: an agent, and what it answers.

An `Agent` is a declaration, checked when it is made and never changed; runners (`runners/`) know how its kind is run.
The decorator `agent` turns `async def f(ctx)` into one, `plan` a list of nodes; `Agent(name, model=...)` is one that
thinks, `claude` one that Claude Agent SDK runs, `remote` one behind the agent contract. Its `version` changes when its
source does.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, get_args, overload

import msgspec

from runyard.agents.declared.claude import Claude
from runyard.agents.declared.functions import check_function, source
from runyard.agents.declared.model_settings import ModelSettings
from runyard.agents.declared.nodes import Node, checked
from runyard.agents.declared.remote import Remote
from runyard.agents.declared.script import Script, parse
from runyard.agents.tools.sources import ToolSource
from runyard.agents.tools.tool import Effects, Tool
from runyard.contract.timeouts import Timeouts
from runyard.errors import Invalid
from runyard.models.scripted import Turns

Kind = Literal["python", "scripted", "plan", "model", "remote", "claude"]
WhileWaiting = Literal["hold", "yield"]
OnCodeChange = Literal["continue", "error"]
OnUnknown = Literal["ask", "fail"]


class Output(msgspec.Struct, frozen=True):
    """The answer of a run: its text, the ids of what it rests on, and anything else (JSON) by name."""

    text: str = ""
    sources: Sequence[str] = ()
    outputs: Mapping[str, Any] = {}


# `async def f(ctx: Context)`. Not spelled out: `context` imports this module, and nothing here imports in a circle.
AgentFunction: TypeAlias = Callable[[Any], Awaitable[Output | str | None]]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)


class Agent:
    """Who answers. A python agent has a function `fn`, a scripted one a `script` (see `script.py`), a plan agent a
    `plan` of nodes (see `nodes.py`), and one that thinks a `model`: a name that litellm knows, such as
    "openai/gpt-5-mini", or "scripted" with its `turns` (see `models/scripted.py`).

    A model is told the `instructions` and what the last `history` runs of the thread said, and may call the `tools`.
    It is asked at most `max_turns` times, and not again once `max_usd`, `max_output_tokens` (of the run) or
    `max_context_tokens` (of one question) are reached; `model_options` go to litellm as they are.

    `while_waiting`: whether a run that waits for a person holds its lane. `on_unknown`: what happens to a `once` call
    that may or may not have taken effect. `max_seconds`: how long one execution may take; waiting for people does not
    count. `task_type`: which tasks of the agent contract it does, beside those of its own name. `shared`: whether its
    memory and its mailbox in conversations are common to all owners; otherwise each owner has its own.
    """

    def __init__(
        self,
        name: str,
        *,
        kind: Kind | None = None,
        fn: AgentFunction | None = None,
        script: Sequence[Mapping[str, Any]] = (),
        plan: Sequence[Node] = (),
        model: str | None = None,
        turns: Turns = (),
        remote: Remote | None = None,
        claude: Claude | None = None,
        model_options: Mapping[str, Any] | None = None,
        max_turns: int = 5,
        max_usd: float = 0.10,
        max_output_tokens: int | None = None,
        max_context_tokens: int | None = None,
        history: int = 20,
        instructions: str = "",
        tools: Sequence[Tool[..., Any] | ToolSource] = (),
        while_waiting: WhileWaiting = "hold",
        on_code_change: OnCodeChange = "continue",
        on_unknown: OnUnknown = "ask",
        max_seconds: float | None = None,
        task_type: str | None = None,
        shared: bool = False,
    ) -> None:
        self.name = _checked_name(name)
        self.shared = shared
        self.task_type = None if task_type is None else _checked_name(task_type, "A task type")
        self.kind: Kind = _one_of("kind", kind or ("python" if model is None else "model"), Kind)
        self.fn = fn
        self.script: Script = parse(script)
        self.plan: tuple[Node, ...] = checked(plan)
        self.instructions = instructions
        self.sources = tuple(source for source in tools if isinstance(source, ToolSource))
        self.tools = _checked_tools([tool for tool in tools if not isinstance(tool, ToolSource)])
        self.while_waiting: WhileWaiting = _one_of("while_waiting", while_waiting, WhileWaiting)
        self.on_code_change: OnCodeChange = _one_of("on_code_change", on_code_change, OnCodeChange)
        self.on_unknown: OnUnknown = _one_of("on_unknown", on_unknown, OnUnknown)
        self.max_seconds = max_seconds
        if max_seconds is not None and max_seconds <= 0:
            raise Invalid("max_seconds must be more than 0.")
        self.remote = remote
        if (self.kind == "remote") != (remote is not None):
            raise Invalid(f"Agent {name}: a remote agent is made with runyard.remote.")
        self.claude = claude
        if (self.kind == "claude") != (claude is not None):
            raise Invalid(f"Agent {name}: a claude agent is made with runyard.claude.")
        if self.kind == "python":
            check_function(fn, "agent")
        if (self.kind == "scripted") != bool(script):
            raise Invalid(f"Agent {name}: a scripted agent has a script, and only a scripted one does.")
        if (self.kind == "plan") != bool(plan):
            raise Invalid(f"Agent {name}: a plan agent has a plan of at least one node, and only a plan agent does.")
        if (self.kind == "model") != (model is not None) or (model is not None and fn is not None):
            raise Invalid(f"Agent {name}: an agent that thinks has a model, and only such an agent does.")
        self.model_settings: ModelSettings | None = None
        if model is not None:
            self.model_settings = ModelSettings(
                model=model,
                turns=turns,
                options=dict(model_options or {}),
                max_turns=max_turns,
                max_usd=max_usd,
                max_output_tokens=max_output_tokens,
                max_context_tokens=max_context_tokens,
                history=history,
            )

    def __repr__(self) -> str:
        return f"Agent({self.name!r}, kind={self.kind!r})"

    @cached_property
    def version(self) -> str:
        """Twelve hex digits that change when what the agent is made of does: source, script, plan, or instructions."""
        if self.model_settings is not None:
            made_of = self.model_settings.digest(self.instructions, self.tools)
        elif self.remote is not None:
            made_of = self.remote.digest
        elif self.claude is not None:
            made_of = self.claude.digest(self.instructions)
        elif self.kind == "plan":
            made_of = b"".join(node.digest for node in self.plan)
        else:
            made_of = msgspec.json.encode(self.script) if self.fn is None else source(self.fn)
        return sha256(made_of).hexdigest()[:12]


async def equipped(agent: Agent) -> Agent:
    """The agent with the tools of its sources, which are asked now if they were not before. What a run gets."""
    if not agent.sources:
        return agent
    listed = await asyncio.gather(*(source.tools() for source in agent.sources))
    full = copy(agent)
    full.tools = _checked_tools([*agent.tools, *(tool for tools in listed for tool in tools)])
    return full


class AgentOptions(TypedDict, total=False):
    name: str
    instructions: str
    tools: Sequence[Tool[..., Any] | ToolSource]
    while_waiting: WhileWaiting
    on_code_change: OnCodeChange
    on_unknown: OnUnknown
    max_seconds: float | None
    task_type: str | None
    shared: bool


@overload
def agent(fn: AgentFunction, /) -> Agent: ...
@overload
def agent(**options: Unpack[AgentOptions]) -> Callable[[AgentFunction], Agent]: ...
def agent(
    fn: AgentFunction | None = None, /, **options: Unpack[AgentOptions]
) -> Agent | Callable[[AgentFunction], Agent]:
    """Make an agent of an `async def f(ctx)`: `@agent`, or `@agent(name="...", while_waiting="yield")`."""

    def declare(fn: AgentFunction) -> Agent:
        check_function(fn, "agent")
        rest = options.copy()
        name = rest.pop("name", None)
        return Agent(getattr(fn, "__name__", "") if name is None else name, fn=fn, **rest)  # type: ignore[misc]

    return declare if fn is None else declare(fn)


def plan(
    name: str,
    nodes: Sequence[Node],
    *,
    while_waiting: WhileWaiting = "hold",
    on_code_change: OnCodeChange = "continue",
    on_unknown: OnUnknown = "ask",
    max_seconds: float | None = None,
    task_type: str | None = None,
) -> Agent:
    """Make an agent of a list of nodes, which are done one after another: `plan("device", [Node("Ping", ping)])`."""
    return Agent(
        name,
        kind="plan",
        plan=nodes,
        while_waiting=while_waiting,
        on_code_change=on_code_change,
        on_unknown=on_unknown,
        max_seconds=max_seconds,
        task_type=task_type,
    )


def remote(
    name: str,
    *,
    url: str,
    task_type: str,
    effects: Effects = "once",
    allow: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
    timeouts: Timeouts | None = None,
    message_as: str = "query",
    labels: Mapping[str, str] | None = None,
    while_waiting: WhileWaiting = "hold",
    on_unknown: OnUnknown = "ask",
    max_seconds: float | None = None,
) -> Agent:
    """Make an agent of a service that speaks the agent contract: `remote("lit", url=..., task_type="LIT_RETRIEVAL")`.

    `effects`: what doing the task twice would do; `allow`: networks that may be called though they are not public, such
    as "127.0.0.1"; `headers` go with every request and may hold a key; a message that is no task is the input
    `message_as`."""
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
    return Agent(
        name,
        kind="remote",
        remote=service,
        while_waiting=while_waiting,
        on_unknown=on_unknown,
        max_seconds=max_seconds,
    )


def claude(
    name: str,
    *,
    model: str,
    instructions: str = "",
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
) -> Agent:
    """Make an agent that Claude Agent SDK runs: `claude("clerk", model="claude-sonnet-5", instructions="...")`.

    `sessions`: whether a run in a conversation goes on where the last one there ended; the SDK keeps that in files.
    `environment` is that of the SDK's process and may hold a key; otherwise it is the one of this process."""
    told = Claude(
        model=model, max_turns=max_turns, max_usd=max_usd, sessions=sessions, environment=dict(environment or {})
    )
    return Agent(
        name,
        kind="claude",
        claude=told,
        instructions=instructions,
        tools=tools,
        while_waiting=while_waiting,
        on_unknown=on_unknown,
        max_seconds=max_seconds,
        task_type=task_type,
        shared=shared,
    )


def _checked_name(name: object, what: str = "An agent's name") -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Invalid(f"{what} has 1 to 64 letters, digits or any of - _ . and nothing else.")
    return name


def _checked_tools(tools: Sequence[Tool[..., Any]]) -> tuple[Tool[..., Any], ...]:
    if not all(isinstance(tool, Tool) for tool in tools):
        raise Invalid("The tools of an agent are functions decorated with @runyard.tool.")
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise Invalid("Two tools of an agent have the same name.")
    return tuple(tools)


def _one_of(option: str, value: Any, choices: Any) -> Any:
    if value not in get_args(choices):
        raise Invalid(f"{option} must be one of {', '.join(get_args(choices))}.")
    return value
