"""The result of a run in a test: its events, and what can be read off them."""

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from msgspec import Struct

from runyard.base.json_schema import convert
from runyard.domain.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    ModelThinking,
    RunError,
    RunFinished,
    RunOutput,
    StepFinished,
    ToolFinished,
    ToolOutput,
    ToolRequested,
    ToolStarted,
    Usage,
)

T = TypeVar("T")


class AskedApproval(Struct, frozen=True):
    """An approval that the agent asked for.

    `kind` is `tool` for a tool call, `question` for `ctx.request_approval`, and `unknown_outcome` for a call that may
    or may not have taken effect. `name` is the name of the tool, or the text of the question. `decision` is None while
    the approval is pending.

    Example:
        >>> @runyard.agent
        ... async def cleaner(ctx: runyard.Context) -> None:
        ...     await ctx.request_approval("Delete it?", folder="/tmp")
        >>> asked = run_agent_sync(cleaner, decisions={"Delete it?": True}).approvals[0]
        >>> asked.kind, asked.name, asked.decision
        ('question', 'Delete it?', 'approved')
    """

    kind: Literal["tool", "question", "unknown_outcome"]
    name: str
    tool: str
    input: dict[str, Any]
    approval_id: str
    decision: str | None = None


class ToolCall(Struct, frozen=True):
    """A call of a tool: its effective input, its output, the code of its error, and the output that it streamed.

    Example:
        >>> @runyard.tool
        ... def add(a: int, b: int) -> int:
        ...     return a + b
        >>> @runyard.agent
        ... async def adder(ctx: runyard.Context) -> str:
        ...     return str(await ctx.call(add, 1, 2))
        >>> call = run_agent_sync(adder).tool_calls[0]
        >>> call.tool, call.input, call.output
        ('add', {'a': 1, 'b': 2}, 3)
    """

    tool: str
    input: Any
    output: Any = None
    error: str | None = None
    streamed: str = ""


class RecordedStep(Struct, frozen=True):
    """A step of an agent or a node of a plan: its name, its result, and the class of the error that it raised.

    Example:
        >>> def price(item: str) -> float:
        ...     return 9.5
        >>> @runyard.agent
        ... async def shop(ctx: runyard.Context) -> None:
        ...     await ctx.step("price", price, "tea")
        >>> step = run_agent_sync(shop).steps[0]
        >>> step.name, step.result, step.error
        ('price', 9.5, None)
    """

    name: str
    result: Any = None
    error: str | None = None


class RunFailure(Struct, frozen=True):
    """The error that ended a run: a code, a message, and the traceback of the agent's own code if it raised.

    Example:
        >>> @runyard.agent
        ... async def careless(ctx: runyard.Context) -> None:
        ...     raise KeyError("price")
        >>> run_agent_sync(careless).error.code
        'agent_error'
    """

    code: str
    message: str
    traceback: str | None = None


class ResultFile(Struct, frozen=True):
    """A file of the answer: its name, media type and bytes.

    Example:
        >>> @runyard.agent
        ... async def reporter(ctx: runyard.Context) -> None:
        ...     await ctx.attach("report.txt", b"All is well.", "text/plain")
        >>> file = run_agent_sync(reporter).files[0]
        >>> file.name, file.type, file.data
        ('report.txt', 'text/plain', b'All is well.')
    """

    name: str
    type: str
    data: bytes


class RunResult(Struct, frozen=True):
    """The result of a run: everything that a client of a server could see.

    `events` is the whole log. `text`, `sources`, `outputs` and `files` are the answer; `error` is None unless the
    run failed.

    Example:
        >>> @runyard.agent
        ... async def judge(ctx: runyard.Context) -> runyard.Output:
        ...     return runyard.Output("Looks fine.", outputs={"score": 0.9})
        >>> result = run_agent_sync(judge, "Rate this.")
        >>> result.status, result.text, result.outputs
        ('done', 'Looks fine.', {'score': 0.9})
    """

    events: Sequence[Event]
    status: Literal["done", "error", "canceled"]
    stop_reason: str
    text: str
    sources: Sequence[str]
    outputs: dict[str, Any]
    thinking: str
    steps: Sequence[RecordedStep]
    tool_calls: Sequence[ToolCall]
    approvals: Sequence[AskedApproval]
    error: RunFailure | None
    usage: Usage
    files: Sequence[ResultFile] = ()

    def answer_as(self, answer: type[T]) -> T:
        """Return the structured answer of an agent with `answer`.

        Args:
            answer: The type of the answer: the one that the agent declares, or any other that fits.

        Raises:
            Invalid: If the outputs of the run do not fit the type.

        Example:
            >>> import msgspec
            >>> class Score(msgspec.Struct):
            ...     score: float
            >>> @runyard.agent
            ... async def judge(ctx: runyard.Context) -> runyard.Output:
            ...     return runyard.Output(outputs={"score": 0.9})
            >>> run_agent_sync(judge).answer_as(Score)
            Score(score=0.9)
        """
        value: T = convert(answer, self.outputs)
        return value


def asked_in(events: Sequence[Event]) -> list[AskedApproval]:
    """Return the approvals that these events ask for, in order, with the decisions that they hold."""
    payloads = [event.payload for event in events if event.type in ("approval.requested", "approval.decided")]
    decisions = {one.approval_id: one.decision for one in payloads if isinstance(one, ApprovalDecided)}
    return [
        AskedApproval(
            kind=one.kind,
            name=one.input["question"] if one.kind == "question" else one.tool,
            tool=one.tool,
            input=one.input,
            approval_id=one.approval_id,
            decision=decisions.get(one.approval_id),
        )
        for one in payloads
        if isinstance(one, ApprovalRequested)
    ]


def result_of(events: Sequence[Event]) -> RunResult:
    """Read the result off the log of a run that has ended."""
    payloads = [event.payload for event in events]
    output = next((one for one in payloads if isinstance(one, RunOutput)), RunOutput(""))
    failed = next((one for one in payloads if isinstance(one, RunError)), None)
    ended = payloads[-1]
    assert isinstance(ended, RunFinished)
    return RunResult(
        events=events,
        status=ended.status,
        stop_reason=ended.stop_reason,
        text=output.text,
        sources=output.sources,
        outputs=output.outputs,
        thinking="".join(one.text for one in payloads if isinstance(one, ModelThinking)),
        steps=[RecordedStep(one.name, one.result, one.error) for one in payloads if isinstance(one, StepFinished)],
        tool_calls=_calls_in(payloads),
        approvals=asked_in(events),
        error=None if failed is None else RunFailure(failed.code, failed.message, failed.traceback),
        usage=ended.usage or Usage(),
    )


def _calls_in(payloads: Sequence[object]) -> list[ToolCall]:
    inputs: dict[str, tuple[str, Any]] = {}
    streamed: dict[str, str] = {}
    ends: dict[str, ToolFinished] = {}
    for one in payloads:
        if isinstance(one, ToolRequested | ToolStarted):
            inputs[one.call_id] = (one.tool, one.input)
        elif isinstance(one, ToolOutput):
            streamed[one.call_id] = streamed.get(one.call_id, "") + one.text
        elif isinstance(one, ToolFinished):
            ends[one.call_id] = one
    calls = []
    for call_id, (tool, given) in inputs.items():
        end = ends.get(call_id)
        output, error = (None, None) if end is None else (end.output, end.error)
        calls.append(ToolCall(tool, given, output, error, streamed.get(call_id, "")))
    return calls
