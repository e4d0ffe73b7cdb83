"""The only server, which executes the run, is killed in the middle of the answer, on SQLite, and started again. Clients
whose connections break besides end with the whole answer, once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, repeat

import pytest

from tests.clients.client_app import COUNT
from tests.clients.conftest import resumed_after_a_restart
from tests.support.scenario.flow import Flow


@pytest.mark.parametrize(
    ("program", "numbers", "variables"),
    [
        ("openai_client.py", repeat(1), {}),
        ("openai_client.mjs", repeat(1), {}),
        ("ai_sdk_client.mjs", repeat(1), {"TRANSPORT": "workflow"}),
        ("ai_sdk_client.mjs", count(1), {"TRANSPORT": "default"}),
        ("ag_ui_client.mjs", count(1), {}),
        ("langgraph_client.py", repeat(12), {}),
        ("langgraph_client.mjs", repeat(15), {}),
    ],
    ids=["openai py", "openai js", "ai workflow", "ai default", "ag-ui", "langgraph py", "langgraph js"],
)
async def test_an_answer_is_whole_after_a_restart_of_the_only_server(
    sqlite_flow: Flow, program: str, numbers: Iterator[int], variables: dict[str, str]
) -> None:
    found = await resumed_after_a_restart(sqlite_flow, program, numbers, INPUT="slowly", **variables)
    text = found["values"]["messages"][-1]["content"] if "values" in found else found["text"]
    assert text == "".join(COUNT), "what the killed server wrote is taken back"
    assert len(await sqlite_flow.database.rows("select id from runs")) == 1
