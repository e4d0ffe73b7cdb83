"""Errors of models."""

from typing import ClassVar, Literal

from runyard.errors.agents import AgentError

Stopped = Literal["error", "max_steps", "max_tokens_exceeded", "invalid_tool_call"]  # stop reasons of these errors


class ModelError(AgentError):
    """The model returned no answer. Retry the run."""

    code = "model_error"


class ModelUnavailable(ModelError):
    """The model could not be reached, or its answer was cut off. Retry the run."""

    code = "model_unavailable"


class ModelTimedOut(ModelUnavailable):
    """The model did not respond in time. Retry the run."""

    code = "model_timeout"


class RateLimited(ModelUnavailable):
    """The model's provider limits the rate of requests. Retry the run later."""

    code = "rate_limited"


class ModelRefused(ModelError):
    """The model's provider rejected the request. Check its API key, the model's name and its options."""

    code = "model_refused"


class FilesNotSupported(ModelRefused):
    """The model takes no files of this kind. Choose another model, or send text."""

    code = "files_not_supported"


class ContextTooLong(ModelError):
    """The conversation is longer than the context window of the model. Start a new thread, or choose a model with a
    larger window."""

    code = "context_too_long"
    stop_reason: ClassVar[Stopped] = "max_tokens_exceeded"


class InvalidAnswer(ModelError):
    """The answer of the model does not fit the schema of its agent. Retry the run, or simplify the schema."""

    code = "invalid_answer"

    def __init__(self, message: str | None = None, stop_reason: Stopped = "error") -> None:
        super().__init__(message)
        self.stop_reason = stop_reason
