"""Conversations: who sees them, and how a message and the runs it starts are stored in one commit."""

import pytest
from msgspec.structs import replace

from runyard.domain.conversations.recipients import Participant
from runyard.domain.conversations.thread import DELETED, Change
from runyard.domain.runs.run import Status
from runyard.errors import Conflict, Invalid, KeyReused, NotFound, RunActive
from runyard.store import Store
from tests.store.channel_factories import (
    ANGELA,
    KEVIN,
    OSCAR,
    PAM,
    a_channel,
    a_profile,
    a_reaction,
    channel,
    declare_agents,
    dm,
    feed,
    new_message,
    runs_of,
    said,
    woken,
)
from tests.store.factories import ANN, BOB, Writer, a_key, a_post, claims, clock, ending, log, post, written

CAROL = Participant("carol", "user")


@pytest.fixture
def channel_store(store: Store) -> Store:
    return store


@pytest.fixture(autouse=True)
async def _hired_agents(channel_store: Store) -> None:
    await declare_agents(channel_store)


@pytest.mark.req("S3.7", "S3.23")
async def test_a_message_and_its_runs_are_there_together(channel_store: Store) -> None:
    here = await channel(channel_store, KEVIN, CAROL, OSCAR)
    spoken = await said(channel_store, here, "lunch?")
    assert await woken(channel_store, spoken) == ["kevin", "oscar"]
    assert [m.text for m in await channel_store.recent_messages(here.thread.id, None, 20)] == ["lunch?"]
    for run_id in runs_of(spoken):
        run = await channel_store.get_run(ANN, run_id)
        assert (run.status, run.trigger_message_id, run.thread_id, run.depth) == (
            Status.QUEUED,
            spoken.message.id,
            here.thread.id,
            0,
        )
        assert run.lane_key == f"agent:{run.agent}:{ANN}"
        assert await log(channel_store, run_id) == ["run.queued"]


@pytest.mark.req("S3.24")
async def test_accounting_wakes_kevin_oscar_and_angela_minus_the_sender(channel_store: Store) -> None:
    accounting = await channel(channel_store, KEVIN, OSCAR, ANGELA, private=True, name="accounting")
    assert await woken(channel_store, await said(channel_store, accounting)) == ["kevin", "oscar", "angela"]
    first = await said(channel_store, accounting, sender=KEVIN)
    assert await woken(channel_store, first) == []
    assert await woken(channel_store, await said(channel_store, accounting, parent=first.message.id)) == ["kevin"]


@pytest.mark.req("S3.25")
async def test_a_dm_wakes_the_other_side(channel_store: Store) -> None:
    here = await dm(channel_store, Participant(ANN, "user"), KEVIN)
    assert await woken(channel_store, await said(channel_store, here)) == ["kevin"]
    assert (await dm(channel_store, KEVIN, Participant(ANN, "user"))).thread.id == here.thread.id, (
        "there is one of a pair"
    )


@pytest.mark.req("S3.26")
async def test_a_reply_wakes_the_agents_that_posted_in_the_thread(channel_store: Store) -> None:
    here = await channel(channel_store, KEVIN, OSCAR, ANGELA)
    first = await said(channel_store, here, sender=OSCAR)
    await said(channel_store, here, sender=ANGELA, parent=first.message.id)
    reply = await said(channel_store, here, parent=first.message.id)
    assert await woken(channel_store, reply) == ["oscar", "angela"]
    deeper = await said(channel_store, here, parent=reply.message.id)
    assert deeper.message.parent_id == first.message.id, "a reply to a reply belongs to the same thread"
    assert await woken(channel_store, deeper) == ["oscar", "angela"]


@pytest.mark.req("S3.27")
async def test_an_agent_that_was_retired_is_not_woken(channel_store: Store) -> None:
    here = await channel(channel_store, KEVIN, OSCAR)
    kevin = await channel_store.get_agent(ANN, "kevin")
    await channel_store.change_agent(ANN, replace(kevin, is_active=False))
    assert await woken(channel_store, await said(channel_store, here)) == ["oscar"]
    with pytest.raises(Invalid):
        await channel(channel_store, KEVIN)


