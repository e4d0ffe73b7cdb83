"""`runyard doctor`: check this machine and say what to do about problems. Changes nothing."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

from runyard.cli.parsing.commands import Exit, Option
from runyard.cli.parsing.options import Json, settings_with
from runyard.errors import RunyardError

if TYPE_CHECKING:
    from runyard.settings import Settings
    from runyard.store import WorkerRow

PACKAGES = ("runyard", "fastapi", "uvicorn", "pydantic", "msgspec", "httpx2", "alembic")
SOUND_SQLITE = (3, 51, 3)
SKEW_MS = 2000
LITTLE_DISK = 500_000_000


class Finding(NamedTuple):
    """One line of the report. `advice` says what to do; a line that is fine may have one, too."""

    ok: bool
    what: str
    found: str
    advice: str = ""


def doctor(
    json: Json = False,
    quiet: Annotated[bool, Option("--quiet", help="Print only what is wrong.")] = False,
) -> None:
    """Check this machine: versions, sandbox, settings, database, schema, clocks, bus, disk, port.

    Exit code 1 if something is wrong.
    """
    import asyncio

    from runyard.cli.terminal.results import print_json
    from runyard.telemetry import logs

    logs.configure("console", "error")
    findings = asyncio.run(examine())
    shown = [finding for finding in findings if not (quiet and finding.ok)]
    if json:
        print_json([finding._asdict() for finding in shown])
    elif shown:
        _print(shown)
    if not all(finding.ok for finding in findings):
        raise Exit(1)


async def examine() -> list[Finding]:
    findings = [_python(), *_packages(), _sqlite_library(), await _sandbox()]
    try:
        settings = settings_with()
    except RunyardError as error:
        return [*findings, Finding(False, "settings", "cannot be read", error.message)]
    findings.append(Finding(True, "settings", "fine"))
    findings += await _database(settings)
    findings += [await _bus(settings), _disk(settings), await _port(settings)]
    return findings


def _python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    return Finding(
        sys.version_info >= (3, 11),
        "Python",
        found,
        "" if sys.version_info >= (3, 11) else "Install Python 3.11 or newer.",
    )


def _packages() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, version

    for name in PACKAGES:
        try:
            yield Finding(True, name, version(name))
        except PackageNotFoundError:
            yield Finding(False, name, "missing", "Run `pip install runyard` again.")


def _sqlite_library() -> Finding:
    # by name: only the stores may import a driver, and this only reads its version
    from importlib import import_module

    library = import_module("sqlite3")
    sound = library.sqlite_version_info >= SOUND_SQLITE
    note = (
        "Older than 3.51.3: two writers can corrupt the WAL. Runyard uses one writer; do not write with other programs."
    )
    return Finding(True, "SQLite", library.sqlite_version, "" if sound else note)


async def _sandbox() -> Finding:
    """Start a program in the sandbox that tries to escape. Without a sandbox, only code of agents is not executed."""
    from runyard.agents.sandbox.sandbox import Sandbox

    reason = await Sandbox().unavailable_reason()
    if reason is None:
        return Finding(True, "sandbox", "works")
    return Finding(True, "sandbox", "none: code of agents is not executed", f"{reason[0].upper()}{reason[1:]}.")


async def _database(settings: "Settings") -> list[Finding]:
    from runyard.stores.migrations import HEAD
    from runyard.stores.migrations.current import current

    label = settings.database_label
    try:
        schema = await current(settings.database_url)
    except RunyardError as error:
        return [Finding(False, "database", label, error.message)]
    if schema is None:
        return [
            Finding(True, "database", f"{label}, empty", "The first start or `runyard migrate` creates the schema.")
        ]
    if schema > HEAD:
        return [
            Finding(
                False, "database", f"{label}, schema {schema}", f"Upgrade Runyard: this version supports schema {HEAD}."
            )
        ]
    advice = "" if schema == HEAD else f"`runyard migrate` or the next start upgrades it to {HEAD}."
    found = Finding(True, "database", f"{label}, schema {schema}", advice)
    return [found] if advice else [found, *await _workers(settings)]


async def _workers(settings: "Settings") -> list[Finding]:
    if settings.sqlite_path is not None:
        from runyard.stores.sqlite.files import DatabaseLock

        try:
            DatabaseLock(settings.sqlite_path.resolve()).close()
        except RunyardError as error:
            reason = error.message.partition(". ")[0]
            return [Finding(True, "workers", "one, in the process that has the file", reason)]
        return [Finding(True, "workers", "none", "`runyard dev` or `runyard serve` starts one.")]
    return await _leases(settings)


async def _leases(settings: "Settings") -> list[Finding]:
    from runyard.app.factories import open_store
    from runyard.base.clock import SystemClock

    store, clock = open_store(settings), SystemClock()
    await store.open()
    try:
        before = clock.now_ms()
        found = await store.overview(1)
        after = clock.now_ms()
    finally:
        await store.close()
    return [_listed(found.workers, found.now), clocks(found.now, before, after)]


def _listed(workers: "Sequence[WorkerRow]", now: int) -> Finding:
    from runyard.cli.terminal.text import span

    if not workers:
        return Finding(True, "workers", "none", "`runyard serve` or `runyard worker` starts one.")
    leases = [
        f"{w.label} ({span((w.lease_until - now) / 1000) + ' left' if w.lease_until > now else 'lease expired'})"
        for w in workers
    ]
    return Finding(True, "workers", "\n".join(leases))


def clocks(there: int, before: int, after: int) -> Finding:
    """Compare the clocks: deadlines use the database's clock, log lines that of each process."""
    skew = there - (before + after) // 2
    sound = abs(skew) <= SKEW_MS + (after - before)
    return Finding(sound, "clock", f"{skew:+d} ms in the database", "" if sound else "Synchronise both clocks (NTP).")


async def _bus(settings: "Settings") -> Finding:
    from runyard.app.factories import open_bus

    kind = (settings.bus_url or ("memory" if settings.sqlite_path else "postgresql://")).partition("://")[0]
    if kind == "memory":
        return Finding(True, "bus", "none: this process is the only one")
    try:
        bus = open_bus(settings)
        await bus.open(lambda hints: None)
    except RunyardError as error:
        return Finding(False, "bus", kind, error.message)
    connected = bus.is_connected
    await bus.close()
    advice = (
        ""
        if connected
        else "The bus does not answer. Everything works, but other processes see changes a little later."
    )
    return Finding(connected, "bus", f"{kind}, {'connected' if connected else 'not connected'}", advice)


def _disk(settings: "Settings") -> Finding:
    """Check the free space beside the database file, or else beside the workspaces."""
    from pathlib import Path
    from shutil import disk_usage

    from runyard.cli.terminal.text import size

    wanted = (settings.sqlite_path or settings.workspaces).resolve()
    place = next((folder for folder in wanted.parents if folder.exists()), Path("/"))
    left = disk_usage(place).free
    return Finding(left >= LITTLE_DISK, "disk", f"{size(left)} free", "" if left >= LITTLE_DISK else "Free some space.")


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
    from runyard.cli.terminal.output import style
    from runyard.cli.terminal.text_table import TextTable

    made = TextTable("", "what", "found", "note", wraps=[3])
    for finding in findings:
        mark = style("✓", fg="green") if finding.ok else style("✗", fg="red")
        made.add_row(mark, finding.what, finding.found, finding.advice)
    made.echo()
