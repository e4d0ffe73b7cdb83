"""Memory is separate for each agent and owner: blocks by label, shared by links, and passages found by
their words."""

import pytest
from msgspec.structs import replace

from runyard.base.ids import new_id
from runyard.domain.content.memory import EVERY_OWNER, Block, Passage
from runyard.encryption.sealed_store import SealedStore
from runyard.errors import Conflict, NotFound, Sealed
from runyard.store import Store
from tests.store.channel_factories import KEVIN, OSCAR, a_profile, channel, declare_agents
from tests.store.factories import ANN, BOB, clock


@pytest.fixture
async def channel_store(store: Store) -> Store:
    await declare_agents(store)
    return store


def a_block(agent: str, label: str, content: str = "...", owner: str = ANN) -> Block:
    return Block(id=new_id(), agent=agent, owner=owner, label=label, content=content, updated_at=clock.now_ms())


def a_passage(agent: str, content: str, *tags: str, cause: str | None = None, owner: str = ANN) -> Passage:
    now = clock.now_ms()
    return Passage(id=new_id(), agent=agent, owner=owner, content=content, tags=list(tags), created_at=now, cause=cause)


async def labels(channel_store: Store, agent: str, owner: str = ANN) -> list[tuple[str, str]]:
    return [(block.agent, block.label) for block in await channel_store.blocks(agent, owner)]


@pytest.mark.req("S3.40")
async def test_a_block_is_set_by_its_label(channel_store: Store) -> None:
    first = await channel_store.put_block(a_block("kevin", "relationships", "likes Pam"))
    await channel_store.put_block(a_block("kevin", "personality"))
    again = await channel_store.put_block(a_block("kevin", "relationships", "likes Oscar"))
    assert again.id == first.id
    assert [(b.label, b.content) for b in await channel_store.blocks("kevin", ANN)] == [
        ("personality", "..."),
        ("relationships", "likes Oscar"),
    ]
    assert await channel_store.blocks("oscar", ANN) == []


@pytest.mark.req("S3.40")
async def test_a_shared_block_is_read_by_those_who_are_linked(channel_store: Store) -> None:
    await channel_store.put_block(a_block("oscar", "budget"), is_shared=True)
    await channel_store.put_block(a_block("kevin", "state"))
    assert await labels(channel_store, "kevin") == [("kevin", "state")]
    await channel_store.link_block("oscar", ANN, "budget", "kevin", ANN)
    await channel_store.link_block("oscar", ANN, "budget", "kevin", ANN)
    assert await labels(channel_store, "kevin") == [("kevin", "state"), ("oscar", "budget")]
    assert await labels(channel_store, "angela") == []
    await channel_store.put_block(a_block("oscar", "budget", "spent"))  # still shared
    assert (await channel_store.blocks("kevin", ANN))[1].content == "spent"
    await channel_store.put_block(a_block("oscar", "budget"), is_shared=False)
    assert await labels(channel_store, "kevin") == [("kevin", "state")]
    await channel_store.put_block(a_block("oscar", "budget"), is_shared=True)
    await channel_store.unlink_block("oscar", ANN, "budget", "kevin", ANN)
    assert await labels(channel_store, "kevin") == [("kevin", "state")]


async def test_a_block_that_is_dropped_takes_its_links_along(channel_store: Store) -> None:
    await channel_store.put_block(a_block("oscar", "budget"), is_shared=True)
    await channel_store.link_block("oscar", ANN, "budget", "kevin", ANN)
    await channel_store.drop_block("oscar", ANN, "budget")
    await channel_store.put_block(a_block("oscar", "budget"), is_shared=True)
    assert await labels(channel_store, "kevin") == []
    with pytest.raises(NotFound):
        await channel_store.drop_block("oscar", ANN, "nothing")


async def test_missing_blocks_and_passages_are_not_found(channel_store: Store) -> None:
    await channel_store.put_block(a_block("oscar", "own"))
    for attempt in (
        channel_store.put_block(a_block("nobody", "x")),
        channel_store.put_passage(a_passage("nobody", "x")),
        channel_store.link_block("oscar", ANN, "own", "kevin", ANN),
        channel_store.link_block("oscar", ANN, "missing", "kevin", ANN),
        channel_store.drop_passage("kevin", ANN, new_id()),
    ):
        with pytest.raises(NotFound):
            await attempt
    await channel_store.put_block(a_block("oscar", "own"), is_shared=True)
    with pytest.raises(NotFound):
        await channel_store.link_block("oscar", ANN, "own", "nobody", ANN)


