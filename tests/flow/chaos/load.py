"""The clients of a chaos run: they start runs of several kinds, follow them, cancel some, and decide approvals.
A client without a response repeats its request with the same key, at any server."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Any

import httpx2

from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Pod

CLIENTS = 4  # that start runs
PAUSE_SECONDS = 0.5  # between the runs of a client
TRY_SECONDS = 0.1  # between tries of a request
THREADS = 6  # conversations that stay; each is a separate lane
AT_WORK = 40  # runs that have not ended; more are not started

KINDS = ("tokens", "steps", "reads", "once", "approval", "lane", "plan", "cancel", "scripted")


class Load:
    def __init__(self, flow: Flow, random: Random) -> None:
        self._flow = flow
        self._random = random
        self._threads: list[str] = []
        self._decided: dict[str, str] = {}
        self._cancels: set[asyncio.Task[None]] = set()
        self._number = 0
        self._is_stopping = False
        self.refusals: list[str] = []  # of requests with which nothing was wrong
        self.texts: dict[str, str] = {}  # what the answer of a run must be, if it is done

    async def start_runs(self) -> None:
        """Start runs until `stop`. Then every request has its response."""
        await asyncio.gather(*(self._start_one_after_another() for _ in range(CLIENTS)))
        await asyncio.gather(*self._cancels)

    def stop(self) -> None:
        self._is_stopping = True

    async def _start_one_after_another(self) -> None:
        while not self._is_stopping:
            if sum(not reader.seen.complete for reader in self._flow.readers) < AT_WORK:
                self._number += 1
                await self._start(KINDS[self._number % len(KINDS)])
            await asyncio.sleep(PAUSE_SECONDS)

    async def decide(self) -> None:
        """Decide all approvals, until cancelled."""
        while True:
            with suppress(httpx2.TransportError, IndexError):
                response = await self._flow.request("GET", "/api/approvals?limit=200", self._any())
                for asked in response.json()["approvals"] if response.status_code == 200 else []:
                    await self._decide(asked)
            await asyncio.sleep(PAUSE_SECONDS)

    async def _start(self, kind: str) -> None:
        tokens = self._random.randrange(5, 40)
        words = ["tokens", tokens, self._random.randrange(5, 40)]
        text = "".join(f"t{n} " for n in range(tokens))
        match kind:
            case "plan":
                await self._start_plan()
            case "tokens":
                await self._post([words], text)
            case "reads":
                await self._post([["tokens", 1, 60], ["history"]] * 40)
            case "steps":
                await self._post([["step", "a"], words, ["history"], ["step", "b"], ["history"]])
            case "once":
                await self._post([["call", "pay"], words, ["call", "save"], ["call", "pay"], ["history"]])
            case "approval":
                await self._post([words, ["call", "send"], ["approve", "Go on?"], ["tokens", 3]])
            case "lane":
                thread = await self._lane()
                for _ in range(self._random.randrange(2, 5)):
                    await self._post([["tokens", 4, 20], ["history"]] * 4, thread=thread)
            case "cancel":
                run_id = await self._post([["tokens", 1, 50], ["history"]] * 1000)
                task = asyncio.create_task(self._cancel(run_id, self._random.uniform(0, 8)))
                self._cancels.add(task)
            case _:
                await self._post([], agent="fixed")

    async def _post(
        self, program: Sequence[Any], text: str | None = None, thread: str | None = None, agent: str = "player"
    ) -> str:
        thread = thread or await self._thread()
        body = {"content": json.dumps(program), "agent": agent}
        answer = await self._create(f"/api/threads/{thread}/messages", body)
        run_id = self._flow.accepted(answer)
        if text is not None:
            self.texts[run_id] = text
        self._follow(run_id, "threads" if self._random.random() < 0.2 else "native")
        return run_id

    async def _start_plan(self) -> None:
        answer = await self._create("/agents/runs", {"plan": "device"})
        run_id = str(answer.json()["runId"])
        self._flow.evidence.accepted.append(run_id)
        self._flow.follow(run_id, face="plans")

    def _follow(self, run_id: str, face: str) -> None:
        drop_after = self._random.choice((None, None, 7, 25))
        self._flow.follow(run_id, face=face, drop_after=drop_after)

    async def _thread(self) -> str:
        return str((await self._create("/api/threads", {})).json()["thread_id"])

    async def _lane(self) -> str:
        if len(self._threads) < THREADS:
            self._threads.append(await self._thread())
        return self._random.choice(self._threads)

    async def _create(self, path: str, body: Any) -> httpx2.Response:
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        return await self._until({200, 201}, "POST", path, json=body, headers=headers)

    async def _until(self, wanted: set[int], method: str, path: str, **options: Any) -> httpx2.Response:
        """Ask any server until one answers with a wanted status."""
        while True:
            with suppress(httpx2.TransportError, IndexError):
                response = await self._flow.request(method, path, self._any(), **options)
                if response.status_code in wanted:
                    return response
                refused = f"{method} {path}: {response.status_code} {response.text[:200]}"
                if response.status_code < 500 and refused not in self.refusals:
                    self.refusals.append(refused)
            await asyncio.sleep(TRY_SECONDS)

    async def _cancel(self, run_id: str, after: float) -> None:
        await asyncio.sleep(after)
        await self._until({200, 409}, "POST", f"/api/runs/{run_id}/cancel")

    async def _decide(self, asked: dict[str, Any]) -> None:
        approval_id = asked["approval_id"]
        if approval_id not in self._decided:
            decision = self._decided[approval_id] = self._random.choice(("approve", "approve", "reject"))
            if asked["kind"] == "unknown_outcome" and decision == "approve":  # a person's word: it may happen again
                key = f"{asked['run_id']}:{asked['call_id']}"
                allowed = self._flow.evidence.allowed_effects
                allowed[key] = allowed.get(key, 1) + 1
        await self._flow.decide(approval_id, self._decided[approval_id], self._any())

    def _any(self) -> Pod:
        return self._random.choice(self._flow.apis)
