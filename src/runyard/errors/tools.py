"""Errors of tools and of remote agents."""

from typing import Any

from runyard.errors.agents import StepFailed


class ToolFailed(StepFailed):
    """A tool failed."""

    code = "tool_failed"

    # error: the code or the class name of the exception, or `timeout`
    def __init__(self, message: str | None = None, *, error: str = "error", output: Any = None) -> None:
        super().__init__(message)
        self.error = error
        self.output = output


class Rejected(ToolFailed):
    """The call was rejected by a person."""

    code = "rejected"

    # reason: the reason that the person gave. It is content, so it is not part of the message
    def __init__(self, message: str | None = None, *, reason: str | None = None) -> None:
        super().__init__(message, error="rejected")
        self.reason = reason


class ToolError(ToolFailed):
    """The tool failed."""

    code = "tool_error"

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message, error=self.code)


class CalledTooOften(ToolError):
    """The tool was called too often. Try again later."""

    code = "called_too_often"


class NoSandbox(ToolError):
    """This machine has no working sandbox, so no code is run. `runyard doctor` shows the reason."""

    code = "no_sandbox"


class ServerGone(ToolError):
    """The tool server does not answer. Check that it runs."""

    code = "server_gone"


class RemoteFailed(ToolError):
    """The remote agent returned no result. Read its log."""

    code = "remote_failed"


class RemoteUnavailable(RemoteFailed):
    """The remote agent cannot be reached. Check its address, and that it runs."""

    code = "remote_unavailable"


class RemoteNotAllowed(RemoteFailed):
    """The address of the remote agent is private or local; allow it by `runyard.remote(..., allow=["10.0.0.0/8"])`."""

    code = "outbound_refused"


class RemoteTimedOut(RemoteFailed):
    """The remote agent took too long. Pass longer `timeouts`."""

    code = "remote_timeout"


class RemoteBroken(RemoteFailed):
    """The response of the remote agent was cut off, or breaks the agent contract. Test it (docs/contract.md)."""

    code = "remote_broken"
