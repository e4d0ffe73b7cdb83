"""A client for a Runyard server: start runs, follow them, decide, cancel. The command line is made of it."""

from runyard.client.client import Client
from runyard.client.wire import ApprovalInfo, KeyInfo, LogEvent, RunInfo

__all__ = ["ApprovalInfo", "Client", "KeyInfo", "LogEvent", "RunInfo"]
