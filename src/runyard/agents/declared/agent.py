"""The agent that a user declares, and the answer that it returns.

An `Agent` is a declaration. It is checked when it is made and never changes; the runners in `agents/kinds/*/runner.py`
know how each kind is run. `Agent(name, model=...)` declares an agent that asks a model; `kinds.py` and `frameworks.py`
have one constructor for each other kind. All of them fill the same object (`declare`).
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, get_args

import msgspec

from runyard.agents.declared.answer_format import AnswerFormat
from runyard.agents.declared.claude import Claude
from runyard.agents.declared.functions import source
from runyard.agents.declared.graph import Graph
from runyard.agents.declared.model_settings import ContextMode, ModelSettings
from runyard.agents.declared.nodes import Node
from runyard.agents.declared.remote import Remote
from runyard.agents.declared.script import Script
from runyard.agents.declared.wrapped import Wrapped
from runyard.agents.tools.sources import ToolSource
from runyard.agents.tools.tool import Tool
from runyard.agents.tools.waiting_tools import AgentTool
from runyard.base.json_schema import SchemaSource
from runyard.domain.content.parts import File
from runyard.errors import Invalid
from runyard.models.scripted import Turns

Kind = Literal["python", "scripted", "plan", "model", "remote", "claude", "langgraph", "pydantic_ai", "openai_agents"]
WhileWaiting = Literal["hold", "yield"]
OnCodeChange = Literal["continue", "error"]
OnUnknown = Literal["ask", "fail"]


class Output(msgspec.Struct, frozen=True):
    """The answer of a run. An agent function returns it when it has more to say than text.

    Args:
        text: The whole answer. If it is empty, the tokens that the agent wrote are the answer.
        sources: The ids of the documents that the answer rests on.
        outputs: Further results by name. Values are JSON.
        files: The files of the answer. The default is all files that `ctx.attach` stored, outside tools.

    Example:
        >>> @runyard.agent
        ... async def judge(ctx: runyard.Context) -> runyard.Output:
        ...     return runyard.Output("Looks fine.", sources=["cv_1"], outputs={"score": 0.9})
        >>> run_agent_sync(judge, "Rate this.").outputs
        {'score': 0.9}
    """

    text: str = ""
    sources: Sequence[str] = ()
    outputs: Mapping[str, Any] = {}
    files: Sequence[File] | None = None


# `async def f(ctx: Context)`. Not spelled out: `context` imports this module, and nothing here imports in a circle.
AgentFunction: TypeAlias = Callable[[Any], Awaitable[Output | str | None]]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)


class AgentOptions(TypedDict, total=False):
    """The options that several kinds of agents share."""

    instructions: str
    tools: "Sequence[Tool[..., Any] | ToolSource | Agent]"
    description: str
    while_waiting: WhileWaiting
    on_code_change: OnCodeChange
    on_unknown: OnUnknown
    max_seconds: float | None
    task_type: str | None
    shared: bool
    samples: Sequence[str]
    chat: bool | None


class Agent:
    """An agent that asks a language model. The functions `agent`, `plan`, `remote`, `claude`, `langgraph`,
    `pydantic_ai`, `openai_agents` and `scripted` make the other kinds.

    The model reads the instructions and the earlier runs of the thread, and may call the tools. One run asks the model
    at most `max_turns` times, and stops asking once it reaches `max_usd` or `max_output_tokens`.

    Args:
        name: The name by which clients choose the agent: 1 to 64 letters, digits, `-`, `_` or `.`.
        model: A name that litellm knows, such as `"openai/gpt-5-mini"`, or `"scripted"` with `turns`.
        turns: The answers of the model `"scripted"`: a list of turns, or a function of the conversation.
        instructions: The system prompt.
        description: What the agent does, in a sentence: for people, and for models that use it as a tool.
        tools: Functions decorated with `runyard.tool`, client tools, tool servers (`runyard.mcp`), and other agents,
            which then work in child runs.
        answer: The type of the answer: a pydantic model, a msgspec struct, or a JSON Schema of an object. The model is
            asked for it, and an answer that does not fit is corrected once or ends the run as `invalid_answer`. The
            value is in the `outputs` of the run.
        model_options: Options that litellm passes to the provider, such as `{"temperature": 0}`.
        max_turns: How often one run may ask the model.
        max_usd: How much one run may spend.
        max_output_tokens: How many tokens the model may write in one run.
        max_context_tokens: How many tokens one question to the model may have.
        history: How many earlier runs of the thread the model reads word for word, at most 200.
        context: What happens to older messages that do not fit: `"summarize"` has the model fold them into a summary,
            which later runs use too; `"drop"` leaves out the oldest runs.
        while_waiting: `"hold"` lets later messages of the thread wait while this run waits for an approval; `"yield"`
            lets them run.
        on_code_change: What happens to a run that resumes after the agent's code has changed: `"continue"` or
            `"error"`.
        on_unknown: What happens to a tool with effects `"once"` that had started when its worker died: `"ask"` a
            person, or `"fail"` the run.
        max_seconds: How long one execution may take. The time in which a run waits for people does not count.
        task_type: The task type of the agent contract that this agent does, besides its own name.
        shared: Whether all owners share the agent's memory and mailbox. By default each owner has its own.
        samples: Questions that the page offers to begin with.
        chat: Whether the page offers the agent for chats. The default is True, and False with a `task_type`. Set it to
            False for an agent of channels only.

    Raises:
        Invalid: If an option is wrong. The message names the option.

    Example:
        >>> helper = runyard.Agent("helper", model="scripted", turns=[{"text": "Hello."}], instructions="Be kind.")
        >>> run_agent_sync(helper, "Hi").text
        'Hello.'

        With a structured answer:

        >>> import msgspec
        >>> class Invoice(msgspec.Struct):
        ...     number: str
        ...     total: float
        >>> turns = [{"text": '{"number": "A-17", "total": 99.5}'}]
        >>> clerk = runyard.Agent("clerk", model="scripted", turns=turns, answer=Invoice)
        >>> result = run_agent_sync(clerk, "Invoice A-17: 99.50 EUR")
        >>> result.outputs["total"]
        99.5
        >>> result.answer_as(Invoice)
        Invoice(number='A-17', total=99.5)
    """

    name: str
    kind: Kind
    instructions: str
    description: str
    tools: tuple[Tool[..., Any], ...]
    sources: tuple[ToolSource, ...]
    helpers: "tuple[Agent, ...]"
    while_waiting: WhileWaiting
    on_code_change: OnCodeChange
    on_unknown: OnUnknown
    max_seconds: float | None
    task_type: str | None
    shared: bool
    samples: tuple[str, ...]
    chat: bool
    fn: AgentFunction | None = None
    script: Script = ()
    plan: tuple[Node, ...] = ()
    model_settings: ModelSettings | None = None
    answer: AnswerFormat | None = None
    remote: Remote | None = None
    claude: Claude | None = None
    graph: Graph | None = None
    wrapped: Wrapped | None = None

    def __init__(
        self,
        name: str,
        *,
        model: str,
        turns: Turns = (),
        instructions: str = "",
        description: str = "",
        tools: "Sequence[Tool[..., Any] | ToolSource | Agent]" = (),
        answer: SchemaSource | None = None,
        model_options: Mapping[str, Any] | None = None,
        max_turns: int = 5,
        max_usd: float = 0.10,
        max_output_tokens: int | None = None,
        max_context_tokens: int | None = None,
        history: int = 20,
        context: ContextMode = "summarize",
        while_waiting: WhileWaiting = "hold",
        on_code_change: OnCodeChange = "continue",
        on_unknown: OnUnknown = "ask",
        max_seconds: float | None = None,
        task_type: str | None = None,
        shared: bool = False,
        samples: Sequence[str] = (),
        chat: bool | None = None,
    ) -> None:
        self.answer = None if answer is None else AnswerFormat(answer)
        self.model_settings = ModelSettings(
            model=model,
            turns=turns,
            options=dict(model_options or {}),
            max_turns=max_turns,
            max_usd=max_usd,
            max_output_tokens=max_output_tokens,
            max_context_tokens=max_context_tokens,
            history=history,
            context=context,
        )
        _fill(
            self,
            name,
            "model",
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

    def __repr__(self) -> str:
        return f"Agent({self.name!r}, kind={self.kind!r})"

    @cached_property
    def version(self) -> str:
        """Twelve hex digits that change when the agent's source, script, plan, model or instructions change.

        Example:
            >>> len(runyard.Agent("helper", model="scripted", turns=[{"text": "Hello."}]).version)
            12
        """
        if self.model_settings is not None:
            made_of = self.model_settings.digest(self.instructions, self.tools)
            made_of += b"" if self.answer is None else msgspec.json.encode(self.answer.schema)
        elif self.remote is not None:
            made_of = self.remote.digest
        elif self.claude is not None:
            made_of = self.claude.digest(self.instructions)
        elif self.graph is not None:
            made_of = self.graph.digest
        elif self.wrapped is not None:
            made_of = self.wrapped.digest()
        elif self.kind == "plan":
            made_of = b"".join(node.digest for node in self.plan)
        else:
            made_of = msgspec.json.encode(self.script) if self.fn is None else source(self.fn)
        return sha256(made_of).hexdigest()[:12]


def declare(
    name: str,
    kind: Kind,
    *,
    fn: AgentFunction | None = None,
    script: Script = (),
    plan: tuple[Node, ...] = (),
    remote: Remote | None = None,
    claude: Claude | None = None,
    graph: Graph | None = None,
    wrapped: Wrapped | None = None,
    **options: Unpack[AgentOptions],
) -> Agent:
    """Make an agent of any kind. The constructors of the kinds have checked the kind's own arguments."""
    made = Agent.__new__(Agent)
    made.fn, made.script, made.plan = fn, script, plan
    made.remote, made.claude, made.graph, made.wrapped = remote, claude, graph, wrapped
    _fill(made, name, kind, **options)
    return made


