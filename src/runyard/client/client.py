"""The client itself.

`follow` gives every event of a run once and in order, whatever happens to the connection, because the log is durable
and a seq says where to go on. Requests that create something carry an Idempotency-Key, so that repeating one whose
answer was lost is safe, and they are repeated. Errors are Runyard's own (`runyard.errors`).
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx2

from runyard.client.connection import LONGEST_PAUSE, Connection, back_off, given
from runyard.client.wire import ApprovalInfo, KeyInfo, LogEvent, Made, OverviewInfo, Page, RunInfo, decode_event, read
from runyard.errors import AgentError, Unavailable
from runyard.ids import new_id
from runyard.sse import Parser

DEFAULT_URL = "http://127.0.0.1:8000"
PAGE = 100


class Client:
    """`async with Client("http://...") as client:`.

    `api_key` is what `runyard keys create` printed, where the server wants one. `attempts` is how often in a row
    something may fail before it is given up; `transport` can stand in for the network.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        api_key: str | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        attempts: int = 10,
        back_off: Callable[[int], float] = back_off,
    ) -> None:
        self._connection = Connection(url, api_key, transport, attempts, back_off)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._connection.close()

    async def check(self) -> None:
        """Return if a server is there and its database answers; Unavailable if not."""
        await self._connection.send("GET", "/health")

    # --- threads and runs

    async def create_thread(self, agent: str | None = None, user_id: str | None = None) -> str:
        """Open a conversation and return its id."""
        body = given({"agent": agent, "user_id": user_id})
        return read(await self._connection.send("POST", "/api/threads", body, key=new_id()), Made).thread_id

    async def delete_thread(self, thread_id: str) -> None:
        """Remove a thread with everything in it; RunActive while one of its runs is at work."""
        await self._connection.send("DELETE", f"/api/threads/{_id(thread_id)}", repeatable=False)

    async def post(
        self, thread_id: str, text: str, agent: str | None = None, idempotency_key: str | None = None
    ) -> str:
        """Say something in a thread; return the id of the run that answers. The same key never starts a second run."""
        body = {"content": text, **given({"agent": agent})}
        key = idempotency_key or new_id()
        return read(
            await self._connection.send("POST", f"/api/threads/{_id(thread_id)}/messages", body, key=key), Made
        ).run_id

    async def answer(self, thread_id: str, text: str, agent: str | None = None) -> str:
        """Say something and wait for the whole answer; AgentError if the run failed or was canceled."""
        output, trouble = "", ""
        async with aclosing(self.follow(await self.post(thread_id, text, agent))) as events:
            async for event in events:
                if event.type == "run.output":
                    output = event.data.get("text", "")
                elif event.type == "run.error":
                    trouble = event.data.get("message", "The run failed.")
                elif event.type == "run.canceled":
                    trouble = "The run was canceled."
        if trouble:
            raise AgentError(trouble)
        return output

    async def run(self, run_id: str) -> RunInfo:
        return read(await self._connection.send("GET", f"/api/runs/{_id(run_id)}"), RunInfo)

    async def state(self, run_id: str, at: int | None = None) -> dict[str, Any]:
        """What the run had done by the event `at`, or so far: the fold of its log."""
        return read(
            await self._connection.send("GET", f"/api/runs/{_id(run_id)}/state", params=given({"at": at})),
            dict[str, Any],
        )

    async def runs(
        self,
        *,
        status: str | None = None,
        agent: str | None = None,
        thread_id: str | None = None,
        page: int = PAGE,
    ) -> AsyncGenerator[RunInfo, None]:
        """All runs that fit, newest first; fetched as you go, `page` at a time."""
        params = given({"status": status, "agent": agent, "thread_id": thread_id})
        async for found in self._pages("/api/runs", params, page):
            for run in found.runs:
                yield run

    async def cancel(self, run_id: str) -> str:
        """Ask a run to stop and return its status; one that has ended stays as it is."""
        return read(await self._connection.send("POST", f"/api/runs/{_id(run_id)}/cancel"), Made).status

    async def retry(self, run_id: str, idempotency_key: str | None = None) -> str:
        """Run the same question again; return the new run's id. RunActive unless the old one has ended."""
        key = idempotency_key or new_id()
        return read(await self._connection.send("POST", f"/api/runs/{_id(run_id)}/retry", key=key), Made).run_id

    # --- approvals

    async def approvals(self) -> AsyncGenerator[ApprovalInfo, None]:
        """The questions that wait for a person, newest first."""
        async for page in self._pages("/api/approvals", {}, PAGE):
            for approval in page.approvals:
                yield approval

    async def approve(
        self, approval_id: str, *, reason: str | None = None, input: dict[str, Any] | None = None
    ) -> ApprovalInfo:
        """Say yes, if you like with another input for the tool. AlreadyDecided if somebody was first."""
        return await self._decide(approval_id, {"decision": "approve", **given({"reason": reason, "input": input})})

    async def reject(self, approval_id: str, *, reason: str | None = None) -> ApprovalInfo:
        """Say no; the agent is told the reason. AlreadyDecided if somebody was first."""
        return await self._decide(approval_id, {"decision": "reject", **given({"reason": reason})})

    async def _decide(self, approval_id: str, body: dict[str, Any]) -> ApprovalInfo:
        return read(
            await self._connection.send("POST", f"/api/approvals/{_id(approval_id)}", body, repeatable=False),
            ApprovalInfo,
        )

    # --- for operators

    async def overview(self) -> OverviewInfo:
        """What is going on in the whole installation."""
        return read(await self._connection.send("GET", "/api/overview"), OverviewInfo)

    async def create_key(
        self, owner: str, *, label: str = "", scopes: Sequence[str] | None = None, expires_in: int | None = None
    ) -> KeyInfo:
        """Make an API key, for so many seconds or for ever; it is in `key` of this answer and nowhere else."""
        body = given({"owner": owner, "label": label, "scopes": scopes, "expires_in": expires_in})
        return read(await self._connection.send("POST", "/api/keys", body, repeatable=False), KeyInfo)

    async def keys(self, *, owner: str | None = None) -> AsyncGenerator[KeyInfo, None]:
        """The API keys of everybody, or of one owner, newest first."""
        async for page in self._pages("/api/keys", given({"owner": owner}), PAGE):
            for key in page.keys:
                yield key

    async def revoke_key(self, key_id: str) -> KeyInfo:
        """Make an API key worthless, for good."""
        return read(await self._connection.send("DELETE", f"/api/keys/{_id(key_id)}"), KeyInfo)

    # --- the log

    async def follow(self, run_id: str, after: int = 0) -> AsyncGenerator[LogEvent, None]:
        """Every event with seq > `after`, once and in order, until the run has ended; as long as that takes.

        A connection that breaks is made again from the last seq. Unavailable after `attempts` failures in a row; an
        event, or a heartbeat on a connection that has stood for a while, begins the count anew."""
        clock = asyncio.get_running_loop().time
        cursor, failures, had_ended = after, 0, False
        while True:
            opened, before = clock(), cursor
            try:
                async with aclosing(self._log(run_id, cursor)) as events:
                    async for event in events:
                        if event is None:
                            failures = 0 if clock() - opened > LONGEST_PAUSE else failures
                            continue
                        cursor, failures = event.seq, 0
                        yield event
                        if event.type == "run.finished":
                            return
                # A clean end without the last event: nothing is left, if the run had ended before we asked.
                if had_ended and cursor == before:
                    return
                had_ended = (await self.run(run_id)).has_ended
                if had_ended:
                    continue
                trouble = Unavailable(
                    f"The server at {self._connection.url} ended the stream before the run had ended."
                )
            except Unavailable as error:
                trouble = error
            failures += 1
            if failures >= self._connection.attempts:
                raise trouble
            await self._connection.pause(failures)

    async def _log(self, run_id: str, cursor: int) -> AsyncGenerator[LogEvent | None, None]:
        """One connection's worth of events, None for a heartbeat; Unavailable when it breaks or an event is missing."""
        parser = Parser()
        async with self._connection.stream(f"/api/runs/{_id(run_id)}/log", cursor) as response:
            async for chunk in response.aiter_bytes():
                frames = parser.feed(chunk)
                if not frames:
                    yield None
                for frame in frames:
                    event = decode_event(frame.data)
                    if event.seq > cursor + 1:
                        raise Unavailable(f"The server at {self._connection.url} left out an event.")
                    if event.seq == cursor + 1:
                        cursor = event.seq
                        yield event

    async def _pages(self, path: str, params: Mapping[str, Any], limit: int) -> AsyncGenerator[Page, None]:
        before: str | None = None
        while True:
            asked = {**params, "limit": limit, **given({"before": before})}
            page = read(await self._connection.send("GET", path, params=asked), Page)
            yield page
            before = page.next
            if before is None:
                return


def _id(text: str) -> str:
    """An id as one segment of a path, whatever somebody typed."""
    return quote(text, safe="") or "-"
