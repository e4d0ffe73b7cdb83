"""`runyard keys make-encryption` and `rotate-encryption`: the keys that encrypt stored content (docs/encryption.md)."""

from typing import TYPE_CHECKING, Annotated

from runyard.cli.parsing.commands import Argument, Exit, Option
from runyard.cli.parsing.options import Json, Quiet, settings_with
from runyard.cli.terminal.output import echo
from runyard.errors import Invalid, StartupError

if TYPE_CHECKING:
    from collections.abc import Callable

    from runyard.settings import Settings
    from runyard.stores.rotation import Progress


def make_encryption(
    name: Annotated[
        str, Argument(help="The name of the key, which is stored with everything that it encrypts.")
    ] = "k1",
    json: Json = False,
) -> None:
    """Print a new key for RUNYARD_ENCRYPTION_KEYS. Runyard does not store it: keep it safe."""
    from runyard.cli.terminal.results import print_json
    from runyard.encryption.cipher import make

    try:
        key = make(name)
    except ValueError as error:
        raise Invalid(f"{str(error)[0].upper()}{str(error)[1:]}.") from None
    if json:
        print_json({"key": key})
    else:
        echo(key)


def rotate_encryption(
    decrypt: Annotated[bool, Option("--decrypt", help="Decrypt everything instead.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Encrypt all stored content with the first key of RUNYARD_ENCRYPTION_KEYS.

    It can be stopped at any time and started again. Exit code 1 if something is left.
    """
    from runyard.app import server as serving
    from runyard.cli.terminal.results import print_done

    settings = settings_with()
    left = 0
    report = _ignore if json or quiet else _report

    async def work() -> None:
        nonlocal left
        left = await rotate(settings, decrypt, report)

    serving.run(work())
    what = "plain" if decrypt else "sealed with the first key"
    said = f"{settings.database_label}: everything is {what}; no other key is needed any more."
    if left:
        said = f"{settings.database_label}: {left} values are not {what} yet; run it again, with every key."
    print_done({"left": left}, said, json=json, quiet=quiet)
    if left:
        raise Exit(1)


async def rotate(settings: "Settings", decrypt: bool, report: "Callable[[Progress], None]") -> int:
    """Encrypt all stored content with the first key, or decrypt it. Return the number of values that are left."""
    import asyncio

    ring = settings.encryption_key_ring
    if ring is None:
        raise StartupError("RUNYARD_ENCRYPTION_KEYS has no key; `runyard keys make-encryption` makes one.")
    from runyard.app.factories import fallback_folder, open_objects, open_sql_store, temporary_folder
    from runyard.encryption.resealed_files import reseal
    from runyard.stores.rotation import Progress, Rotation

    store = open_sql_store(settings, ring=ring.accepting_plain())
    await store.open()
    try:
        rotation = Rotation(store, ring, decrypt)
        async for progress in rotation.run():
            report(progress)
        await store.scrub()
    finally:
        await store.close()
    folders = [settings.checkpoint_path, fallback_folder(settings), temporary_folder(settings)]
    done, unreadable = await asyncio.to_thread(reseal, folders, ring, decrypt)
    report(Progress("checkpoint files", done + unreadable, done, unreadable, done=True))
    left = rotation.left + unreadable
    if (objects := open_objects(settings)) is not None:
        done, unreadable = await objects.reseal(ring, decrypt)
        report(Progress("objects", done + unreadable, done, unreadable, done=True))
        left += unreadable
    return left


def _report(at: "Progress") -> None:
    """Print a line for each finished table, and one for every 50,000 rows."""
    if at.done or at.seen % 50_000 == 0:
        echo(f"{at.table}: {at.seen} seen, {at.swapped} changed, {at.unreadable} unreadable")


def _ignore(at: "Progress") -> None:
    """Print no progress."""
