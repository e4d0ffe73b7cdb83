"""A client for a Runyard server: start runs, follow them, answer what they wait for, cancel.

The names are loaded when first used: the command line needs the HTTP library only if a server answers.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runyard.client.client import Client
    from runyard.client.wire import ApprovalInfo, FileInfo, KeyInfo, LogEvent, RunInfo, WaitInfo

__all__ = ["ApprovalInfo", "Client", "FileInfo", "KeyInfo", "LogEvent", "RunInfo", "WaitInfo"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module 'runyard.client' has no attribute {name!r}")
        home = "runyard.client.client" if name == "Client" else "runyard.client.wire"
        value = globals()[name] = getattr(import_module(home), name)
        return value