@pytest.mark.req("S3.40")
async def test_passages_are_found_by_their_words_and_only_by_their_agent(channel_store: Store) -> None:
    chili = await channel_store.put_passage(a_passage("kevin", "My famous CHILI recipe, with onions", "food"))
    await channel_store.put_passage(a_passage("kevin", "Poker night on Fridays"))
    await channel_store.put_passage(a_passage("oscar", "Kevin spilled the chili"))
    if isinstance(channel_store, SealedStore):
        with pytest.raises(Sealed, match="cannot be searched"):
            await channel_store.find_passages("kevin", ANN, "chili", 9)
        return
    assert [p.id for p in await channel_store.find_passages("kevin", ANN, "chili", 9)] == [chili.id]
    assert [p.id for p in await channel_store.find_passages("kevin", ANN, "food?", 9)] == [chili.id]
    assert await channel_store.find_passages("angela", ANN, "chili", 9) == []
    assert await channel_store.find_passages("kevin", ANN, "' OR \" -- *", 9) == []
    assert await channel_store.find_passages("kevin", ANN, "!!", 9) == []
    await channel_store.drop_passage("kevin", ANN, chili.id)
    assert await channel_store.find_passages("kevin", ANN, "chili", 9) == []
    assert [p.content for p in await channel_store.passages("kevin", ANN, None, 9)] == ["Poker night on Fridays"]


async def test_a_call_stores_a_passage_once(channel_store: Store) -> None:
    first = await channel_store.put_passage(a_passage("kevin", "chili", "a", cause="run:call"))
    assert await channel_store.put_passage(a_passage("kevin", "chili", "a", cause="run:call")) == first
    assert await channel_store.passages("kevin", ANN, None, 9) == [first]


async def test_one_owner_neither_reads_nor_changes_what_an_agent_remembers_of_another(channel_store: Store) -> None:
    await channel_store.put_block(a_block("kevin", "notes", "ann's"), is_shared=True)
    kept = await channel_store.put_passage(a_passage("kevin", "ann's chili"))
    assert await channel_store.blocks("kevin", BOB) == []
    assert await channel_store.passages("kevin", BOB, None, 9) == []
    if not isinstance(channel_store, SealedStore):
        assert await channel_store.find_passages("kevin", BOB, "chili", 9) == []
    for attempt in (
        channel_store.drop_block("kevin", BOB, "notes"),
        channel_store.link_block("kevin", BOB, "notes", "oscar", BOB),
        channel_store.drop_passage("kevin", BOB, kept.id),
    ):
        with pytest.raises(NotFound):
            await attempt
    await channel_store.put_block(a_block("kevin", "notes", "bob's", owner=BOB))
    assert [b.content for b in await channel_store.blocks("kevin", ANN)] == ["ann's"]
    assert [b.content for b in await channel_store.blocks("kevin", BOB)] == ["bob's"]
    await channel_store.drop_block("kevin", BOB, "notes")
    assert [b.content for b in await channel_store.blocks("kevin", ANN)] == ["ann's"]
    assert await channel_store.passages("kevin", ANN, None, 9) == [kept]


async def test_a_linked_block_is_read_for_its_owner_only(channel_store: Store) -> None:
    await channel_store.put_block(a_block("oscar", "budget", "ann's"), is_shared=True)
    await channel_store.link_block(
        "oscar", ANN, "budget", "kevin", BOB
    )  # no caller can do this; the store holds all the same
    await channel_store.link_block("oscar", ANN, "budget", "kevin", EVERY_OWNER)
    assert await labels(channel_store, "kevin", BOB) == []
    assert await labels(channel_store, "kevin", EVERY_OWNER) == []
    assert await labels(channel_store, "kevin", ANN) == []
    await channel_store.link_block("oscar", ANN, "budget", "kevin", ANN)
    assert await labels(channel_store, "kevin", ANN) == [("oscar", "budget")]


