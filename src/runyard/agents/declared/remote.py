"""Agents behind the HTTP contract: `runyard.remote("literature", url="https://...", task_type="LIT_RETRIEVAL")`.

A remote agent is called over its stream, and its progress becomes a tool's output. The call is recorded: its start is
durable before the request, its result before the caller gets it. A call that had started when its worker died follows
`effects`; the default `once` asks a person. The request carries the labels of the current task (`request_id`,
`workflow_id`, `mode`, ...), the rest of its time, its other budgets and its trace.

Only public addresses are called, unless a network is allowed by name (`agents/tools/outbound.py`). After repeated
failures a service is not called for a while (`contract/breaker.py`).
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

import msgspec

from runyard.agents.tools.tool import Effects, Tool
from runyard.agents.user_code.current_call import CurrentExecution, current_call, current_execution
from runyard.contract.breaker import Breaker
from runyard.contract.result import Progress, Result
from runyard.contract.timeouts import Timeouts
from runyard.domain.task import Task, deadline
from runyard.errors import Invalid, RemoteBroken, RemoteFailed, RemoteNotAllowed, RemoteTimedOut, RemoteUnavailable
from runyard.telemetry.logger import get_logger

log = get_logger()

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
TROUBLES = {kind.code: kind for kind in (RemoteUnavailable, RemoteNotAllowed, RemoteTimedOut, RemoteBroken)}


class Remote:
    """A service and its options, checked when it is made. Without a task the text of a message is the input
    `message_as`, and the request carries `labels`."""

    def __init__(
        self,
        name: str,
        *,
        url: str,
        task_type: str,
        effects: Effects = "once",
        allow: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        timeouts: Timeouts | None = None,
        message_as: str = "query",
        labels: Mapping[str, str] | None = None,
        breaker: Breaker | None = None,
    ) -> None:
        self.url = _checked_url(url)
        self.task_type = task_type
        self.message_as = message_as
        self._name = name
        self._allow = tuple(allow)
        self._headers = dict(headers or {})
        self._timeouts = timeouts or Timeouts()
        self._labels = dict(labels or {})
        self._breaker = breaker or Breaker()
        if not task_type or min(self._timeouts.request, self._timeouts.stream, self._timeouts.idle) <= 0:
            raise Invalid("The remote agent has no task type, or a timeout of 0. Pass a task type and longer timeouts.")

        if allow:
            from runyard.agents.tools.outbound import Allowed

            Allowed(allow)  # so that a mistake is an error at the declaration

        async def ask(inputs: dict[str, Any], idempotency_key: str) -> Any:
            return msgspec.to_builtins(await self.ask(inputs, idempotency_key))

        self.tool = Tool(ask, name=_NOT_IN_NAMES.sub("_", name)[:64], effects=effects)

    @property
    def digest(self) -> bytes:
        """Bytes that change when the requests change."""
        return msgspec.json.encode([self.url, self.task_type, self.tool.effects])

    async def ask(self, inputs: Mapping[str, Any], key: str) -> Result:
        """Give the service a task and return its result. The same `key` means the same task."""
        if self._breaker.state == "open":
            raise RemoteUnavailable("The remote agent failed too often and is not called for a minute.")
        execution = current_execution()
        try:
            answer = await self._send_task(execution, inputs, key)
        except RemoteFailed as error:
            self._breaker.failed()
            log.warning("remote_agent.call_failed", agent=self._name, code=error.code)
            raise
        self._breaker.succeeded()
        return answer

    async def _send_task(self, execution: CurrentExecution | None, inputs: Mapping[str, Any], key: str) -> Result:
        task = None if execution is None else execution.state.task
        left = _left(execution, task)
        if left is not None and left <= 0:
            raise RemoteTimedOut
        request = {
            "request_id": key,
            **self._labels,
            **({} if execution is None else {"request_id": execution.run.id}),
            **({} if task is None else task.labels),
            "task_type": self.task_type,
            "inputs": dict(inputs),
            "budgets": _budgets(task, left),
        }
        from runyard.agents.tools.outbound import Allowed, outbound_client  # here: HTTP costs time to load
        from runyard.contract.client import ContractClient

        headers = {**_trace(execution), **self._headers, "Idempotency-Key": key[:200]}
        async with outbound_client(Allowed(self._allow)) as http:
            client = ContractClient(http, self.url, self._timeouts.within(left))
            async with aclosing(client.stream(request, headers)) as events:
                async for event in events:
                    if isinstance(event, Result):
                        return event
                    await _show(event)
        raise RemoteBroken


async def _show(progress: Progress) -> None:
    call = current_call()
    if call is not None and call.open and progress.name == "progress":
        call.write(msgspec.json.encode(progress.data).decode() + "\n")
        await call.drain()


def _trace(execution: CurrentExecution | None) -> dict[str, str]:
    """Return the header that makes the remote work a part of this trace."""
    call = current_call()
    return {} if execution is None or call is None else {"traceparent": execution.traceparent(call.call_id)}


def _left(execution: CurrentExecution | None, task: Task | None) -> float | None:
    until = None if execution is None else deadline(execution.run.created_at, task)
    return None if execution is None or until is None else (until - execution.now_ms()) / 1000


def _budgets(task: Task | None, left: float | None) -> dict[str, Any]:
    given: dict[str, Any] = {} if task is None else msgspec.to_builtins(task.budget)
    return given if left is None else {**given, "timeout_ms": max(1, int(left * 1000))}


def flat(answer: Result) -> dict[str, Any]:
    """Return a result as the outputs of an agent, with grounding, warnings and artifacts among them."""
    beside = {"artifacts": answer.artifacts, "warnings": answer.warnings, "grounding": answer.grounding}
    return {**answer.outputs, **{name: value for name, value in beside.items() if value}}


def failure(code: str) -> RemoteFailed:
    """Return the error of a task that the remote agent refused or failed. Its code is that of the service."""
    kind = type("RemoteTaskFailed", (RemoteFailed,), {"code": code.lower(), "__doc__": RemoteFailed.__doc__})
    error: RemoteFailed = kind(f"The remote agent answered {code}.")
    return error


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        right = parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.query and not parts.username
    except ValueError:
        right = False
    if not right:
        raise Invalid("A remote agent has an address like https://host:8000.")
    return url.rstrip("/")
