"""The only server, which executes the run, is killed in the middle of the answer, on SQLite, and started again. Clients
whose connections break besides end with the whole answer, once. `test_eventsource.py` and `test_langgraph_threads.py`
have the same for `eventsource` and the thread stream, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, repeat

import pytest

from tests.clients.client_app import COUNT
from tests.clients.conftest import resumed_after_a_restart
from tests.clients.every.clients import CLIENTS, answer_of
from tests.support.scenario.flow import Flow

NUMBERS: dict[str, Callable[[], Iterator[int]]] = {  # after how many events each connection breaks
    "openai py": partial(repeat, 1),
    "openai js": partial(repeat, 1),
    "ai workflow": partial(repeat, 1),
    "ai default": partial(count, 1),
    "ag-ui": partial(count, 1),
    "a2a py": partial(repeat, 2),
    "a2a js": partial(repeat, 2),
    "mcp js, sessions": partial(repeat, 1),
    "langgraph py": partial(repeat, 12),
    "langgraph js": partial(repeat, 15),
}
RETRIES = {"MAX_RETRIES": "1000"}  # of the client of MCP, which otherwise gives up after two


@pytest.mark.parametrize("name", NUMBERS)
async def test_an_answer_is_whole_after_a_restart_of_the_only_server(sqlite_flow: Flow, name: str) -> None:
    client = CLIENTS[name]
    found = await resumed_after_a_restart(
        sqlite_flow, client.program, NUMBERS[name](), client.case, INPUT="slowly", **client.variables, **RETRIES
    )
    assert answer_of(found) == "".join(COUNT), "what the killed server wrote is taken back"
    assert len(await sqlite_flow.database.rows("select id from runs")) == 1
