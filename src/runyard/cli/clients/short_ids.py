"""Short ids on the command line: the beginning or the end of an id, if only one id matches."""

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING

from runyard.errors import Invalid, NotFound

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient
    from runyard.client.wire import ChannelInfo

RUN = len("01a1e52c-90ef-716f-aa47-9cf6bf642cc5")
APPROVAL = RUN + len("approval_")
WAIT = RUN + len("wait_")
KEY = 12
SHORTEST = 8
NEWEST = 2_000  # ids that are searched
SHOWN = 10


async def whole_run_id(client: "AnyClient", given: str) -> str:
    """Return the id of the only recent run whose id starts or ends like this. A whole id is returned unchanged."""
    if len(given) >= RUN:
        return given
    return await _whole(given, "run", (run.run_id async for run in client.runs(page=100)))


async def whole_thread_id(client: "AnyClient", given: str) -> str:
    """Return the id of the only recent thread that starts or ends like this. A whole id is returned unchanged."""
    if len(given) >= RUN:
        return given
    return await _whole(given, "thread", (thread.thread_id async for thread in client.threads()))


async def whole_approval_id(client: "AnyClient", given: str) -> str:
    """Return the id of the only pending approval that starts or ends like this. A whole id is returned unchanged."""
    if len(given) >= APPROVAL:
        return given
    return await _whole(given, "approval", (asked.approval_id async for asked in client.approvals()))


async def whole_wait_id(client: "AnyClient", given: str) -> str:
    """Return the id of the only pending wait that starts or ends like this. A whole id is returned unchanged."""
    if len(given) >= WAIT:
        return given
    return await _whole(given, "wait", (wait.wait_id async for wait in client.waits()))


async def whole_key_id(client: "AnyClient", given: str) -> str:
    """Return the id of the only key that starts or ends like this. A whole id is returned unchanged."""
    if len(given) >= KEY:
        return given
    keys = client.keys(owner=None)
    return await _whole(given, "key", (key.key_id async for key in keys))


async def whole_passage_id(client: "AnyClient", agent_id: str, given: str) -> str:
    """Return the id of the agent's only recent passage that starts or ends like this."""
    if len(given) >= RUN:
        return given
    return await _whole(given, "passage", _each([passage.id for passage in await client.passages(agent_id)]))


async def whole_share_id(client: "AnyClient", thread_id: str, given: str) -> str:
    """Return the id of the only link to the thread that starts or ends like this."""
    if len(given) >= RUN:
        return given
    return await _whole(given, "link", _each([share.share_id for share in await client.shares(thread_id)]))


async def whole_message_id(client: "AnyClient", channel: "ChannelInfo", given: str) -> str:
    """Return the id of the only recent message of the channel that starts or ends like this."""
    if len(given) >= RUN:
        return given
    return await _whole(given, "message", _each([each.id for each in await client.channel_messages(channel)]))


async def find_channel(client: "AnyClient", given: str) -> "ChannelInfo":
    """Return the channel or DM with this id, short id or name."""
    known = {channel.id: channel async for channel in client.channels()}
    known |= {dm.id: dm async for dm in client.dms()}
    named = [channel for channel in known.values() if channel.name == given.removeprefix("#")]
    if given in known or len(named) == 1:
        return known.get(given) or named[0]
    return known[await _whole(given, "channel", _each(known))]


async def _each(ids: Iterable[str]) -> AsyncIterator[str]:
    for each in ids:
        yield each


async def _whole(given: str, what: str, ids: AsyncIterator[str]) -> str:
    if len(given) < SHORTEST:
        raise Invalid(f"The short id of a {what} needs at least {SHORTEST} characters of its beginning or end.")
    found: list[str] = []
    seen = 0
    async for whole in ids:
        starts = (whole, whole.rpartition("_")[2])  # the id of an approval or a wait also without its prefix
        if any(start.startswith(given) for start in starts) or whole.endswith(given):
            found.append(whole)
        seen += 1
        if seen >= NEWEST or len(found) > SHOWN:
            break
    if not found:
        raise NotFound(
            f"No {what} among the newest {NEWEST} has an id that starts or ends with {given}; give the whole id."
        )
    if len(found) > 1:
        more = " and more" if len(found) > SHOWN else ""
        raise Invalid(f"{given} matches more than one {what}; give more characters: {', '.join(found[:SHOWN])}{more}.")
    return found[0]