@pytest.mark.req("S3.40")
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
async def test_a_chain_of_dms_ends_at_depth_three(channel_store: Store, depth: int) -> None:
    """No run is deeper than 3, and a run of that depth starts none."""
    person = await dm(channel_store, Participant(ANN, "user"), KEVIN)
    between = await dm(channel_store, KEVIN, OSCAR)
    await said(channel_store, person)
    speaker = KEVIN
    for expected in range(depth + 1):
        [run] = await claims(channel_store)
        assert (run.agent, run.depth) == (speaker.id, expected)
        spoken = await said(channel_store, between, sender=speaker, run=run, cause=f"{run.id}:1")
        await written(channel_store, Writer(run).finish())
        speaker = OSCAR if speaker == KEVIN else KEVIN
        assert await woken(channel_store, spoken) == ([speaker.id] if expected < 3 else [])


@pytest.mark.req("S3.40")
async def test_a_repeated_tool_call_posts_its_message_once(channel_store: Store) -> None:
    here = await dm(channel_store, KEVIN, OSCAR)
    first = await said(channel_store, here, sender=KEVIN, cause="run:call")
    again = await said(channel_store, here, sender=KEVIN, cause="run:call")
    assert again.repeated
    assert again.message == first.message
    assert again.started == ()
    assert len(await channel_store.recent_messages(here.thread.id, None, 20)) == 1


async def test_a_known_key_posts_nothing(channel_store: Store) -> None:
    here = await channel(channel_store, KEVIN)
    first = await said(channel_store, here, key=a_key())
    again = await said(channel_store, here, key=a_key())
    assert (again.message, again.repeated, list(again.started)) == (first.message, True, [])
    with pytest.raises(KeyReused):
        await said(channel_store, here, key=a_key(digest="other"))


