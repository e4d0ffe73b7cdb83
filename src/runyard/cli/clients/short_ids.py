"""Short ids on the command line: the beginning or the end of an id, if only one id matches.

The server looks for runs, threads and waits among all that the caller has. Other objects are looked for in all pages of
their lists.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from typing import TYPE_CHECKING

from runyard.errors import Invalid, NotFound

if TYPE_CHECKING:
    from runyard.base.ids import IdKind
    from runyard.cli.clients.open_client import AnyClient
    from runyard.client.wire import ChannelInfo, ChannelMessage, PassageInfo

RUN = len("01a1e52c-90ef-716f-aa47-9cf6bf642cc5")
APPROVALS = "approval_"  # the prefix of their ids; approvals are waits
APPROVAL = RUN + len(APPROVALS)
WAIT = RUN + len("wait_")
KEY = 12
SHORTEST = 8
SHOWN = 10
PAGE = 100


async def whole_run_id(client: "AnyClient", given: str) -> str:
    """Return the id of the only run whose id starts or ends like this. A whole id is returned unchanged."""
    return given if len(given) >= RUN else await _found(client, given, "run", "run")


async def whole_thread_id(client: "AnyClient", given: str) -> str:
    """Return the id of the only thread that starts or ends like this. A whole id is returned unchanged."""
    return given if len(given) >= RUN else await _found(client, given, "thread", "thread")


async def whole_approval_id(client: "AnyClient", given: str) -> str:
    """Return the id of the only approval that starts or ends like this. A whole id is returned unchanged."""
    return given if len(given) >= APPROVAL else await _found(client, given, "approval", "wait")


async def whole_wait_id(client: "AnyClient", given: str) -> str:
    """Return the id of the only wait that starts or ends like this. A whole id is returned unchanged."""
    return given if len(given) >= WAIT else await _found(client, given, "wait", "wait")


async def _found(client: "AnyClient", given: str, what: str, kind: "IdKind") -> str:
    """Return the only id that the database has with this beginning or end."""
    _check_length(given, what)
    found = [each for each in await client.find_ids(kind, given) if what != "approval" or each.startswith(APPROVALS)]
    return _only(found, given, what)


async def whole_key_id(client: "AnyClient", given: str) -> str:
    """Return the id of the only key that starts or ends like this. A whole id is returned unchanged."""
    if len(given) >= KEY:
        return given
    keys = client.keys(owner=None)
    return await _whole(given, "key", (key.key_id async for key in keys))


async def whole_passage_id(client: "AnyClient", agent_id: str, given: str) -> str:
    """Return the id of the agent's only passage that starts or ends like this. A whole id is returned unchanged."""
    return given if len(given) >= RUN else (await find_passage(client, agent_id, given)).id


async def find_passage(client: "AnyClient", agent_id: str, given: str) -> "PassageInfo":
    """Return the agent's only passage whose id is this, or starts or ends like this."""
    known = {passage.id: passage async for passage in _passages(client, agent_id)}
    return known.get(given) or known[await _whole(given, "passage", _each(known))]


async def _passages(client: "AnyClient", agent_id: str) -> "AsyncGenerator[PassageInfo, None]":
    before: str | None = None
    while page := await client.passages(agent_id, None, PAGE, before):
        for passage in page:
            yield passage
        before = page[-1].id


async def whole_share_id(client: "AnyClient", thread_id: str, given: str) -> str:
    """Return the id of the only link to the thread that starts or ends like this."""
    if len(given) >= RUN:
        return given
    return await _whole(given, "link", _each([share.share_id for share in await client.shares(thread_id)]))


async def whole_message_id(client: "AnyClient", channel: "ChannelInfo", given: str) -> str:
    """Return the id of the only message of the channel that starts or ends like this. A whole id is returned
    unchanged."""
    if len(given) >= RUN:
        return given
    return await _whole(given, "message", (message.id async for message in _messages(client, channel)))


async def _messages(client: "AnyClient", channel: "ChannelInfo") -> "AsyncGenerator[ChannelMessage, None]":
    before: str | None = None
    while page := await client.channel_messages(channel, PAGE, before):
        for message in reversed(page):
            yield message
        before = page[0].id


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
    """Return the only id of a list with this beginning or end."""
    _check_length(given, what)
    found: list[str] = []
    async for whole in ids:
        if whole.startswith(given) or whole.endswith(given):
            found.append(whole)
        if len(found) > SHOWN:
            break
    return _only(found, given, what)


def _check_length(given: str, what: str) -> None:
    if len(given) < SHORTEST:
        raise Invalid(f"The short id of a {what} needs at least {SHORTEST} characters of its beginning or end.")


def _only(found: list[str], given: str, what: str) -> str:
    if not found:
        raise NotFound(f"There is no {what} whose id starts or ends with {given}.")
    if len(found) > 1:
        more = " and more" if len(found) > SHOWN else ""
        raise Invalid(f"{given} matches more than one {what}; give more characters: {', '.join(found[:SHOWN])}{more}.")
    return found[0]
