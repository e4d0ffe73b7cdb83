"""A client for a Runyard server: start runs, follow them, answer what they wait for, cancel.

The names are loaded when first used: the command line needs the HTTP library only if a server answers.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runyard.client.annotation_wire import ShareInfo, UnreadInfo
    from runyard.client.client import Client
    from runyard.client.wire import (
        AgentInfo,
        ApprovalInfo,
        BlockInfo,
        ChannelInfo,
        ChannelMessage,
        FeedbackInfo,
        FileInfo,
        FoundMessage,
        KeyInfo,
        LogEvent,
        OverviewInfo,
        PassageInfo,
        RunInfo,
        ThreadInfo,
        ThreadMessage,
        WaitInfo,
    )

__all__ = [
    "AgentInfo",
    "ApprovalInfo",
    "BlockInfo",
    "ChannelInfo",
    "ChannelMessage",
    "Client",
    "FeedbackInfo",
    "FileInfo",
    "FoundMessage",
    "KeyInfo",
    "LogEvent",
    "OverviewInfo",
    "PassageInfo",
    "RunInfo",
    "ShareInfo",
    "ThreadInfo",
    "ThreadMessage",
    "UnreadInfo",
    "WaitInfo",
]
_HOMES = {
    "Client": "runyard.client.client",
    "ShareInfo": "runyard.client.annotation_wire",
    "UnreadInfo": "runyard.client.annotation_wire",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module 'runyard.client' has no attribute {name!r}")
        home = _HOMES.get(name, "runyard.client.wire")
        value = globals()[name] = getattr(import_module(home), name)
        return value
