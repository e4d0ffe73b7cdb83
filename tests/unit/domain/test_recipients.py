"""The agents that a message wakes."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.domain.conversations.recipients import MAX_CHAIN_DEPTH, Audience, Participant, next_depth, recipients

KEVIN, OSCAR, ANGELA, PAM = (Participant(name) for name in ("kevin", "oscar", "angela", "pam"))
ANN, BOB = Participant("ann", "user"), Participant("bob", "user")
ACCOUNTING = [ANN, KEVIN, OSCAR, ANGELA]
EVERYBODY = {"kevin", "oscar", "angela", "pam"}


def channel(
    members: Sequence[Participant],
    *,
    private: bool = False,
    spoken: Sequence[Participant] | None = None,
    active: set[str] = EVERYBODY,
) -> Audience:
    return Audience(kind="channel", is_private=private, members=members, active=active, spoken=spoken)


def dm(one: Participant, other: Participant, active: set[str] = EVERYBODY) -> Audience:
    return Audience(kind="dm", is_private=True, members=[one, other], active=active)


@pytest.mark.req("S3.23")
def test_a_channel_message_is_for_all_its_agents_in_the_order_they_joined() -> None:
    assert recipients(ANN, channel([PAM, ANN, KEVIN, OSCAR])) == ["pam", "kevin", "oscar"]


@pytest.mark.req("S3.24")
def test_a_message_in_accounting_is_for_kevin_oscar_and_angela_alone() -> None:
    assert recipients(ANN, channel(ACCOUNTING, private=True)) == ["kevin", "oscar", "angela"]


@pytest.mark.req("S3.24", "S3.27")
@pytest.mark.parametrize("sender", [KEVIN, OSCAR, ANGELA])
def test_a_sender_in_a_private_channel_is_left_out(sender: Participant) -> None:
    person = Participant(sender.id, "user")  # a person of that name is not the agent
    others = [party.id for party in (KEVIN, OSCAR, ANGELA) if party != sender]
    accounting = channel(ACCOUNTING, private=True, spoken=[KEVIN, OSCAR, ANGELA])
    assert recipients(person, accounting) == ["kevin", "oscar", "angela"]
    assert recipients(sender, channel(ACCOUNTING, private=True)) == []  # an agent's message starts no run in a channel
    assert [each for each in recipients(ANN, accounting) if each != sender.id] == others


@pytest.mark.req("S3.25")
def test_a_dm_is_for_the_other_side_only() -> None:
    assert recipients(ANN, dm(ANN, KEVIN)) == ["kevin"]
    assert recipients(KEVIN, dm(ANN, KEVIN), depth=0) == []  # the other side is a person
    assert recipients(KEVIN, dm(KEVIN, OSCAR), depth=0) == ["oscar"]


@pytest.mark.req("S3.26")
def test_a_reply_is_for_the_author_and_those_who_replied_before() -> None:
    assert recipients(ANN, channel(ACCOUNTING, spoken=[OSCAR, ANN, KEVIN, OSCAR])) == ["oscar", "kevin"]
    assert recipients(ANN, channel(ACCOUNTING, spoken=[BOB])) == []


@pytest.mark.req("S3.26")
def test_in_a_public_channel_an_author_need_not_be_a_member_to_be_answered() -> None:
    assert recipients(ANN, channel([ANN, KEVIN], spoken=[PAM])) == ["pam"]


@pytest.mark.req("S3.24", "S3.26")
def test_an_agent_that_left_a_private_channel_gets_no_more_of_its_messages() -> None:
    assert recipients(ANN, channel([ANN, KEVIN], private=True, spoken=[PAM, KEVIN])) == ["kevin"]


@pytest.mark.req("S3.27")
def test_only_active_agents_are_woken() -> None:
    assert recipients(ANN, channel(ACCOUNTING, active={"oscar"})) == ["oscar"]
    assert recipients(ANN, dm(ANN, KEVIN, active=set())) == []


@pytest.mark.req("S3.40")
def test_a_message_of_an_agent_in_a_channel_wakes_no_agent() -> None:
    assert recipients(KEVIN, channel(ACCOUNTING), depth=0) == []
    assert recipients(KEVIN, channel(ACCOUNTING, spoken=[OSCAR]), depth=0) == []


@pytest.mark.req("S3.40")
@pytest.mark.parametrize(("depth", "woken"), [(0, ["oscar"]), (1, ["oscar"]), (2, ["oscar"]), (3, []), (4, [])])
def test_a_chain_ends_at_depth_three(depth: int, woken: list[str]) -> None:
    """A run of depth 2 may start one of depth 3; that one starts none."""
    assert recipients(KEVIN, dm(KEVIN, OSCAR), depth=depth) == woken
    assert not woken or next_depth(depth) <= MAX_CHAIN_DEPTH


def test_a_person_begins_a_new_chain() -> None:
    assert next_depth(None) == 0


parties = st.builds(Participant, st.sampled_from("abcd"), st.sampled_from(["user", "agent"]))
audiences = st.builds(
    Audience,
    kind=st.sampled_from(["channel", "dm"]),
    is_private=st.booleans(),
    members=st.lists(parties, max_size=6),
    active=st.sets(st.sampled_from("abcd")),
    spoken=st.none() | st.lists(parties, max_size=6),
)


@pytest.mark.req("S3.27")
@given(parties, audiences, st.none() | st.integers(0, 4))
def test_targets_are_unique_active_agents_and_never_the_sender(
    sender: Participant, audience: Audience, depth: int | None
) -> None:
    """The resolver never returns a person's id."""
    found = recipients(sender, audience, depth)
    agents = {party.id for party in [*audience.members, *(audience.spoken or ())] if party.kind == "agent"}
    assert len(found) == len(set(found))
    assert set(found) <= agents & set(audience.active)
    assert not (sender.kind == "agent" and sender.id in found)
