"""Short ids on the command line: the beginning or the end of an id, where it is enough to tell which one is meant."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from runyard.errors import Invalid, NotFound

if TYPE_CHECKING:
    from runyard.client import Client

RUN = len("01a1e52c-90ef-716f-aa47-9cf6bf642cc5")
APPROVAL = RUN + len("approval_")
SHORTEST = 8
NEWEST = 2_000  # how many ids are looked at
SHOWN = 10


async def whole_run_id(client: "Client", given: str) -> str:
    """Return the id of the one run that begins or ends like this, of the newest; a whole id is returned as it is."""
    if len(given) >= RUN:
        return given
    return await _whole(given, "run", (run.run_id async for run in client.runs(page=100)))


async def whole_approval_id(client: "Client", given: str) -> str:
    """Return the id of the one waiting approval that begins or ends like this; a whole id is returned as it is."""
    if len(given) >= APPROVAL:
        return given
    return await _whole(given, "approval", (asked.approval_id async for asked in client.approvals()))


async def _whole(given: str, what: str, ids: AsyncIterator[str]) -> str:
    if len(given) < SHORTEST:
        raise Invalid(f"The short id of a {what} has at least {SHORTEST} characters of its beginning or its end.")
    found: list[str] = []
    seen = 0
    async for whole in ids:
        starts = (whole, whole.rpartition("_")[2])  # an approval's also without the word before it
        if any(start.startswith(given) for start in starts) or whole.endswith(given):
            found.append(whole)
        seen += 1
        if seen >= NEWEST or len(found) > SHOWN:
            break
    if not found:
        raise NotFound(f"None of the newest {NEWEST} ids of a {what} begins or ends with {given}; give the whole id.")
    if len(found) > 1:
        more = " and more" if len(found) > SHOWN else ""
        raise Invalid(f"{given} is not enough to tell which {what} is meant: {', '.join(found[:SHOWN])}{more}.")
    return found[0]
