"""The calls of the client about waits: approvals, what else runs wait for, answers, and events of other systems."""

from collections.abc import AsyncGenerator
from typing import Any

from runyard.base.ids import new_id
from runyard.client.connection import Connection, given, segment
from runyard.client.pages import PAGE, pages
from runyard.client.wire import ApprovalInfo, Delivered, WaitInfo, read


class WaitCalls:
    """The part of `Client` that decides approvals and answers waits."""

    _connection: Connection

    async def approvals(self) -> AsyncGenerator[ApprovalInfo, None]:
        """Return the pending approvals, newest first.

        Example:
            >>> [approval.tool async for approval in client.approvals()]
            ['refund']
        """
        async for page in pages(self._connection, "/api/approvals", {}, PAGE):
            for approval in page.approvals:
                yield approval

    async def approve(
        self, approval_id: str, *, reason: str | None = None, input: dict[str, Any] | None = None
    ) -> ApprovalInfo:
        """Approve a tool call or a question.

        Args:
            approval_id: The id of the approval.
            reason: A reason, which the agent may read.
            input: Another input for the tool.

        Raises:
            AlreadyDecided: If the approval was decided before, or its run has ended.
            Invalid: If the input does not fit the tool.

        Example:
            >>> (await client.approve(approval_id, reason="The customer called.")).state
            'approved'
        """
        return await self._decide(approval_id, {"decision": "approve", **given({"reason": reason, "input": input})})

    async def reject(self, approval_id: str, *, reason: str | None = None) -> ApprovalInfo:
        """Reject a tool call or a question.

        Args:
            approval_id: The id of the approval.
            reason: A reason, which the agent may read.

        Raises:
            AlreadyDecided: If the approval was decided before, or its run has ended.

        Example:
            >>> (await client.reject(approval_id, reason="It is too late.")).state
            'rejected'
        """
        return await self._decide(approval_id, {"decision": "reject", **given({"reason": reason})})

    async def _decide(self, approval_id: str, body: dict[str, Any]) -> ApprovalInfo:
        return read(
            await self._connection.send("POST", f"/api/approvals/{segment(approval_id)}", body, repeatable=False),
            ApprovalInfo,
        )

    async def waits(self, run_id: str | None = None) -> AsyncGenerator[WaitInfo, None]:
        """Return what runs wait for from people and clients, newest first: approvals, questions and client tools.

        Args:
            run_id: Only waits of this run.

        Example:
            >>> [wait.prompt async for wait in client.waits()]
            ['Which row?']
        """
        async for page in pages(self._connection, "/api/waits", given({"run_id": run_id}), PAGE):
            for wait in page.waits:
                yield wait

    async def wait(self, wait_id: str) -> WaitInfo:
        """Return a wait and its state.

        Args:
            wait_id: The id of the wait.

        Example:
            >>> (await client.wait(wait_id)).state
            'pending'
        """
        return read(await self._connection.send("GET", f"/api/waits/{segment(wait_id)}"), WaitInfo)

    async def answer_wait(self, wait_id: str, value: Any) -> WaitInfo:
        """Answer a question, or send the result of a client tool. The run continues. The first answer counts.

        Args:
            wait_id: The id of the wait.
            value: The answer. It must fit the `answer_schema` of the wait.

        Raises:
            Invalid: If the value does not fit the schema, or the wait is an approval.
            AlreadyDecided: If the wait was answered before, or its run has ended.

        Example:
            >>> (await client.answer_wait(wait_id, 12)).state
            'answered'
        """
        return read(
            await self._connection.send("POST", f"/api/waits/{segment(wait_id)}", {"value": value}, repeatable=False),
            WaitInfo,
        )

    async def fail_wait(self, wait_id: str, error: str) -> WaitInfo:
        """Report that a client tool failed. The run continues, and the model reads the message.

        Args:
            wait_id: The id of the wait.
            error: What went wrong.

        Raises:
            Invalid: If the wait is not a client tool.
            AlreadyDecided: If the wait was answered before, or its run has ended.

        Example:
            >>> (await client.fail_wait(tool_wait_id, "The file is locked.")).state
            'failed'
        """
        return read(
            await self._connection.send("POST", f"/api/waits/{segment(wait_id)}", {"error": error}, repeatable=False),
            WaitInfo,
        )

    async def send_event(
        self, name: str, *, key: str | None = None, data: Any = None, event_id: str | None = None
    ) -> bool:
        """Deliver an event to the runs that wait for it with `ctx.wait_for`, now or later.

        Args:
            name: The name of the event, such as `"order.paid"`.
            key: Which one, such as the id of an order. A run waits for one name and one key.
            data: What the waiting run gets.
            event_id: An id that the caller chooses. An event with the same id is delivered once.

        Returns:
            False if an event with this id was delivered before.

        Example:
            >>> await client.send_event("order.paid", key="A-17", data={"by": "card"})
            True
        """
        body: dict[str, Any] = {"id": event_id or new_id(), "name": name, "data": data, **given({"key": key})}
        return read(await self._connection.send("POST", "/api/events", body), Delivered).delivered
