"""Make agents, channels, messages and reactions for store tests."""

from collections.abc import Sequence

from runyard.base.ids import new_id
from runyard.domain.content.profile import Profile
from runyard.domain.conversations.recipients import Participant, next_depth
from runyard.domain.conversations.thread import Conversation, Message, Reaction, Thread
from runyard.domain.events import Drafter, RunQueued
from runyard.domain.runs.run import Run, agent_lane
from runyard.store import IdempotencyKey, NewMessage, Post, PostedMessage, Store
from tests.store.factories import ANN, clock

KEVIN, OSCAR, ANGELA, PAM = (Participant(name) for name in ("kevin", "oscar", "angela", "pam"))
A_PERSON = Participant(ANN, "user")
AGENTS = (KEVIN, OSCAR, ANGELA, PAM)


def a_profile(agent: str, owner: str | None = None) -> Profile:
    now = clock.now_ms()
    return Profile(id=agent, owner=owner, display_name=agent.title(), persona="...", created_at=now, updated_at=now)


async def declare_agents(store: Store, *agents: Participant) -> None:
    await store.declare_agents([a_profile(agent.id) for agent in agents or AGENTS])


def a_channel(name: str | None = None, *, owner: str = ANN, private: bool = False) -> Thread:
    return Thread(
        id=new_id(), owner=owner, kind="channel", name=name or new_id(), is_private=private, created_at=clock.now_ms()
    )


async def channel(
    store: Store, *members: Participant, owner: str = ANN, private: bool = False, name: str | None = None
) -> Conversation:
    return await store.open_channel(a_channel(name, owner=owner, private=private), members)


async def dm(store: Store, one: Participant, other: Participant, owner: str = ANN) -> Conversation:
    name = " ".join(sorted(f"{party.kind}:{party.id}" for party in (one, other)))
    thread = Thread(id=new_id(), owner=owner, kind="dm", name=name, is_private=True, created_at=clock.now_ms())
    return await store.open_dm(thread, [one, other])


def new_message(
    thread_id: str,
    text: str = "hello",
    *,
    caller: str = ANN,
    sender: Participant = A_PERSON,
    parent: str | None = None,
    pause_ms: int = 0,
    run: Run | None = None,
    cause: str | None = None,
    key: IdempotencyKey | None = None,
) -> NewMessage:
    now = clock.now_ms()
    message = Message(
        id=new_id(),
        thread_id=thread_id,
        role="user" if sender.kind == "user" else "assistant",
        text=text,
        run_id=run.id if run else None,
        created_at=now,
        sender=sender.id,
        parent_id=parent,
    )
    depth = run.depth if run else None
    ids: dict[str, str] = {}  # the same ids for every store

    def wake(agent: str, owner: str, after: str | None) -> Post:
        return Post(
            owner=owner,
            face="channels",
            run_id=ids.setdefault(agent, new_id()),
            lane_key=agent_lane(agent, owner),
            default_agent=agent,
            queued=lambda agent: Drafter(clock, "api")(RunQueued(agent, message.id)),
            created_at=now,
            thread_id=thread_id,
            trigger_id=message.id,
            after_run=after,
            pause_ms=pause_ms,
            depth=next_depth(depth),
        )

    return NewMessage(caller=caller, message=message, wake=wake, depth=depth, cause=cause, key=key)


async def said(store: Store, here: Conversation, text: str = "hello", **more: object) -> PostedMessage:
    return await store.post_message(new_message(here.thread.id, text, **more))  # type: ignore[arg-type]


async def woken(store: Store, said: PostedMessage) -> list[str]:
    """Return the agents whose runs a message started, in order."""
    return [(await store.get_run(said.thread.owner, each.run_id)).agent for each in said.started]


def a_reaction(message: Message, emoji: str = "+1", sender: Participant = A_PERSON) -> Reaction:
    return Reaction(
        message_id=message.id,
        emoji=emoji,
        role="user" if sender.kind == "user" else "assistant",
        sender=sender.id,
        created_at=clock.now_ms(),
    )


async def feed(store: Store, caller: str = ANN, after: int = 0) -> list[tuple[str, str]]:
    """Return kind and actor of the feed entries that a caller sees, in order."""
    await store.number_feed(1000)
    window = await store.read_feed(caller, after, 1000)
    return [(entry.kind, entry.actor) for entry in window.entries]


def runs_of(said: PostedMessage) -> Sequence[str]:
    return [each.run_id for each in said.started]
