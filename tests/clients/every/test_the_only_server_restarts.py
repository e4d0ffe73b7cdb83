"""The only server, which executes the run, is killed in the middle of the answer, on SQLite, and started again. Clients
whose connections break besides end with the whole answer, once. `test_eventsource.py` and `test_langgraph_threads.py`
have the same for `eventsource` and the thread stream, on both databases."""

from __future__ import annotations

from functools import partial
from itertools import repeat

import pytest

from tests.clients.client_app import COUNT
from tests.clients.conftest import resumed_after_a_restart
from tests.clients.every.clients import CLIENTS, NUMBERS, answer_of
from tests.support.scenario.flow import Flow

HERE = NUMBERS | {
    "mcp js, sessions": partial(repeat, 1),
    "langgraph py": partial(repeat, 12),
    "langgraph js": partial(repeat, 15),
}
RETRIES = {"MAX_RETRIES": "1000"}  # of the client of MCP, which otherwise gives up after two


@pytest.mark.parametrize("name", HERE)
async def test_an_answer_is_whole_after_a_restart_of_the_only_server(sqlite_flow: Flow, name: str) -> None:
    client = CLIENTS[name]
    found = await resumed_after_a_restart(
        sqlite_flow, client.program, HERE[name](), client.case, INPUT="slowly", **client.variables, **RETRIES
    )
    assert answer_of(found) == "".join(COUNT), "what the killed server wrote is taken back"
    assert len(await sqlite_flow.database.rows("select id from runs")) == 1
