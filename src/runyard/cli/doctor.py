"""`runyard doctor`: what this machine has, what is wrong, and what to do about it. Changes nothing."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import typer

from runyard.cli.options import settings_with
from runyard.errors import RunyardError

if TYPE_CHECKING:
    from runyard.settings import Settings

PACKAGES = ("runyard", "fastapi", "uvicorn", "pydantic", "msgspec", "httpx2", "alembic")
SOUND_SQLITE = (3, 51, 3)


class Finding(NamedTuple):
    """One line of the report; `advice` says what to do, and is also given for things that are fine."""

    ok: bool
    what: str
    found: str
    advice: str = ""


def doctor() -> None:
    """Check this machine, the database and the port.

    Exit code 1 if something is wrong.
    """
    import asyncio

    findings = asyncio.run(examine())
    _print(findings)
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


async def examine() -> list[Finding]:
    findings = [_python(), *_packages(), _sqlite_library(), await _sandbox()]
    try:
        settings = settings_with()
    except RunyardError as error:
        return [*findings, Finding(False, "settings", "cannot be read", error.message)]
    findings.append(Finding(True, "settings", "fine"))
    findings += await _database(settings)
    findings.append(await _port(settings))
    return findings


def _python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    return Finding(sys.version_info >= (3, 11), "Python", found, "" if sys.version_info >= (3, 11) else "Take 3.11.")


def _packages() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, version

    for name in PACKAGES:
        try:
            yield Finding(True, name, version(name))
        except PackageNotFoundError:
            yield Finding(False, name, "missing", "Run `pip install runyard` again.")


def _sqlite_library() -> Finding:
    # by name: only the stores import a driver, and this only asks which one they would get
    from importlib import import_module

    library = import_module("sqlite3")
    sound = library.sqlite_version_info >= SOUND_SQLITE
    note = "Older than 3.51.3, whose WAL can be corrupted by two writers; Runyard uses one writer, you should too."
    return Finding(True, "SQLite", library.sqlite_version, "" if sound else note)


async def _sandbox() -> Finding:
    """Tried, not guessed: a program is started in it that tries to get out. Without one, only code is refused."""
    from runyard.agents.sandbox import Sandbox

    reason = await Sandbox().why_not()
    if reason is None:
        return Finding(True, "sandbox", "holds")
    return Finding(True, "sandbox", "none: code that agents write is not run", f"{reason[0].upper()}{reason[1:]}.")


async def _database(settings: "Settings") -> list[Finding]:
    from runyard.stores.migrations import HEAD
    from runyard.stores.migrations.current import current

    label = settings.database_label
    try:
        schema = await current(settings.database_url)
    except RunyardError as error:
        return [Finding(False, "database", label, error.message)]
    if schema is None:
        return [Finding(True, "database", f"{label}, empty", "It is made at the first start, or by `runyard migrate`.")]
    if schema > HEAD:
        return [Finding(False, "database", f"{label}, schema {schema}", f"Upgrade Runyard: it knows {HEAD}.")]
    advice = "" if schema == HEAD else f"`runyard migrate` (or the next start) brings it to {HEAD}."
    found = Finding(True, "database", f"{label}, schema {schema}", advice)
    return [found] if advice else [found, await _workers(settings)]


async def _workers(settings: "Settings") -> Finding:
    if settings.sqlite_path is not None:
        from runyard.stores.sqlite import take_lock

        try:
            take_lock(settings.sqlite_path).close()
        except RunyardError as error:
            return Finding(True, "workers", "one, in the process that has the file", error.message.partition(". ")[0])
        return Finding(True, "workers", "none", "`runyard dev` or `runyard serve` starts one.")
    return await _leases(settings)


async def _leases(settings: "Settings") -> Finding:
    from runyard.cli.wording import span
    from runyard.clock import SystemClock
    from runyard.wiring import open_store

    store = open_store(settings)
    await store.open()
    try:
        workers = await store.list_workers()
    finally:
        await store.close()
    if not workers:
        return Finding(True, "workers", "none", "`runyard serve` or `runyard worker` starts one.")
    now = SystemClock().now_ms()
    leases = [
        f"{w.label} ({span((w.lease_until - now) / 1000) + ' left' if w.lease_until > now else 'lease ran out'})"
        for w in workers
    ]
    return Finding(True, "workers", "\n".join(leases))


async def _port(settings: "Settings") -> Finding:
    import socket

    from runyard.client import Client

    where = f"{settings.host}:{settings.port}"
    try:
        with socket.create_server((settings.host, settings.port), family=_family(settings.host)):
            return Finding(True, "port", f"{where} is free")
    except OSError as error:
        reason = error.strerror or type(error).__name__
    try:
        async with Client(settings.url, attempts=1) as client:
            await client.check()
    except RunyardError:
        return Finding(False, "port", f"{where}: {reason}", "Set RUNYARD_PORT (or --port) to a free one.")
    return Finding(True, "port", f"{where} is in use", f"A server answers at {settings.url}.")


def _family(host: str) -> int:
    import socket

    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _print(findings: list[Finding]) -> None:
    from rich.markup import escape

    from runyard.cli.tables import console, table

    made = table("", "what", "found", "note")
    made.columns[3].no_wrap = False
    for finding in findings:
        mark = "[green]✓[/]" if finding.ok else "[red]✗[/]"
        made.add_row(mark, finding.what, escape(finding.found), escape(finding.advice))
    console().print(made)