async def test_a_block_of_every_owner_is_read_where_an_owner_linked_it(channel_store: Store) -> None:
    await channel_store.put_block(a_block("oscar", "rules", owner=EVERY_OWNER), is_shared=True)
    await channel_store.link_block("oscar", EVERY_OWNER, "rules", "kevin", ANN)
    assert await labels(channel_store, "kevin", ANN) == [("oscar", "rules")]
    assert await labels(channel_store, "kevin", BOB) == [], "what one owner links is in no prompt of another"
    await channel_store.unlink_block("oscar", EVERY_OWNER, "rules", "kevin", BOB)
    assert await labels(channel_store, "kevin", ANN) == [("oscar", "rules")]
    await channel_store.unlink_block("oscar", EVERY_OWNER, "rules", "kevin", ANN)
    assert await labels(channel_store, "kevin", ANN) == []


@pytest.mark.req("S3.16", "S3.4")
async def test_a_session_is_kept_for_one_agent_in_one_conversation(channel_store: Store) -> None:
    here, there = await channel(channel_store, KEVIN, OSCAR), await channel(channel_store, KEVIN, owner=BOB)
    await channel_store.save_session("kevin", here.thread.id, "s1")
    await channel_store.save_session("kevin", here.thread.id, "s2")
    await channel_store.save_session("kevin", there.thread.id, "s3")
    await channel_store.save_session("nobody", here.thread.id, "s4")
    await channel_store.save_session("kevin", new_id(), "s5")
    assert await channel_store.session("kevin", here.thread.id) == "s2"
    assert await channel_store.session("kevin", there.thread.id) == "s3"
    assert await channel_store.session("oscar", here.thread.id) is None
    assert await channel_store.session("nobody", here.thread.id) is None
    await channel_store.delete_thread(ANN, here.thread.id)
    assert await channel_store.session("kevin", here.thread.id) is None
    assert await channel_store.session("kevin", there.thread.id) == "s3"


async def test_declared_agents_keep_what_is_kept_with_them(channel_store: Store) -> None:
    kevin = await channel_store.get_agent(ANN, "kevin")
    assert (kevin.owner, kevin.display_name) == (None, "Kevin")
    await channel_store.change_agent(ANN, replace(kevin, is_active=False, title="accountant"))
    await channel_store.declare_agents([replace(a_profile("kevin"), persona="new", updated_at=kevin.updated_at + 1)])
    again = await channel_store.get_agent(BOB, "kevin")
    assert (again.is_active, again.title, again.persona) == (False, "accountant", "new")


async def test_agents_are_listed_by_id_and_the_retired_only_if_asked_for(channel_store: Store) -> None:
    await channel_store.create_agent(a_profile("toby", owner=ANN))
    with pytest.raises(Conflict):
        await channel_store.create_agent(a_profile("toby", owner=BOB))
    toby = await channel_store.get_agent(ANN, "toby")
    await channel_store.change_agent(ANN, replace(toby, is_active=False))
    assert [a.id for a in await channel_store.list_agents(ANN, "kevin", 9)] == ["oscar", "pam"]
    assert [a.id for a in await channel_store.list_agents(ANN, "kevin", 9, inactive=True)] == ["oscar", "pam", "toby"]
    assert [a.id for a in await channel_store.list_agents(BOB, None, 2, inactive=True)] == ["angela", "kevin"]
    assert await channel_store.find_agent("toby") is not None
    assert await channel_store.find_agent("nobody") is None
    with pytest.raises(NotFound):
        await channel_store.change_agent(BOB, toby)


@pytest.mark.req("S3.40")
async def test_passages_are_found_by_any_part_of_their_text_in_any_case(channel_store: Store) -> None:
    if isinstance(channel_store, SealedStore):
        return  # sealed passages cannot be searched
    kept = [
        await channel_store.put_passage(a_passage("kevin", content))
        for content in ("The Überraschung is on Friday", "friday mail", "100%_sure", "nothing of that")
    ]

    async def found(query: str) -> list[str]:
        return [passage.content for passage in await channel_store.find_passages("kevin", ANN, query, 9)]

    assert await found("überRASCH") == [kept[0].content], "a part of a word"
    assert await found("is on fri") == [kept[0].content]
    assert await found("%_") == [kept[2].content], "no character is special"
    assert await found("riday") == [kept[0].content, kept[1].content]
    assert await found("friday mail") == [kept[1].content, kept[0].content], "what contains all of it comes first"
    assert await found(" ") == []