def _fill(agent: Agent, name: str, kind: Kind, **options: Unpack[AgentOptions]) -> None:
    """Check the options that all kinds share and put them on the agent."""
    agent.name = checked_name(name)
    agent.kind = kind
    agent.instructions = options.get("instructions", "")
    agent.description = options.get("description", "")
    agent.helpers = tuple(one for one in options.get("tools", ()) if isinstance(one, Agent))
    tools = [_as_tool(one) if isinstance(one, Agent) else one for one in options.get("tools", ())]
    agent.sources = tuple(one for one in tools if isinstance(one, ToolSource))
    agent.tools = _checked_tools([one for one in tools if not isinstance(one, ToolSource)])
    agent.while_waiting = _one_of("while_waiting", options.get("while_waiting", "hold"), WhileWaiting)
    agent.on_code_change = _one_of("on_code_change", options.get("on_code_change", "continue"), OnCodeChange)
    agent.on_unknown = _one_of("on_unknown", options.get("on_unknown", "ask"), OnUnknown)
    agent.max_seconds = options.get("max_seconds")
    if agent.max_seconds is not None and agent.max_seconds <= 0:
        raise Invalid("max_seconds must be more than 0.")
    task_type = options.get("task_type")
    agent.task_type = None if task_type is None else checked_name(task_type, "A task type")
    agent.shared = options.get("shared", False)
    agent.samples = _checked_samples(options.get("samples", ()))
    chat = options.get("chat")
    agent.chat = agent.task_type is None if chat is None else chat


