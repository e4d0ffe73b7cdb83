"""Every error Runyard raises on purpose. The class docstring is the default message.

    RunyardError
    ├── KeyRequired               401  nobody knows who is asking
    ├── ScopeMissing              403  the key is not for that
    ├── NotFound                  404  nothing of yours has that id
    ├── Gone                      410  it was there, and was dropped when it was old
    ├── Invalid                   422  the request does not say something we can do
    │   ├── BadRequest            400  it cannot even be read
    │   ├── InvalidInput               what a tool is to be called with does not fit
    │   └── TooLarge              413
    ├── Conflict                  409
    │   ├── KeyReused                  one Idempotency-Key, two different requests
    │   ├── RunActive                  the run (or thread) is still at work
    │   ├── AlreadyDecided             somebody decided this approval first
    │   │   └── RunEnded               the run that asked has ended
    │   └── Sealed                     what is sealed cannot be searched
    ├── TooMany                   429  a limit is reached; try again later
    │   ├── TooManyRequests            of one API key, in a short time
    │   ├── TooManyStreams             open at once, of one API key or at this process
    │   └── QueueFull                  too many runs wait already
    ├── Unavailable               503  the database is away; try again
    ├── Unreadable                500  a stored value does not open with the keys at hand
    ├── WriteRefused                   an append that must not happen (engine only)
    │   ├── Fenced                     another owner has the run now
    │   ├── CancelRequested            finish as canceled instead
    │   ├── NotParked                  a decision came first: carry on
    │   └── NonMonotonicSeq            the expected seq is not the next one
    ├── AgentError                     what ends a run as `error`
    │   ├── InvalidTask                the inputs of a task do not fit
    │   ├── EventTooLarge              what the agent wrote is larger than an event may be
    │   ├── AnswerTooLarge             the whole answer is larger than an answer may be
    │   ├── BlockedLoop                the agent did not await for too long, and was interrupted
    │   ├── WrongThread                a context was used outside of the thread that runs the agent
    │   ├── Nondeterministic           a replay took another path than the record
    │   ├── NestedCall                 a step or a tool made a recorded call of its own
    │   ├── ResultNotJson              a step or a tool returned something that has no JSON
    │   ├── StepFailed                 a recorded step raised
    │   │   └── ToolFailed             a tool raised, or took too long
    │   │       ├── Rejected           a person said no to the call
    │   │       └── ToolError          raised by a tool, in words that are meant for the model
    │   │           ├── CalledTooOften it was called too often in this run
    │   │           ├── NoSandbox      code cannot be run safely on this machine, so it is not run
    │   │           ├── ServerGone     the server that has it does not answer
    │   │           └── RemoteFailed   a remote agent gave no result: it said so
    │   │               ├── RemoteUnavailable  it cannot be reached, or does not work
    │   │               ├── RemoteNotAllowed   its address is private, and was not allowed
    │   │               ├── RemoteTimedOut     it took too long
    │   │               └── RemoteBroken       its answer was cut off, or is none of the contract
    │   ├── NodeFailed                 a node of a plan raised
    │   │   └── NodeTimedOut           it took longer than it may
    │   ├── UnknownOutcome             a `once` call began, and nobody knows whether it took effect
    │   └── ModelError                 the model gave no answer
    │       ├── ModelUnavailable       it could not be reached, or its answer was cut off
    │       │   ├── ModelTimedOut      it was silent for too long
    │       │   └── RateLimited        it wants fewer requests
    │       ├── ModelRefused           it does not take this request: a bad key, a bad parameter
    │       └── ContextTooLong         the conversation does not fit into its window
    └── StartupError                   one sentence for the terminal, exit code 2

The core knows no HTTP: `web/problems.py` holds the one table that turns these into status codes. A message never
repeats what a client or a model sent.
"""

from typing import Any, ClassVar


class RunyardError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str | None = None) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        super().__init__(self.message)


class KeyRequired(RunyardError):
    """A valid API key is needed: send `Authorization: Bearer <key>`. `runyard keys create` makes one."""

    code = "key_required"


class ScopeMissing(RunyardError):
    """The API key is not for that."""

    code = "scope_missing"


