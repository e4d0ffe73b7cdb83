"""`runyard approvals approve` asks on stderr before a call may happen twice, and needs no scope for `--yes`."""

import asyncio
import io
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from runyard import cli
from runyard.cli.verbs import approvals
from runyard.client import ApprovalInfo, WaitInfo
from runyard.errors import ScopeMissing

RUN = "01a1e52c-90ef-716f-aa47-9cf6bf642cc5"
APPROVAL = f"approval_{RUN}"
ASKED: dict[str, Any] = {"run_id": RUN, "call_id": "c", "created_at": "2026-01-01T00:00:00Z"}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Interrupted(Terminal):
    """A person who presses Ctrl-C while they type. A line that asyncio keeps from ending is completed."""

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        os.kill(os.getpid(), signal.SIGINT)
        return super().readline()


class Client:
    """A server that waits for a decision. `can_read`: whether the key has the scope `read`."""

    def __init__(self, *, can_read: bool = True) -> None:
        self._can_read = can_read
        self.approved: list[str] = []

    async def wait(self, wait_id: str) -> WaitInfo:
        if not self._can_read:
            raise ScopeMissing
        return WaitInfo(wait_id=wait_id, kind="unknown_outcome", name="p\u200bay", state="pending", **ASKED)

    async def approve(self, approval_id: str, **_: object) -> ApprovalInfo:
        self.approved.append(approval_id)
        return ApprovalInfo(approval_id=approval_id, kind="tool", tool="pay", state="approved", input={}, **ASKED)


def approve(monkeypatch: pytest.MonkeyPatch, client: Client, *options: str, typed: Terminal | None = None) -> int:
    """Run the command and return its exit code. `typed`: the terminal, if there is one."""

    def run_with_client(work: Callable[[Client], Awaitable[None]], *, quiet: bool = False) -> None:
        async def work_with_it() -> None:
            await work(client)

        asyncio.run(work_with_it())

    monkeypatch.setattr(approvals, "run_with_client", run_with_client)
    monkeypatch.setattr(sys, "stdin", typed or io.StringIO())
    return cli.run(["approvals", "approve", APPROVAL, *options])


def test_the_question_is_not_part_of_the_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Client()
    assert approve(monkeypatch, client, "--json", typed=Terminal("yes\n")) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["state"] == "approved"
    assert r"If the first call of p\u200bay took effect" in shown.err
    assert shown.err.endswith("Type yes to call it again: ")


@pytest.mark.parametrize("typed", [Terminal("\n"), Terminal("y\n"), Terminal(), Interrupted("yes\n")])
def test_without_a_yes_nothing_is_decided(
    typed: Terminal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Client()
    assert approve(monkeypatch, client, "--json", typed=typed) == 1
    shown = capsys.readouterr()
    assert (shown.out, client.approved) == ("", [])
    assert shown.err.endswith("Nothing is decided.\n")


def test_a_key_that_cannot_read_approves_with_yes_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Client(can_read=False)
    assert approve(monkeypatch, client) == 1
    said = capsys.readouterr().err
    assert "This API key lacks the scope `read`" in said
    assert "Give --yes to approve without this check" in said
    assert client.approved == []
    assert approve(monkeypatch, client, "--yes") == 0
    assert client.approved == [APPROVAL]
