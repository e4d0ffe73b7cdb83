"""Errors of models."""

from runyard.errors.agents import AgentError


class ModelError(AgentError):
    """The model returned no answer."""

    code = "model_error"


class ModelUnavailable(ModelError):
    """The model could not be reached, or its answer was cut off."""

    code = "model_unavailable"


class ModelTimedOut(ModelUnavailable):
    """The model did not respond in time."""

    code = "model_timeout"


class RateLimited(ModelUnavailable):
    """The model's provider limits the rate of requests."""

    code = "rate_limited"


class ModelRefused(ModelError):
    """The model's provider rejected the request."""

    code = "model_refused"


class FilesNotSupported(ModelRefused):
    """The model takes no files of this kind. Choose another model, or send text."""

    code = "files_not_supported"


class ContextTooLong(ModelError):
    """The conversation is longer than the context window of the model."""

    code = "context_too_long"
