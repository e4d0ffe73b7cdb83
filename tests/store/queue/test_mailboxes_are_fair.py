"""Many mailboxes on Postgres: one agent with a long queue does not keep the others waiting."""

from collections import Counter

import pytest
from msgspec.structs import replace

from runyard.domain.runs.run import agent_lane
from runyard.store import Post
from tests.store.conftest import postgres_store
from tests.store.factories import ANN, Writer, a_post, a_worker

AGENTS, EACH, BUSY = 100, 20, 2000
PLACES = 50


def a_letter(agent: str) -> Post:
    return replace(a_post(lane=agent_lane(agent, ANN)), agent=agent)


@pytest.mark.req("S3.9", "S3.10", "S3.11")
@pytest.mark.postgres
async def test_a_hundred_agents_are_served_beside_one_with_two_thousand_messages(postgres_dsn: str) -> None:
    store = postgres_store(postgres_dsn)
    await store.open()
    letters = [a_letter("busy") for _ in range(BUSY)]
    letters += [a_letter(f"agent{n}") for _ in range(EACH) for n in range(AGENTS)]
    for at in range(0, len(letters), 500):
        await store.accept(letters[at : at + 500])
    expected = {agent: [p.run_id for p in letters if p.agent == agent] for agent in {p.agent for p in letters}}
    worker, done = await a_worker(store, 600_000), Counter[str | None]()
    while sum(done.values()) - done["busy"] < AGENTS * EACH:
        taken = [claim.run for claim in await store.claim(worker, PLACES, suspects=False)]
        assert len({run.agent for run in taken}) == len(taken), "one at a time"
        for run in taken:
            assert run.id == expected[run.agent][done[run.agent]], "first come, first served"
            done[run.agent] += 1
        await store.append([Writer(run).finish() for run in taken])
        assert done["busy"] <= max(done[f"agent{n}"] for n in range(AGENTS)) + 2, "no more than its turn"
    assert all(done[f"agent{n}"] == EACH for n in range(AGENTS))
    assert done["busy"] <= EACH + 2
    await store.close()
