"""Every test here talks to the agents of `chats_client.py`."""

import pytest

from tests.faces.chats.chats_client import Chat, chat_agents
from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Serve, Server


@pytest.fixture
async def server(serve: Serve, gate: Gate) -> Server:
    return await serve(chat_agents(gate))


@pytest.fixture
def chat(server: Server) -> Chat:
    return Chat(server)
