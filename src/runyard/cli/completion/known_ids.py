"""The ids and names that there are, for completion: from the server, or from the database while no server answers.

It asks the server with the HTTP client of the standard library, which loads several times as fast as the other one.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from runyard.client.wire import Page
    from runyard.settings import Settings

MOST = 50
SECONDS = 1.0  # that a shell waits for a server
PATHS = {
    "run": "/api/runs",
    "thread": "/api/threads",
    "channel": "/api/channels",
    "approval": "/api/approvals",
    "wait": "/api/waits",
    "key": "/api/keys",
    "agent": "/api/agents",
}


def known_ids(kind: str) -> Iterator[tuple[str, str]]:
    """Yield the newest ids of a kind, each with a short description."""
    from runyard.cli.clients.open_client import is_listening
    from runyard.cli.parsing.options import settings_with

    settings = settings_with()
    rows = _fetch_rows(settings, kind) if is_listening(settings.url, SECONDS) else _read_rows(settings, kind)
    for row in rows:
        yield from _described(kind, row)


def _fetch_rows(settings: "Settings", kind: str) -> Iterable[Any]:
    from http.client import HTTPConnection, HTTPSConnection

    from runyard.client.wire import Page, read

    parts = urlsplit(settings.url)
    opened = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = opened(parts.hostname or "", parts.port, timeout=SECONDS)
    headers = {} if settings.api_key is None else {"Authorization": f"Bearer {settings.api_key}"}
    try:
        connection.request("GET", f"{parts.path}{PATHS[kind]}?limit={MOST}", headers=headers)
        return _rows(kind, read(connection.getresponse().read(), Page))
    finally:
        connection.close()


def _rows(kind: str, page: "Page") -> Iterable[Any]:
    rows: dict[str, Iterable[Any]] = {
        "run": page.runs,
        "thread": page.threads,
        "channel": page.channels,
        "approval": page.approvals,
        "wait": page.waits,
        "key": page.keys,
        "agent": page.agents,
    }
    return rows[kind]


def _read_rows(settings: "Settings", kind: str) -> Iterable[Any]:
    import asyncio

    from runyard.cli.clients.open_client import open_client

    async def read() -> list[Any]:
        found: list[Any] = []
        async with open_client(settings, quiet=True) as (client, _):
            lists: dict[str, Callable[[], AsyncIterator[Any]]] = {
                "run": client.runs,
                "thread": client.threads,
                "channel": client.channels,
                "approval": client.approvals,
                "wait": client.waits,
                "key": client.keys,
                "agent": client.agents,
            }
            async for row in lists[kind]():
                found.append(row)
                if len(found) >= MOST:
                    break
        return found

    return asyncio.run(read())


def _described(kind: str, row: Any) -> Iterator[tuple[str, str]]:
    from runyard.cli.terminal.text import age, one_line, plain

    match kind:
        case "run":
            said = f"{row.agent} {'waiting' if row.waiting else row.status} {age(row.created_at)} {row.question or ''}"
            yield row.run_id, one_line(said, 60)
        case "thread":
            yield row.thread_id, f"{plain(row.agent or '')} {age(row.created_at)}"
        case "channel":
            name = row.name if row.name and row.name.isascii() and row.name.isprintable() else ""
            yield (row.id if not name or " " in name else name), one_line(row.topic or "", 60)
        case "approval":
            yield row.approval_id, one_line(f"{row.tool} {one_line(row.input)}", 60)
        case "wait":
            yield row.wait_id, one_line(row.prompt or row.name, 60)
        case "key":
            yield row.key_id, one_line(f"{row.owner} {row.label}", 60)
        case _:
            yield plain(row.id), one_line(row.title or row.model_id or "", 60)
