"""What agents remember is their own: blocks by label, shared by links, and passages found by their words."""

import pytest
from msgspec.structs import replace

from runyard.domain.memory import Block, Passage
from runyard.errors import Conflict, NotFound, Sealed
from runyard.ids import new_id
from runyard.office import Office
from runyard.stores.sealed_office import SealedOffice
from tests.store.making import ANN, BOB, clock
from tests.store.office_making import a_profile, hire


@pytest.fixture
async def office(store: Office) -> Office:
    await hire(store)
    return store


def a_block(agent: str, label: str, content: str = "...") -> Block:
    return Block(id=new_id(), agent=agent, label=label, content=content, updated_at=clock.now_ms())


def a_passage(agent: str, content: str, *tags: str, cause: str | None = None) -> Passage:
    return Passage(id=new_id(), agent=agent, content=content, tags=list(tags), created_at=clock.now_ms(), cause=cause)


async def labels(office: Office, agent: str) -> list[tuple[str, str]]:
    return [(block.agent, block.label) for block in await office.blocks(agent)]


@pytest.mark.req("S3.40")
async def test_a_block_is_set_by_its_label(office: Office) -> None:
    first = await office.put_block(a_block("kevin", "relationships", "likes Pam"))
    await office.put_block(a_block("kevin", "personality"))
    again = await office.put_block(a_block("kevin", "relationships", "likes Oscar"))
    assert again.id == first.id
    assert [(b.label, b.content) for b in await office.blocks("kevin")] == [
        ("personality", "..."),
        ("relationships", "likes Oscar"),
    ]
    assert await office.blocks("oscar") == []


@pytest.mark.req("S3.40")
async def test_a_shared_block_is_read_by_those_who_are_linked(office: Office) -> None:
    await office.put_block(a_block("oscar", "budget"), is_shared=True)
    await office.put_block(a_block("kevin", "state"))
    assert await labels(office, "kevin") == [("kevin", "state")]
    await office.link_block("oscar", "budget", "kevin")
    await office.link_block("oscar", "budget", "kevin")
    assert await labels(office, "kevin") == [("kevin", "state"), ("oscar", "budget")]
    assert await labels(office, "angela") == []
    await office.put_block(a_block("oscar", "budget", "spent"))  # still shared
    assert (await office.blocks("kevin"))[1].content == "spent"
    await office.put_block(a_block("oscar", "budget"), is_shared=False)
    assert await labels(office, "kevin") == [("kevin", "state")]
    await office.put_block(a_block("oscar", "budget"), is_shared=True)
    await office.unlink_block("oscar", "budget", "kevin")
    assert await labels(office, "kevin") == [("kevin", "state")]


async def test_a_block_that_is_dropped_takes_its_links_along(office: Office) -> None:
    await office.put_block(a_block("oscar", "budget"), is_shared=True)
    await office.link_block("oscar", "budget", "kevin")
    await office.drop_block("oscar", "budget")
    await office.put_block(a_block("oscar", "budget"), is_shared=True)
    assert await labels(office, "kevin") == []
    with pytest.raises(NotFound):
        await office.drop_block("oscar", "nothing")


async def test_what_is_not_there_is_not_found(office: Office) -> None:
    await office.put_block(a_block("oscar", "own"))
    for attempt in (
        office.put_block(a_block("nobody", "x")),
        office.put_passage(a_passage("nobody", "x")),
        office.link_block("oscar", "own", "kevin"),
        office.link_block("oscar", "missing", "kevin"),
        office.drop_passage("kevin", new_id()),
    ):
        with pytest.raises(NotFound):
            await attempt
    await office.put_block(a_block("oscar", "own"), is_shared=True)
    with pytest.raises(NotFound):
        await office.link_block("oscar", "own", "nobody")


@pytest.mark.req("S3.40")
async def test_passages_are_found_by_their_words_and_are_nobody_elses(office: Office) -> None:
    chili = await office.put_passage(a_passage("kevin", "My famous CHILI recipe, with onions", "food"))
    await office.put_passage(a_passage("kevin", "Poker night on Fridays"))
    await office.put_passage(a_passage("oscar", "Kevin spilled the chili"))
    if isinstance(office, SealedOffice):
        with pytest.raises(Sealed, match="cannot be searched"):
            await office.find_passages("kevin", "chili", 9)
        return
    assert [p.id for p in await office.find_passages("kevin", "chili", 9)] == [chili.id]
    assert [p.id for p in await office.find_passages("kevin", "food?", 9)] == [chili.id]
    assert await office.find_passages("angela", "chili", 9) == []
    assert await office.find_passages("kevin", "' OR \" -- *", 9) == []
    assert await office.find_passages("kevin", "!!", 9) == []
    await office.drop_passage("kevin", chili.id)
    assert await office.find_passages("kevin", "chili", 9) == []
    assert [p.content for p in await office.passages("kevin", None, 9)] == ["Poker night on Fridays"]


async def test_what_a_call_has_put_away_it_puts_away_once(office: Office) -> None:
    first = await office.put_passage(a_passage("kevin", "chili", "a", cause="run:call"))
    assert await office.put_passage(a_passage("kevin", "chili", "a", cause="run:call")) == first
    assert await office.passages("kevin", None, 9) == [first]


async def test_declared_agents_keep_what_is_kept_with_them(office: Office) -> None:
    await office.keep_session("kevin", "s1")
    kevin = await office.get_agent(ANN, "kevin")
    assert (kevin.session_id, kevin.owner, kevin.display_name) == ("s1", None, "Kevin")
    await office.change_agent(ANN, replace(kevin, is_active=False, title="accountant"))
    await office.declare_agents([replace(a_profile("kevin"), persona="new", updated_at=kevin.updated_at + 1)])
    again = await office.get_agent(BOB, "kevin")
    assert (again.is_active, again.title, again.persona, again.session_id) == (False, "accountant", "new", "s1")


async def test_agents_are_listed_by_id_and_the_retired_only_if_asked_for(office: Office) -> None:
    await office.create_agent(a_profile("toby", owner=ANN))
    with pytest.raises(Conflict):
        await office.create_agent(a_profile("toby", owner=BOB))
    toby = await office.get_agent(ANN, "toby")
    await office.change_agent(ANN, replace(toby, is_active=False))
    assert [a.id for a in await office.list_agents(ANN, "kevin", 9)] == ["oscar", "pam"]
    assert [a.id for a in await office.list_agents(ANN, "kevin", 9, inactive=True)] == ["oscar", "pam", "toby"]
    assert [a.id for a in await office.list_agents(BOB, None, 2, inactive=True)] == ["angela", "kevin"]
    assert await office.find_agent("toby") is not None
    assert await office.find_agent("nobody") is None
    with pytest.raises(NotFound):
        await office.change_agent(BOB, toby)
