"""Errors that end a run, raised by the code of an agent or about it."""

from runyard.errors.base import RunyardError


class AgentError(RunyardError):
    """The agent failed."""

    code = "agent_error"


class InvalidTask(AgentError):
    """The inputs of the task do not fit. Send the inputs that the agent reads."""

    code = "validation_error"

    # fields: the names of missing or invalid inputs. Text that is not a name is left out of the message
    def __init__(self, *fields: str) -> None:
        names = ", ".join(field for field in fields if field.isascii() and field.replace(".", "_").isidentifier())
        super().__init__(f"The inputs of the task do not fit: {names}." if names else None)


class EventTooLarge(AgentError):
    """The agent wrote an event that is too large. Write smaller events, or raise RUNYARD_MAX_EVENT_BYTES."""

    code = "event_too_large"

    def __init__(self, most: int | None = None) -> None:
        hint = "Write smaller events, or raise RUNYARD_MAX_EVENT_BYTES."
        super().__init__(None if most is None else f"The agent wrote an event of more than {most} bytes. {hint}")


class AnswerTooLarge(AgentError):
    """The answer is too large. Return a shorter answer, or raise RUNYARD_MAX_ANSWER_BYTES."""

    code = "answer_too_large"

    def __init__(self, most: int | None = None) -> None:
        hint = "Return a shorter answer, or raise RUNYARD_MAX_ANSWER_BYTES."
        super().__init__(None if most is None else f"The answer has more than {most} bytes. {hint}")


class BlockedLoop(AgentError):
    """The agent blocked the event loop for too long. Await in it, or move blocking code into a plain function."""

    code = "blocked_loop"

    # seconds: how long the event loop was blocked
    def __init__(self, seconds: float | None = None) -> None:
        hint = "Await in it, or move blocking code into a plain function: a step or a tool."
        super().__init__(None if seconds is None else f"The agent blocked the event loop for {seconds:g} s. {hint}")


class WrongThread(AgentError):
    """The context was used in another thread than the agent's. Use `asyncio.run_coroutine_threadsafe` there."""

    code = "wrong_thread"


class Nondeterministic(AgentError):
    """The agent made other calls than those on record. Agents must repeat their calls in the same order."""

    code = "nondeterministic"


class NestedCall(AgentError):
    """Steps, tool calls and questions cannot be made inside a step or a tool; make them in the agent."""

    code = "nested_call"


class ResultNotJson(AgentError):
    """The result is not JSON; return text, numbers, booleans, None, lists, dicts or dataclasses of these."""

    code = "result_not_json"

    # kind: the name of the type that cannot be JSON, if it is known
    def __init__(self, kind: str = "") -> None:
        hint = "Return text, numbers, booleans, None, lists, dicts or dataclasses of these."
        super().__init__(f"A value of type {kind} in the result is not JSON. {hint}" if kind else None)
        self.kind = kind


class StepFailed(AgentError):
    """A step of the agent failed."""

    code = "step_failed"


class NodeFailed(AgentError):
    """A node of the plan failed."""

    code = "node_error"


class NodeTimedOut(NodeFailed):
    """A node of the plan exceeded its time limit. Make it quicker, or raise its `timeout`."""

    code = "node_timeout"


class AnswerTimedOut(AgentError):
    """No answer came in time. Pass a longer `timeout`, or a `default`."""

    code = "answer_timed_out"


class ChildFailed(AgentError):
    """A child run failed. Read the log of that run."""

    code = "child_failed"

    # error: the error code of the child, or `canceled`
    def __init__(self, agent: str = "", error: str = "error", message: str | None = None) -> None:
        super().__init__(f"The child run of {agent} failed ({error}). {message or ''}".rstrip() if agent else None)
        self.error = error


class TooManyChildren(AgentError):
    """The run may start no more child runs. Start fewer, or raise RUNYARD_MAX_CHILDREN or RUNYARD_MAX_CHILD_DEPTH."""

    code = "too_many_children"


class UnknownOutcome(AgentError):
    """The worker died during a call. It is unknown whether the call took effect, so it was not repeated. Check whether
    it did, and then retry the run."""

    code = "unknown_outcome"
