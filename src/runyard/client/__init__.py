"""A client for a Runyard server: start runs, follow them, decide approvals, cancel. The command line uses it."""

from runyard.client.client import Client
from runyard.client.wire import ApprovalInfo, KeyInfo, LogEvent, RunInfo

__all__ = ["ApprovalInfo", "Client", "KeyInfo", "LogEvent", "RunInfo"]