def _checked_samples(samples: Sequence[str]) -> tuple[str, ...]:
    if isinstance(samples, str) or not all(str(each).strip() for each in samples):
        raise Invalid("samples must be a list of questions.")
    return tuple(samples)


def _as_tool(agent: Agent) -> Tool[..., Any]:
    return AgentTool(agent.name, agent.description or f"Ask the agent {agent.name}.")


def summary(agent: Agent) -> str:
    """Return what the agent does: its description, or the first line of its function's docstring."""
    documented = (agent.fn.__doc__ or "").strip() if agent.fn is not None else ""
    return agent.description or documented.partition("\n")[0] or f"The agent {agent.name}."


async def equipped(agent: Agent, client_tools: Sequence[Tool[..., Any]] = ()) -> Agent:
    """Return the agent with the tools of its sources, and those that a client supplied. Sources that have not been
    listed yet are listed now. A client's tool does not replace a tool of the agent."""
    if not agent.sources and not client_tools:
        return agent
    listed = await asyncio.gather(*(source.tools() for source in agent.sources))
    full = copy(agent)
    own = [*agent.tools, *(tool for tools in listed for tool in tools)]
    names = {tool.name for tool in own}
    full.tools = _checked_tools([*own, *(tool for tool in client_tools if tool.name not in names)])
    return full


def checked_name(name: object, what: str = "An agent's name") -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Invalid(f"{what} has 1 to 64 letters, digits or any of - _ . and nothing else.")
    return name


def _checked_tools(tools: Sequence[Tool[..., Any]]) -> tuple[Tool[..., Any], ...]:
    if not all(isinstance(tool, Tool) for tool in tools):
        raise Invalid("The tools of an agent are functions decorated with @runyard.tool.")
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise Invalid("Two tools of an agent have the same name; rename one.")
    return tuple(tools)


def _one_of(option: str, value: Any, choices: Any) -> Any:
    if value not in get_args(choices):
        raise Invalid(f"{option} must be one of {', '.join(get_args(choices))}.")
    return value
