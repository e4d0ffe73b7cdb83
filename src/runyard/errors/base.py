"""The root of the error tree, and the error of a process that cannot start."""

from typing import ClassVar


class RunyardError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str | None = None) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        super().__init__(self.message)


class StartupError(RunyardError):
    """Runyard cannot start."""

    code = "startup"
