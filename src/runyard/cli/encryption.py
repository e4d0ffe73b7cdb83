"""`runyard keys make-encryption` and `rotate-encryption`: the keys that seal what is stored (docs/encryption.md)."""

from typing import TYPE_CHECKING, Annotated

import typer

from runyard.cli.options import settings_with
from runyard.errors import Invalid, StartupError

if TYPE_CHECKING:
    from collections.abc import Callable

    from runyard.settings import Settings
    from runyard.stores.rotation import Progress


def make_encryption(
    name: Annotated[str, typer.Argument(help="What to call it: stored beside everything that it seals.")] = "k1",
) -> None:
    """Print a fresh key for RUNYARD_ENCRYPTION_KEYS. Nobody keeps it but you."""
    from runyard.encryption.cipher import make

    try:
        typer.echo(make(name))
    except ValueError as error:
        raise Invalid(f"{str(error)[0].upper()}{str(error)[1:]}.") from None


def rotate_encryption(
    decrypt: Annotated[bool, typer.Option("--decrypt", help="Store everything plain again instead.")] = False,
) -> None:
    """Seal everything that is stored with the first key of RUNYARD_ENCRYPTION_KEYS.

    May be stopped at any time and begun again. Exit code 1 if something is left.
    """
    from runyard.app import server as serving

    settings = settings_with()
    left = 0

    async def work() -> None:
        nonlocal left
        left = await rotate(settings, decrypt, _report)

    serving.run(work())
    what = "plain" if decrypt else "sealed with the first key"
    if left:
        typer.echo(f"{settings.database_label}: {left} values are not {what} yet; run it again, with every key.")
        raise typer.Exit(1)
    typer.echo(f"{settings.database_label}: everything is {what}; no other key is needed any more.")


async def rotate(settings: "Settings", decrypt: bool, told: "Callable[[Progress], None]") -> int:
    """Seal everything that is stored with the first key, or (`decrypt`) with none; how much is left to do."""
    import asyncio

    ring = settings.ring
    if ring is None:
        raise StartupError("RUNYARD_ENCRYPTION_KEYS has no key; `runyard keys make-encryption` makes one.")
    from runyard.app.factories import fallback_folder, open_sql_store, temporary_folder
    from runyard.encryption.resealed_files import reseal
    from runyard.stores.rotation import Progress, Rotation

    store = open_sql_store(settings, ring=ring.accepting_plain())
    await store.open()
    try:
        rotation = Rotation(store, ring, decrypt)
        async for progress in rotation.run():
            told(progress)
        await store.scrub()
    finally:
        await store.close()
    folders = [settings.checkpoint_path, fallback_folder(settings), temporary_folder(settings)]
    done, unreadable = await asyncio.to_thread(reseal, folders, ring, decrypt)
    told(Progress("files", done + unreadable, done, unreadable, done=True))
    return rotation.left + unreadable


def _report(at: "Progress") -> None:
    """A line for each table that is done, and now and then for a long one."""
    if at.done or at.seen % 50_000 == 0:
        typer.echo(f"{at.table}: {at.seen} seen, {at.swapped} changed, {at.unreadable} unreadable")