class NotFound(RunyardError):
    """There is nothing with that id."""

    code = "not_found"


class Gone(RunyardError):
    """It is so old that it was dropped."""

    code = "gone"

    # snapshot: what is still known of it, without content
    def __init__(self, message: str | None = None, *, snapshot: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.snapshot = snapshot


class Invalid(RunyardError):
    """The request is not valid."""

    code = "invalid"


class BadRequest(Invalid):
    """The request cannot be read."""

    code = "bad_request"


class InvalidInput(Invalid):
    """The input of the tool does not fit."""

    code = "invalid_input"


class TooLarge(Invalid):
    """The request is too large."""

    code = "too_large"


class Conflict(RunyardError):
    """The request conflicts with what is already there."""

    code = "conflict"


class KeyReused(Conflict):
    """This Idempotency-Key was used for a different request."""

    code = "idempotency_key_reused"


class RunActive(Conflict):
    """The run has not ended yet; cancel it or wait."""

    code = "run_active"


class AlreadyDecided(Conflict):
    """This approval has been decided already."""

    code = "already_decided"


class RunEnded(AlreadyDecided):
    """The run has ended; there is nothing left to decide."""

    code = "run_ended"


class Sealed(Conflict):
    """What is sealed cannot be searched."""

    code = "sealed"


class TooMany(RunyardError):
    """A limit is reached; try again later."""

    code = "too_many"

    def __init__(self, message: str | None = None, *, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooManyRequests(TooMany):
    """This API key is used too often; try again in a moment."""

    code = "too_many_requests"


class TooManyStreams(TooMany):
    """Too many streams are open."""

    code = "too_many_streams"


class QueueFull(TooMany):
    """Too many runs wait already; try again when some have ended."""

    code = "queue_full"


class Unavailable(RunyardError):
    """The database is not available; try again in a moment."""

    code = "unavailable"


class ClockAhead(Unavailable):
    """The clock of this server is ahead of the database's clock. Set the server's clock (NTP)."""

    code = "clock_ahead"


class DiskFull(Unavailable):
    """Disk full: the database has no room to write. Free or add space; the server then goes on by itself."""

    code = "disk_full"


class Unreadable(RunyardError):
    """A stored value cannot be opened: it was changed, moved, or sealed with another key."""

    code = "unreadable"


class WriteRefused(RunyardError):
    """The write was refused."""

    code = "refused"


class Fenced(WriteRefused):
    """Another worker owns this run now."""

    code = "fenced"


class CancelRequested(WriteRefused):
    """The run is to be canceled."""

    code = "cancel_requested"


class NotParked(WriteRefused):
    """A decision arrived before the run could park."""

    code = "not_parked"


class NonMonotonicSeq(WriteRefused):
    """The expected seq is not the next one of the log."""

    code = "non_monotonic_seq"


class AgentError(RunyardError):
    """The agent failed."""

    code = "agent_error"


class InvalidTask(AgentError):
    """The inputs of the task do not fit."""

    code = "validation_error"

    # fields: the names of the inputs that are missing or wrong. What is not a name is not repeated
    def __init__(self, *fields: str) -> None:
        names = ", ".join(field for field in fields if field.isascii() and field.replace(".", "_").isidentifier())
        super().__init__(f"The inputs of the task do not fit: {names}." if names else None)


class EventTooLarge(AgentError):
    """What the agent wrote is larger than an event may be."""

    code = "event_too_large"

    def __init__(self, most: int | None = None) -> None:
        hint = "Write less at once, or raise RUNYARD_MAX_EVENT_BYTES."
        super().__init__(None if most is None else f"The agent wrote an event of more than {most} bytes. {hint}")


class AnswerTooLarge(AgentError):
    """The answer is larger than an answer may be."""

    code = "answer_too_large"

    def __init__(self, most: int | None = None) -> None:
        hint = "Answer with less, or raise RUNYARD_MAX_ANSWER_BYTES."
        super().__init__(None if most is None else f"The answer has more than {most} bytes. {hint}")


class BlockedLoop(AgentError):
    """The agent blocked the event loop for too long. Await in it, or call blocking code in a plain function."""

    code = "blocked_loop"

    # seconds: how long the loop stood still
    def __init__(self, seconds: float | None = None) -> None:
        said = "Await in it, or call blocking code by `ctx.step` or as a tool that is a plain function."
        super().__init__(None if seconds is None else f"The agent blocked the event loop for {seconds:g} s. {said}")


class WrongThread(AgentError):
    """The context was used in another thread than the agent's. Use `asyncio.run_coroutine_threadsafe` there."""

    code = "wrong_thread"


class Nondeterministic(AgentError):
    """The agent took another path than the one on record."""

    code = "nondeterministic"


class NestedCall(AgentError):
    """Steps, tool calls and questions cannot be made inside a step or a tool; make them in the agent."""

    code = "nested_call"


class ResultNotJson(AgentError):
    """The result is not JSON; return text, numbers, booleans, None, lists, dicts or dataclasses of these."""

    code = "result_not_json"

    # kind: the name of the type that has no JSON, if it is known
    def __init__(self, kind: str = "") -> None:
        hint = "Return text, numbers, booleans, None, lists, dicts or dataclasses of these."
        super().__init__(f"A value of type {kind} in the result is not JSON. {hint}" if kind else None)
        self.kind = kind


class StepFailed(AgentError):
    """A step of the agent failed."""

    code = "step_failed"


class ToolFailed(StepFailed):
    """A tool failed."""

    code = "tool_failed"

    # error: the code or the class name of what the tool raised, or `timeout`
    def __init__(self, message: str | None = None, *, error: str = "error", output: Any = None) -> None:
        super().__init__(message)
        self.error = error
        self.output = output


class Rejected(ToolFailed):
    """A person said no."""

    code = "rejected"

    # reason: what they gave for it. Not part of the message: it is content
    def __init__(self, message: str | None = None, *, reason: str | None = None) -> None:
        super().__init__(message, error="rejected")
        self.reason = reason


class ToolError(ToolFailed):
    """The tool failed."""

    code = "tool_error"

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message, error=self.code)


class CalledTooOften(ToolError):
    """The tool was called too often."""

    code = "called_too_often"


class NoSandbox(ToolError):
    """This machine has no working sandbox, so no code is run."""

    code = "no_sandbox"


class ServerGone(ToolError):
    """The tool server does not answer."""

    code = "server_gone"


class RemoteFailed(ToolError):
    """The remote agent gave no result."""

    code = "remote_failed"


class RemoteUnavailable(RemoteFailed):
    """The remote agent cannot be reached."""

    code = "remote_unavailable"


class RemoteNotAllowed(RemoteFailed):
    """The address of the remote agent is private or local; allow it by `runyard.remote(..., allow=["10.0.0.0/8"])`."""

    code = "outbound_refused"


class RemoteTimedOut(RemoteFailed):
    """The remote agent took too long."""

    code = "remote_timeout"


class RemoteBroken(RemoteFailed):
    """The answer of the remote agent was cut off, or is none of the contract."""

    code = "remote_broken"


class NodeFailed(AgentError):
    """A node of the plan failed."""

    code = "node_error"


class NodeTimedOut(NodeFailed):
    """A node of the plan took longer than it may."""

    code = "node_timeout"


class UnknownOutcome(AgentError):
    """A call had begun when its worker died; whether it took effect is not known, and it was not repeated."""

    code = "unknown_outcome"


class ModelError(AgentError):
    """The model gave no answer."""

    code = "model_error"


class ModelUnavailable(ModelError):
    """The model could not be reached, or its answer was cut off."""

    code = "model_unavailable"


class ModelTimedOut(ModelUnavailable):
    """The model was silent for too long."""

    code = "model_timeout"


class RateLimited(ModelUnavailable):
    """The model's provider wants fewer requests."""

    code = "rate_limited"


class ModelRefused(ModelError):
    """The model's provider refused the request."""

    code = "model_refused"


class ContextTooLong(ModelError):
    """The conversation is longer than the model can read."""

    code = "context_too_long"


class StartupError(RunyardError):
    """Runyard cannot start."""

    code = "startup"
