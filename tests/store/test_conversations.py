"""Conversations: who sees them, what is said there, and whom it wakes, in one commit."""

import pytest
from msgspec.structs import replace

from runyard.domain.recipients import Party
from runyard.domain.run import Status
from runyard.domain.thread import Change
from runyard.errors import Conflict, Invalid, KeyReused, NotFound, RunActive
from runyard.ids import new_id
from runyard.store import Store
from tests.store.making import ANN, BOB, Writer, a_key, a_post, claims, clock, ending, log, post, written
from tests.store.office_making import (
    ANGELA,
    KEVIN,
    OSCAR,
    PAM,
    a_channel,
    a_profile,
    a_reaction,
    channel,
    dm,
    feed,
    hire,
    runs_of,
    said,
    woken,
    words,
)

CAROL = Party("carol", "user")


@pytest.fixture
def office(store: Store) -> Store:
    return store


@pytest.fixture(autouse=True)
async def _hired_agents(office: Store) -> None:
    await hire(office)


@pytest.mark.req("S3.7", "S3.23")
async def test_a_message_and_its_runs_are_there_together(office: Store) -> None:
    here = await channel(office, KEVIN, CAROL, OSCAR)
    spoken = await said(office, here, "lunch?")
    assert await woken(office, spoken) == ["kevin", "oscar"]
    assert [m.text for m in await office.recent_messages(here.thread.id, None, 20)] == ["lunch?"]
    for run_id in runs_of(spoken):
        run = await office.get_run(ANN, run_id)
        assert (run.status, run.trigger_message_id, run.thread_id, run.depth) == (
            Status.QUEUED,
            spoken.message.id,
            here.thread.id,
            0,
        )
        assert run.lane_key == f"agent:{run.agent}:{ANN}"
        assert await log(office, run_id) == ["run.queued"]


@pytest.mark.req("S3.24")
async def test_accounting_wakes_kevin_oscar_and_angela_minus_the_sender(office: Store) -> None:
    accounting = await channel(office, KEVIN, OSCAR, ANGELA, private=True, name="accounting")
    assert await woken(office, await said(office, accounting)) == ["kevin", "oscar", "angela"]
    first = await said(office, accounting, sender=KEVIN)
    assert await woken(office, first) == []
    assert await woken(office, await said(office, accounting, parent=first.message.id)) == ["kevin"]


@pytest.mark.req("S3.25")
async def test_a_dm_wakes_the_other_side(office: Store) -> None:
    here = await dm(office, Party(ANN, "user"), KEVIN)
    assert await woken(office, await said(office, here)) == ["kevin"]
    assert (await dm(office, KEVIN, Party(ANN, "user"))).thread.id == here.thread.id, "there is one of a pair"


@pytest.mark.req("S3.26")
async def test_a_reply_wakes_who_has_spoken_in_the_thread(office: Store) -> None:
    here = await channel(office, KEVIN, OSCAR, ANGELA)
    first = await said(office, here, sender=OSCAR)
    await said(office, here, sender=ANGELA, parent=first.message.id)
    reply = await said(office, here, parent=first.message.id)
    assert await woken(office, reply) == ["oscar", "angela"]
    deeper = await said(office, here, parent=reply.message.id)
    assert deeper.message.parent_id == first.message.id, "a reply to a reply belongs to the same thread"
    assert await woken(office, deeper) == ["oscar", "angela"]


@pytest.mark.req("S3.27")
async def test_an_agent_that_was_retired_is_not_woken(office: Store) -> None:
    here = await channel(office, KEVIN, OSCAR)
    kevin = await office.get_agent(ANN, "kevin")
    await office.change_agent(ANN, replace(kevin, is_active=False))
    assert await woken(office, await said(office, here)) == ["oscar"]
    with pytest.raises(Invalid):
        await channel(office, KEVIN)


@pytest.mark.req("S3.40")
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
async def test_a_chain_of_dms_ends_at_depth_three(office: Store, depth: int) -> None:
    """D6: no run is deeper than 3, and one of that depth starts none."""
    person = await dm(office, Party(ANN, "user"), KEVIN)
    between = await dm(office, KEVIN, OSCAR)
    await said(office, person)
    speaker = KEVIN
    for expected in range(depth + 1):
        [run] = await claims(office)
        assert (run.agent, run.depth) == (speaker.id, expected)
        spoken = await said(office, between, sender=speaker, run=run, cause=f"{run.id}:1")
        await written(office, Writer(run).finish())
        speaker = OSCAR if speaker == KEVIN else KEVIN
        assert await woken(office, spoken) == ([speaker.id] if expected < 3 else [])