async def test_a_private_channel_is_unknown_to_others(channel_store: Store) -> None:
    secret = await channel(channel_store, KEVIN, CAROL, private=True)
    spoken = await said(channel_store, secret, "psst")
    message = spoken.message
    for attempt in (
        channel_store.get_conversation(BOB, secret.thread.id),
        channel_store.post_message(new_message(secret.thread.id, caller=BOB)),
        channel_store.get_message(BOB, message.id),
        channel_store.change_message(BOB, message.id, "x"),
        channel_store.delete_message(BOB, message.id, DELETED),
        channel_store.react(BOB, a_reaction(message)),
        channel_store.remove_reaction(BOB, a_reaction(message)),
        channel_store.change_channel(BOB, secret.thread.id, Change(name="x")),
        channel_store.add_member(BOB, secret.thread.id, KEVIN),
        channel_store.remove_member(BOB, secret.thread.id, KEVIN),
        channel_store.delete_thread(BOB, secret.thread.id),
        channel_store.get_run(BOB, spoken.started[0].run_id),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert list(await channel_store.list_conversations(BOB, "channel", None, 9)) == []
    assert await feed(channel_store, BOB) == []
    for caller in (ANN, "carol"):
        assert [c.thread.id for c in await channel_store.list_conversations(caller, "channel", None, 9)] == [
            secret.thread.id
        ]
        assert await feed(channel_store, caller) == [("message_created", ANN)]


async def test_a_member_may_post_and_the_runs_belong_to_the_channels_owner(channel_store: Store) -> None:
    here = await channel(channel_store, CAROL, KEVIN, private=True)
    spoken = await said(channel_store, here, caller="carol", sender=CAROL)
    assert await woken(channel_store, spoken) == ["kevin"]
    with pytest.raises(NotFound):
        await channel_store.get_run("carol", spoken.started[0].run_id)


async def test_all_people_see_a_public_channel(channel_store: Store) -> None:
    here = await channel(channel_store, KEVIN)
    assert (await channel_store.get_conversation(BOB, here.thread.id)).members == [KEVIN]
    assert await woken(channel_store, await said(channel_store, here, caller=BOB, sender=Participant(BOB, "user"))) == [
        "kevin"
    ]


async def test_an_agent_posts_only_in_its_conversations(channel_store: Store) -> None:
    secret = await channel(channel_store, OSCAR, private=True)
    foreign = await channel(channel_store, owner=BOB)
    for here in (secret, foreign):
        with pytest.raises(NotFound):
            await said(channel_store, here, sender=KEVIN)
    await said(channel_store, await channel(channel_store), sender=KEVIN)  # a public one of the same owner
    await said(channel_store, secret, sender=OSCAR)


async def test_agents_of_other_owners_cannot_be_used(channel_store: Store) -> None:
    await channel_store.create_agent(a_profile("toby", owner=BOB))
    with pytest.raises(Invalid):
        await channel(channel_store, Participant("toby"))
    here = await channel(channel_store, Participant("toby"), owner=BOB)
    assert await woken(channel_store, await said(channel_store, here)) == ["toby"]  # a public channel of its owner
    with pytest.raises(NotFound):
        await channel_store.get_agent(ANN, "toby")
    assert "toby" not in [profile.id for profile in await channel_store.list_agents(ANN, None, 99)]


async def test_channels_change_and_have_unique_names(channel_store: Store) -> None:
    here = await channel(channel_store, KEVIN, name="general")
    other = await channel(channel_store, name="random")
    with pytest.raises(Conflict):
        await channel(channel_store, name="general")
    with pytest.raises(Conflict):
        await channel_store.change_channel(ANN, other.thread.id, Change(name="general"))
    changed = await channel_store.change_channel(ANN, here.thread.id, Change(topic="all of us", is_private=True))
    assert (changed.thread.name, changed.thread.topic, changed.thread.is_private) == ("general", "all of us", True)
    await channel_store.add_member(ANN, here.thread.id, PAM)
    assert (await channel_store.add_member(ANN, here.thread.id, KEVIN)).members == [KEVIN, PAM]
    assert (await channel_store.remove_member(ANN, here.thread.id, KEVIN)).members == [PAM]
    with pytest.raises(NotFound):
        await channel_store.remove_member(ANN, here.thread.id, KEVIN)
    assert (await channel(channel_store, owner=BOB, name="general")).thread.owner == BOB


async def test_a_channel_made_with_a_known_key_is_the_same(channel_store: Store) -> None:
    thread = a_channel("general")
    made = await channel_store.open_channel(thread, [KEVIN], a_key())
    assert (await channel_store.open_channel(a_channel("general"), [KEVIN], a_key())).thread == made.thread


@pytest.mark.req("S3.4")
async def test_recent_messages_are_the_last_ones_of_this_conversation_oldest_first(channel_store: Store) -> None:
    here, other = await channel(channel_store), await channel(channel_store)
    for n in range(5):
        await said(channel_store, here, f"here {n}")
        await said(channel_store, other, f"other {n}")
    page = await channel_store.recent_messages(here.thread.id, None, 3)
    assert [m.text for m in page] == ["here 2", "here 3", "here 4"]
    assert [m.text for m in await channel_store.recent_messages(here.thread.id, page[0].id, 9)] == ["here 0", "here 1"]
    reply = await said(channel_store, here, "reply", parent=page[0].id)
    assert [m.id for m in await channel_store.recent_messages(here.thread.id, None, 9, page[0].id)] == [
        reply.message.id
    ]


@pytest.mark.req("S3.33")
async def test_a_conversation_is_deleted_with_everything_in_it(channel_store: Store) -> None:
    here = await channel(channel_store, KEVIN)
    spoken = await said(channel_store, here)
    await channel_store.react(ANN, a_reaction(spoken.message))
    with pytest.raises(RunActive):
        await channel_store.delete_thread(ANN, here.thread.id)
    [run] = await claims(channel_store)
    await written(channel_store, Writer(run).finish())
    await channel_store.delete_thread(ANN, here.thread.id)
    assert await feed(channel_store) == []
    assert await channel_store.reactions([spoken.message.id]) == {}
    for gone in (channel_store.get_conversation(ANN, here.thread.id), channel_store.get_run(ANN, run.id)):
        with pytest.raises(NotFound):
            await gone
    again = await said(channel_store, await channel(channel_store, KEVIN))  # the mailbox continues
    assert [each.id for each in await claims(channel_store)] == list(runs_of(again))


async def test_chats_and_conversations_do_not_mix(channel_store: Store) -> None:
    here = await channel(channel_store, KEVIN)
    assert list(await channel_store.list_threads(ANN, None, 9)) == []
    [answer] = await channel_store.accept([a_post(here.thread.id)])
    assert isinstance(answer, NotFound)
    await post(channel_store)


@pytest.mark.req("S3.17")
async def test_a_run_in_a_mailbox_leaves_the_threads_head_alone(channel_store: Store) -> None:
    here = await channel(channel_store, KEVIN)
    spoken = await said(channel_store, here)
    assert (await channel_store.get_conversation(ANN, here.thread.id)).thread.head_run_id is None
    run = await channel_store.cancel(ANN, runs_of(spoken)[0], 0, ending)
    assert run.status is Status.CANCELED
    assert clock.now_ms() >= run.created_at
