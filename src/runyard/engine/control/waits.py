"""Records answers of people, clients and machines: each once, together with its event. The run then continues from the
queue.

A value is checked against the schema of its wait before the answer is recorded; a value that does not fit decides
nothing.
An edited input is checked against its tool before the decision is recorded, so that the client learns what is wrong.
For tools of a tool server, the server's tools are listed if no run of this process has done so yet. For an agent that
this process does not declare, the worker checks the input when it calls the tool.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from runyard.base.clock import Clock
from runyard.base.json_schema import check_value
from runyard.domain.events import ApprovalDecided, Drafter, WaitAnswered, clean, cleaned
from runyard.domain.redaction.no_redaction import NO_REDACTION
from runyard.domain.runs.run import Status
from runyard.domain.wait import FROM_CLIENTS, KeptEvent, Wait, WaitStatus, event_target
from runyard.engine.control.wait_follower import WaitFollower
from runyard.engine.log.tail import Tail
from runyard.errors import AlreadyDecided, Invalid, ToolError, Unavailable
from runyard.store import RunColumn, Store
from runyard.telemetry.metrics import Metrics

if TYPE_CHECKING:
    from runyard.agents.declared.agent import Agent
    from runyard.agents.tools.tool import Tool
    from runyard.domain.redaction.redactor import Redactor

MOST_OPEN = 1000  # open approvals of one run, and waiting runs of one thread


class ToolUnavailable(Unavailable):
    """The tool server does not answer, so the edited input cannot be checked. Try again, or decide without an edit."""

    code = "tool_unavailable"


class Waits:
    def __init__(
        self,
        store: Store,
        tail: Tail,
        *,
        clock: Clock,
        agents: "Mapping[str, Agent]",
        wake_workers: Callable[[], None],
        metrics: Metrics,
        match_event: Callable[[str | None], Awaitable[None]],
        event_seconds: float,
        redactor: "Redactor" = NO_REDACTION,
    ) -> None:
        """`match_event` answers the waits for an event that is kept. `event_seconds`: how long events are kept."""
        self._match_event = match_event
        self._event_ms = int(event_seconds * 1000)
        self._redactor = redactor
        self._store = store
        self._tail = tail
        self._agents = agents
        self._draft = Drafter(clock, "api")
        self._wake_workers = wake_workers
        self._metrics = metrics

    async def get(self, owner: str, wait_id: str) -> Wait:
        return await self._store.get_wait(owner, clean(wait_id))

    async def open(self, owner: str, before: str | None, limit: int, run_id: str | None = None) -> Sequence[Wait]:
        """Return the pending waits that a person or a client answers, newest first."""
        return await self._store.list_waits(owner, None if before is None else clean(before), limit, run_id)

    def follow(self, owner: str) -> WaitFollower:
        """Follow changes of the owner's open waits."""
        return WaitFollower(self._tail.wait_changes, self._store, owner)

    def in_tool_order(self, wait: Wait, agent: str) -> Any:
        """Return the input of a tool with its fields in the order in which the tool declares them. For an agent that
        this process does not declare, in the order in which they came."""
        declared = self._agents.get(agent)
        tools = () if declared is None else declared.tools
        called = next((tool for tool in tools if tool.name == wait.name), None)
        if wait.kind == "confirmation" or called is None or not isinstance(wait.input, dict):
            return wait.input
        return called.in_order(wait.input)

    async def decide(
        self,
        owner: str,
        approval_id: str,
        decision: Literal["approved", "rejected"],
        by: str,
        reason: str | None = None,
        edited: Any = None,
    ) -> Wait:
        """Record a decision on an approval and requeue the run. Raises Invalid if the edited input does not fit the
        tool, and AlreadyDecided."""
        wait = await self.get(owner, approval_id)
        if not wait.is_approval:
            raise Invalid(f"This is not an approval but a {_words(wait)}. Answer it with a value.")
        edited, reason = self._redactor.value(edited), self._redactor.value(reason)
        if edited is not None:
            await self._check_edit(owner, wait, edited)
        decided = ApprovalDecided(wait.id, decision, by, edited, None if reason is None else clean(reason))
        return await self._record(owner, wait, decision, by, decided)

    async def answer(self, owner: str, wait_id: str, value: Any, by: str) -> Wait:
        """Record a value and requeue the run. Raises Invalid if the value does not fit the schema of the wait, and
        AlreadyDecided."""
        wait = self._for_a_client(await self.get(owner, wait_id))
        value = self._redactor.value(cleaned(value))
        schema = (wait.input or {}).get("schema")
        if wait.state == "pending" and schema is not None:
            check_value(schema, value)
        return await self._record(owner, wait, "answered", by, WaitAnswered(wait.id, "answered", by, value))

    async def answer_text(self, owner: str, wait_id: str, text: str, by: str) -> Wait:
        """Record a value that came as text. If the wait needs something else, the text is decoded."""
        try:
            return await self.answer(owner, wait_id, text, by)
        except Invalid:
            try:
                value = msgspec.json.decode(text)
            except msgspec.DecodeError:
                value = text
            return await self.answer(owner, wait_id, value, by)

    async def fail(self, owner: str, wait_id: str, message: str, by: str) -> Wait:
        """Record that the client's tool failed, with a message for the model, and requeue the run."""
        wait = self._for_a_client(await self.get(owner, wait_id))
        if wait.kind != "client_tool":
            raise Invalid("Only a tool of the client can fail. Answer a question with a value.")
        event = WaitAnswered(
            wait.id, "failed", by, code="client_tool_failed", message=self._redactor.text(clean(message))
        )
        return await self._record(owner, wait, "failed", by, event)

    def _for_a_client(self, wait: Wait) -> Wait:
        if wait.is_approval:
            raise Invalid("This is an approval. Approve or reject it.")
        if wait.kind not in FROM_CLIENTS:
            raise Invalid(f"A client cannot answer a {_words(wait)}. Answer a question, an approval or a client tool.")
        return wait

    async def _record(
        self, owner: str, wait: Wait, state: WaitStatus, by: str, event: ApprovalDecided | WaitAnswered
    ) -> Wait:
        answered = await self._store.answer(owner, wait.id, state, by, self._draft(event))
        self._metrics.events_persisted(1)
        self._tail.mark_stale(wait.run_id)
        self._wake_workers()
        return answered

    async def deliver(self, owner: str, event_id: str, name: str, key: str | None, data: Any) -> bool:
        """Keep an event for the runs that wait for it, now or later, and answer those that wait now. Return False if
        an event with this id was delivered before."""
        event = KeptEvent(
            id=clean(event_id),
            owner=owner,
            name=clean(name),
            target=event_target(owner, name, key),
            data=self._redactor.value(cleaned(data)),
            created_at=0,
            expires_at=0,
        )
        is_new = await self._store.keep_event(event, self._event_ms)
        if is_new:
            await self._match_event(event.target)
        return is_new

    async def _check_edit(self, owner: str, wait: Wait, edited: Any) -> None:
        if wait.kind != "tool":
            raise Invalid("This approval is a question, so it has no input to edit. Decide without `edited`.")
        run = await self._store.get_run(owner, wait.run_id)
        agent = self._agents.get(run.agent)
        tool = None if agent is None else await _find_tool(agent, wait.name)
        if tool is not None:
            tool.check(edited)

    async def reject_open(self, owner: str, thread_id: str, by: str, reason: str, *, except_run: str) -> None:
        """Reject all open approvals of the thread's runs, except those of the run `except_run`."""
        where: dict[RunColumn, str] = {"thread_id": thread_id, "status": Status.WAITING.value}
        waiting = await self._store.list_runs(owner, where, None, MOST_OPEN)
        for run in [run for run in waiting if run.id != except_run]:
            for wait in await self._store.list_waits(owner, None, MOST_OPEN, run.id):
                if wait.is_approval:
                    with suppress(AlreadyDecided):
                        await self.decide(owner, wait.id, "rejected", by, reason)


async def _find_tool(agent: "Agent", name: str) -> "Tool[..., Any] | None":
    """Return the agent's tool with that name, declared or from a tool server."""
    for tool in agent.tools:
        if tool.name == name:
            return tool
    from runyard.agents.declared.agent import equipped

    try:
        full = await equipped(agent)
    except ToolError:
        raise ToolUnavailable from None
    return next((tool for tool in full.tools if tool.name == name), None)


def _words(wait: Wait) -> str:
    return wait.kind.replace("_", " ")
