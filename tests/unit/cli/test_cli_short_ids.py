"""Tables of the command line never cut an id, and its verbs accept short ones."""

import re
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from runyard.cli.clients.short_ids import find_passage, whole_approval_id, whole_key_id, whole_message_id, whole_run_id
from runyard.cli.terminal import tables
from runyard.client import ApprovalInfo, RunInfo
from runyard.client.wire import ChannelInfo
from runyard.errors import Invalid, NotFound

RUNS = [
    "01a1e52c-90ef-716f-aa47-9cf6bf642cc5",
    "01a1e52c-90ef-716f-aa47-9cf6bf642cc6",
    "01a1e52d-1111-716f-aa47-111111111111",
]
ASKED = "approval_01a1e52c-90ef-416f-aa47-9cf6bf642cc5"
QUESTION = "wait_01a1e52c-90ef-716f-aa47-9cf6bf642cc5"


class Server:
    """As much of a client as short ids need."""

    async def find_ids(self, kind: str, part: str) -> list[str]:
        ids = RUNS if kind == "run" else [QUESTION, ASKED]
        return [
            each for each in ids if part in (each[: len(part)], each[-len(part) :], each.partition("_")[2][: len(part)])
        ]

    async def passages(self, agent: str, query: None, limit: int, before: str | None) -> list[Any]:
        found = [f"01a1e52c-90ef-716f-aa47-{number:012}" for number in reversed(range(250))]
        return [SimpleNamespace(id=each) for each in found if before is None or each < before][:limit]

    async def channel_messages(self, channel: Any, limit: int, before: str | None) -> list[Any]:
        return (await self.passages("", None, limit, before))[::-1]

    async def keys(self, owner: None) -> AsyncIterator[Any]:
        yield SimpleNamespace(key_id="abcdefgh1234")


CLIENT: Any = Server()
CHANNEL = ChannelInfo(id="c", created_at="")


@pytest.mark.parametrize(
    ("given", "meant"),
    [("bf642cc5", RUNS[0]), ("01a1e52d", RUNS[2]), ("01a1e52d-1111", RUNS[2]), ("6f-aa47-9cf6bf642cc6", RUNS[1])],
)
async def test_the_beginning_or_the_end_of_an_id_is_enough(given: str, meant: str) -> None:
    assert await whole_run_id(CLIENT, given) == meant


async def test_a_whole_id_is_not_looked_up() -> None:
    assert await whole_run_id(None, RUNS[0]) == RUNS[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["bf642cc5", "01a1e52c", "approval_01a1e52c"])
async def test_an_approval_has_short_ids_as_well(given: str) -> None:
    assert await whole_approval_id(CLIENT, given) == ASKED


@pytest.mark.parametrize("number", [0, 99, 100, 249])
async def test_old_passages_and_messages_have_short_ids_as_well(number: int) -> None:
    whole = f"01a1e52c-90ef-716f-aa47-{number:012}"
    for given in (whole, whole[-8:]):
        assert (await find_passage(CLIENT, "clerk", given)).id == whole
        assert await whole_message_id(CLIENT, CHANNEL, given) == whole
    with pytest.raises(NotFound, match="There is no message whose id starts or ends with ffffffff"):
        await whole_message_id(CLIENT, CHANNEL, "ffffffff")


async def test_a_short_id_that_two_runs_have_is_an_error_that_lists_them() -> None:
    with pytest.raises(Invalid) as caught:
        await whole_run_id(CLIENT, "01a1e52c")
    assert RUNS[0] in caught.value.message
    assert RUNS[1] in caught.value.message
    assert RUNS[2] not in caught.value.message


async def test_too_few_characters_and_no_match_are_said() -> None:
    with pytest.raises(Invalid, match="at least 8 characters"):
        await whole_run_id(CLIENT, "01a1e52")
    with pytest.raises(NotFound, match="There is no run whose id starts or ends with ffffffff"):
        await whole_run_id(CLIENT, "ffffffff")
    assert await whole_key_id(CLIENT, "efgh1234") == "abcdefgh1234"
    with pytest.raises(NotFound, match="There is no key whose id starts or ends with ffffffff"):
        await whole_key_id(CLIENT, "ffffffff")


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 120])
def test_no_table_cuts_an_id(columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    now = "2026-01-01T00:00:00.000Z"
    run = RunInfo(run_id=RUNS[0], status="error", created_at=now, agent="an-agent", error="It broke. " * 20)
    tables.runs_table([run]).echo()
    asked = ApprovalInfo(
        approval_id=ASKED,
        run_id=RUNS[0],
        call_id="call#1",
        kind="tool",
        tool="refund",
        state="pending",
        created_at=now,
        input={"order": "x" * 90},
    )
    tables.approvals_table([asked]).echo()
    tables.print_run(run, {})
    printed = capsys.readouterr().out
    assert len(re.findall(RUNS[0], printed)) == 3
    assert ASKED in printed
