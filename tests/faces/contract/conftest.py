"""A server with the agents of these tests."""

import pytest

from tests.faces.agents_for_tests import Gate
from tests.faces.contract.contract_client import contract_agents
from tests.faces.live_server import Serve, Server


@pytest.fixture
async def server(serve: Serve, gate: Gate) -> Server:
    return await serve(contract_agents(gate))