@pytest.mark.req("S3.40")
async def test_what_a_call_has_said_it_says_once(office: Store) -> None:
    here = await dm(office, KEVIN, OSCAR)
    first = await said(office, here, sender=KEVIN, cause="run:call")
    again = await said(office, here, sender=KEVIN, cause="run:call")
    assert again.repeated
    assert again.message == first.message
    assert again.started == ()
    assert len(await office.recent_messages(here.thread.id, None, 20)) == 1


async def test_a_known_key_says_nothing_anew(office: Store) -> None:
    here = await channel(office, KEVIN)
    first = await said(office, here, key=a_key())
    again = await said(office, here, key=a_key())
    assert (again.message, again.repeated, list(again.started)) == (first.message, True, [])
    with pytest.raises(KeyReused):
        await said(office, here, key=a_key(digest="other"))


async def test_a_private_channel_is_unknown_to_others(office: Store) -> None:
    secret = await channel(office, KEVIN, CAROL, private=True)
    spoken = await said(office, secret, "psst")
    message = spoken.message
    for attempt in (
        office.get_conversation(BOB, secret.thread.id),
        office.post_message(words(secret.thread.id, caller=BOB)),
        office.get_message(BOB, message.id),
        office.change_message(BOB, message.id, "x"),
        office.delete_message(BOB, message.id),
        office.react(BOB, a_reaction(message)),
        office.remove_reaction(BOB, a_reaction(message)),
        office.change_channel(BOB, secret.thread.id, Change(name="x")),
        office.add_member(BOB, secret.thread.id, KEVIN),
        office.remove_member(BOB, secret.thread.id, KEVIN),
        office.delete_thread(BOB, secret.thread.id),
        office.get_run(BOB, spoken.started[0].run_id),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert list(await office.list_conversations(BOB, "channel", None, 9)) == []
    assert await feed(office, BOB) == []
    for caller in (ANN, "carol"):
        assert [c.thread.id for c in await office.list_conversations(caller, "channel", None, 9)] == [secret.thread.id]
        assert await feed(office, caller) == [("message_created", ANN)]


async def test_a_member_may_speak_and_the_runs_belong_to_the_channels_owner(office: Store) -> None:
    here = await channel(office, CAROL, KEVIN, private=True)
    spoken = await said(office, here, caller="carol", sender=CAROL)
    assert await woken(office, spoken) == ["kevin"]
    with pytest.raises(NotFound):
        await office.get_run("carol", spoken.started[0].run_id)


async def test_a_public_channel_is_everybodys(office: Store) -> None:
    here = await channel(office, KEVIN)
    assert (await office.get_conversation(BOB, here.thread.id)).members == [KEVIN]
    assert await woken(office, await said(office, here, caller=BOB, sender=Party(BOB, "user"))) == ["kevin"]


async def test_an_agent_speaks_only_where_it_belongs(office: Store) -> None:
    secret = await channel(office, OSCAR, private=True)
    foreign = await channel(office, owner=BOB)
    for here in (secret, foreign):
        with pytest.raises(NotFound):
            await said(office, here, sender=KEVIN)
    await said(office, await channel(office), sender=KEVIN)  # a public one of the same owner
    await said(office, secret, sender=OSCAR)


async def test_agents_of_others_cannot_be_used(office: Store) -> None:
    await office.create_agent(a_profile("toby", owner=BOB))
    with pytest.raises(Invalid):
        await channel(office, Party("toby"))
    here = await channel(office, Party("toby"), owner=BOB)
    assert await woken(office, await said(office, here)) == ["toby"]  # a public channel of its owner
    with pytest.raises(NotFound):
        await office.get_agent(ANN, "toby")
    assert "toby" not in [profile.id for profile in await office.list_agents(ANN, None, 99)]


async def test_channels_change_and_have_names_of_their_own(office: Store) -> None:
    here = await channel(office, KEVIN, name="general")
    other = await channel(office, name="random")
    with pytest.raises(Conflict):
        await channel(office, name="general")
    with pytest.raises(Conflict):
        await office.change_channel(ANN, other.thread.id, Change(name="general"))
    changed = await office.change_channel(ANN, here.thread.id, Change(topic="all of us", is_private=True))
    assert (changed.thread.name, changed.thread.topic, changed.thread.is_private) == ("general", "all of us", True)
    await office.add_member(ANN, here.thread.id, PAM)
    assert (await office.add_member(ANN, here.thread.id, KEVIN)).members == [KEVIN, PAM]
    assert (await office.remove_member(ANN, here.thread.id, KEVIN)).members == [PAM]
    with pytest.raises(NotFound):
        await office.remove_member(ANN, here.thread.id, KEVIN)
    assert (await channel(office, owner=BOB, name="general")).thread.owner == BOB


async def test_a_channel_made_with_a_known_key_is_the_same(office: Store) -> None:
    thread = a_channel("general")
    made = await office.open_channel(thread, [KEVIN], a_key())
    assert (await office.open_channel(a_channel("general"), [KEVIN], a_key())).thread == made.thread


@pytest.mark.req("S3.4")
async def test_recent_messages_are_the_last_ones_of_this_conversation_oldest_first(office: Store) -> None:
    here, other = await channel(office), await channel(office)
    for n in range(5):
        await said(office, here, f"here {n}")
        await said(office, other, f"other {n}")
    page = await office.recent_messages(here.thread.id, None, 3)
    assert [m.text for m in page] == ["here 2", "here 3", "here 4"]
    assert [m.text for m in await office.recent_messages(here.thread.id, page[0].id, 9)] == ["here 0", "here 1"]
    reply = await said(office, here, "reply", parent=page[0].id)
    assert [m.id for m in await office.recent_messages(here.thread.id, None, 9, page[0].id)] == [reply.message.id]


async def test_reactions_are_counted_once(office: Store) -> None:
    here = await channel(office, KEVIN)
    message = (await said(office, here)).message
    assert await office.react(ANN, a_reaction(message))
    assert not await office.react(ANN, a_reaction(message))
    assert await office.react(ANN, a_reaction(message, sender=KEVIN))
    found = (await office.reactions([message.id, new_id()]))[message.id]
    assert [(each.sender, each.emoji) for each in found] == [(ANN, "+1"), ("kevin", "+1")]
    assert (await feed(office))[1:] == [("reaction_added", ANN), ("reaction_added", "kevin")]
    await office.remove_reaction(ANN, a_reaction(message))
    assert [each.sender for each in (await office.reactions([message.id]))[message.id]] == ["kevin"]


async def test_words_are_changed_and_unsaid_by_who_said_them_or_owns_the_place(office: Store) -> None:
    here = await channel(office, CAROL)
    message = (await said(office, here, caller="carol", sender=CAROL)).message
    of_agent = (await said(office, here, sender=KEVIN)).message
    assert (await office.change_message("carol", message.id, "other")).text == "other"
    with pytest.raises(NotFound):
        await office.change_message(BOB, message.id, "mine")
    with pytest.raises(NotFound):
        await office.change_message(ANN, of_agent.id, "not what it said")
    with pytest.raises(NotFound):
        await office.delete_message("carol", of_agent.id)
    await office.delete_message(ANN, of_agent.id)
    await said(office, here, "reply", parent=message.id)
    await office.delete_message("carol", message.id)
    assert list(await office.recent_messages(here.thread.id, None, 9)) == []
    assert await feed(office, ANN) == [], "what was unsaid is not told any more"


@pytest.mark.req("S3.33")
async def test_a_conversation_is_deleted_with_everything_in_it(office: Store) -> None:
    here = await channel(office, KEVIN)
    spoken = await said(office, here)
    await office.react(ANN, a_reaction(spoken.message))
    with pytest.raises(RunActive):
        await office.delete_thread(ANN, here.thread.id)
    [run] = await claims(office)
    await written(office, Writer(run).finish())
    await office.delete_thread(ANN, here.thread.id)
    assert await feed(office) == []
    assert await office.reactions([spoken.message.id]) == {}
    for gone in (office.get_conversation(ANN, here.thread.id), office.get_run(ANN, run.id)):
        with pytest.raises(NotFound):
            await gone
    again = await said(office, await channel(office, KEVIN))  # the mailbox goes on
    assert [each.id for each in await claims(office)] == list(runs_of(again))


async def test_chats_and_conversations_do_not_mix(office: Store) -> None:
    here = await channel(office, KEVIN)
    assert list(await office.list_threads(ANN, None, 9)) == []
    [answer] = await office.accept([a_post(here.thread.id)])
    assert isinstance(answer, NotFound)
    await post(office)


@pytest.mark.req("S3.17")
async def test_a_run_in_a_mailbox_leaves_the_threads_head_alone(office: Store) -> None:
    here = await channel(office, KEVIN)
    spoken = await said(office, here)
    assert (await office.get_conversation(ANN, here.thread.id)).thread.head_run_id is None
    run = await office.cancel(ANN, runs_of(spoken)[0], 0, ending)
    assert run.status is Status.CANCELED
    assert clock.now_ms() >= run.created_at
