"""Lists of the server, page by page."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from runyard.client.connection import Connection, given
from runyard.client.wire import Page, read

PAGE = 100


async def pages(
    connection: Connection, path: str, params: Mapping[str, Any], limit: int, before: str | None = None
) -> AsyncGenerator[Page, None]:
    """Return the pages of a list, below the id `before`. Each is fetched when it is needed."""
    while True:
        asked = {**params, "limit": limit, **given({"before": before})}
        page = read(await connection.send("GET", path, params=asked), Page)
        yield page
        before = page.next
        if before is None:
            return
