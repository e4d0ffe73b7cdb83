"""A server with the agents of these tests."""

import pytest

from tests.faces.contract.contract_client import contract_agents
from tests.faces.samples.agents_for_tests import Gate
from tests.support.in_process.live_server import Serve, Server


@pytest.fixture
async def server(serve: Serve, gate: Gate) -> Server:
    return await serve(contract_agents(gate))
