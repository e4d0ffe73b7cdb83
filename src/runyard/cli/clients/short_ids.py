"""Short ids on the command line: the beginning or the end of an id, if only one id matches."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from runyard.errors import Invalid, NotFound

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient

RUN = len("01a1e52c-90ef-716f-aa47-9cf6bf642cc5")
APPROVAL = RUN + len("approval_")
WAIT = RUN + len("wait_")
SHORTEST = 8
NEWEST = 2_000  # ids that are searched
SHOWN = 10


async def whole_run_id(client: "AnyClient", given: str) -> str:
    """Return the id of the only recent run whose id starts or ends like this. A whole id is returned unchanged."""
    if len(given) >= RUN:
        return given
    return await _whole(given, "run", (run.run_id async for run in client.runs(page=100)))


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
