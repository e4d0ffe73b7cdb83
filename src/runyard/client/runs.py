"""The calls of the client about runs that exist: lists, states, cancels and retries."""

from collections.abc import AsyncGenerator
from typing import Any

from runyard.base.ids import IdKind, new_id
from runyard.client.connection import Connection, given, segment
from runyard.client.pages import PAGE, pages
from runyard.client.wire import FoundIds, Made, RunInfo, read


class RunCalls:
    """The part of `Client` that reads, cancels and retries runs."""

    _connection: Connection

    async def run(self, run_id: str) -> RunInfo:
        """Return a run.

        Args:
            run_id: The id of the run.

        Example:
            >>> (await client.run(run_id)).status
            'done'
        """
        return read(await self._connection.send("GET", f"/api/runs/{segment(run_id)}"), RunInfo)

    async def state(self, run_id: str, at: int | None = None) -> dict[str, Any]:
        """Return the state of a run: the fold of its log.

        Args:
            run_id: The id of the run.
            at: The seq of the last event to fold. The default is the newest.

        Example:
            >>> (await client.state(run_id))["output"]["text"]
            'Hello Ada'
        """
        return read(
            await self._connection.send("GET", f"/api/runs/{segment(run_id)}/state", params=given({"at": at})),
            dict[str, Any],
        )

    async def runs(
        self,
        *,
        status: str | None = None,
        agent: str | None = None,
        thread_id: str | None = None,
        error: str | None = None,
        before: str | None = None,
        page: int = PAGE,
    ) -> AsyncGenerator[RunInfo, None]:
        """Return runs, newest first. Pages are fetched as they are needed.

        Args:
            status: Only runs of this status, such as `"running"`.
            agent: Only runs of this agent.
            thread_id: Only runs of this thread.
            error: Only runs that failed with this error code.
            before: Only runs that are older than the run with this id.
            page: The number of runs to fetch at once.

        Example:
            >>> [run.status async for run in client.runs(thread_id=thread_id)]
            ['done']
        """
        params = given({"status": status, "agent": agent, "thread_id": thread_id, "error": error})
        async for found in pages(self._connection, "/api/runs", params, page, before):
            for run in found.runs:
                yield run

    async def find_ids(self, kind: IdKind, part: str) -> list[str]:
        """Return the whole ids of the caller's runs, threads or waits that start or end with a part, newest first.

        Args:
            kind: `"run"`, `"thread"` or `"wait"`. Approvals are waits.
            part: The beginning or the end of the id, at least 8 characters.

        Raises:
            Invalid: If the part is shorter.

        Example:
            >>> await client.find_ids("run", run_id[-12:]) == [run_id]
            True
        """
        params = {"kind": kind, "part": part}
        return read(await self._connection.send("GET", "/api/ids", params=params), FoundIds).ids

    async def cancel(self, run_id: str) -> str:
        """Request the cancel of a run and return its status. A run that has ended stays as it is.

        Args:
            run_id: The id of the run.

        Example:
            >>> await client.cancel(run_id)  # it has ended
            'done'
        """
        return read(await self._connection.send("POST", f"/api/runs/{segment(run_id)}/cancel"), Made).status

    async def retry(self, run_id: str, idempotency_key: str | None = None) -> str:
        """Start a new run for the same message or task, and return its id.

        Args:
            run_id: The id of the old run.
            idempotency_key: A key that the caller chooses. The same key never starts a second run.

        Raises:
            RunActive: If the old run has not ended.

        Example:
            >>> new_id = await client.retry(run_id)
            >>> new_id == run_id
            False
        """
        key = idempotency_key or new_id()
        return read(await self._connection.send("POST", f"/api/runs/{segment(run_id)}/retry", key=key), Made).run_id
