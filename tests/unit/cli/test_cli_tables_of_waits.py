"""The tables of `runyard waits` fit into a terminal of 80 columns."""

from datetime import UTC, datetime, timedelta

import pytest

from runyard.cli.terminal import tables, text_table
from runyard.client import WaitInfo

RUN = "01a1e52c-90ef-716f-aa47-9cf6bf642cc5"
SCHEMA = {"type": "object", "properties": {"row": {"type": "integer"}}}


def wait(kind: str, name: str, **more: object) -> WaitInfo:
    created_at = (datetime.now(UTC) - timedelta(minutes=5, seconds=1)).isoformat()
    known = {"run_id": RUN, "call_id": "c", "state": "pending", "created_at": created_at}
    return WaitInfo(wait_id=f"wait_{RUN}", kind=kind, name=name, **known, **more)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_table, "NO_TERMINAL", 80)


def test_the_list_at_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    question = wait("question", "ask", prompt="Which seat do you want to have on the way back?")
    tables.waits_table([question, wait("client_tool", "locate", input={"why": "map"})]).echo()
    assert capsys.readouterr().out.splitlines() == [
        "wait                                       kind         age    asked",
        f"wait_{RUN}  question     5 min  Which seat do you",
        f"{'':63}want to have on",
        f"{'':63}the way back?",
        f"wait_{RUN}  client_tool  5 min  locate",
        f"{'':63}" + '{"why":"map"}',
    ]


def test_a_wait_is_printed_at_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    tables.print_wait(wait("question", "ask", prompt="Which seat?", answer_schema=SCHEMA))
    shown = capsys.readouterr().out
    assert f"wait      wait_{RUN}\n" in shown
    assert "question  Which seat?\n" in shown
    assert '            "properties": {\n' in shown
    assert max(map(len, shown.splitlines())) <= 80
