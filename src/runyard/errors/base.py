"""The root of the error tree, and the error of a process that cannot start."""

from typing import ClassVar


class RunyardError(Exception):
    """Runyard failed. Read the log line of this error, and report it."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str | None = None) -> None:
        self.message = message or " ".join((type(self).__doc__ or "").split())
        super().__init__(self.message)


class StartupError(RunyardError):
    """Runyard cannot start."""

    code = "startup"
