"""Every test here talks to the agents of `chats_client.py`."""

import pytest

from tests.faces.agents_for_tests import Gate
from tests.faces.chats.chats_client import Chat, chat_agents
from tests.faces.live_server import Serve, Server


@pytest.fixture
async def server(serve: Serve, gate: Gate) -> Server:
    return await serve(chat_agents(gate))


@pytest.fixture
def chat(server: Server) -> Chat:
    return Chat(server)
