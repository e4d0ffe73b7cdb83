"""Runs that can be followed before they write anything, and begin on a signal, so that every follower is connected in
time.

`Queued` is a run behind another in its thread, which is canceled; `Asking` one that waits for an approval."""

from typing import Protocol

from bench.client.dialects import Threads
from bench.client.wire import Wire

threads = Threads()


class Gate(Protocol):
    async def hold(self, port: int, tokens: int) -> str:
        """Start a run that writes nothing yet; its id."""

    async def release(self, port: int) -> None:
        """Let it write its tokens."""


class Queued:
    async def hold(self, port: int, tokens: int) -> str:
        wire = await Wire.connect(port)
        thread = await threads.open_thread(wire)
        self._first = await threads.post(wire, thread, "endless", 0)
        run = await threads.post(wire, thread, "stamped", tokens)
        wire.close()
        return run

    async def release(self, port: int) -> None:
        wire = await Wire.connect(port)
        await wire.ask("POST", f"/api/runs/{self._first}/cancel")
        wire.close()


class Asking:
    async def hold(self, port: int, tokens: int) -> str:
        wire = await Wire.connect(port)
        run = await threads.post(wire, await threads.open_thread(wire), "asking", tokens)
        wire.close()
        return run

    async def release(self, port: int) -> None:
        wire = await Wire.connect(port)
        [waiting] = (await wire.ask("GET", "/api/approvals"))["approvals"]
        await wire.ask("POST", f"/api/approvals/{waiting['approval_id']}", {"decision": "approve"})
        wire.close()
