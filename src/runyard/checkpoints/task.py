"""The task that writes checkpoints: one for every interaction that has ended, whoever ended it (S1.28, S1.35).

It looks for ended runs without one, so a crash, a forced cancel or a process that was not there costs time only; and as
the log is the truth, nobody waits for it. Two processes may write the same one: the second changes nothing.

A save is shielded: when the process stops it is finished, not cut off. One that takes longer than `SAVE_SECONDS` goes
on, and a copy is put on the local disk; if it fails, a copy is put into a temporary file. Neither place is where the
checkpoints are. The next start brings both back; until then the run counts as unsaved and is tried again. Drafts that
a killed process left are removed at the start and every hour.
"""

import asyncio
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import structlog

from runyard.checkpoints.file_store import remove_drafts
from runyard.clock import Clock
from runyard.domain.run import Run
from runyard.encryption.sealed_files import SPARE, opened, sealed
from runyard.engine.engine import Engine
from runyard.errors import Gone, NotFound, RunyardError, Unreadable
from runyard.faces.chats.interactions import Interactions, InteractionStore, decoded, encoded
from runyard.faces.chats.lookup import chat_id
from runyard.faces.chats.translate import run_id_of
from runyard.faces.chats.wire import Interaction
from runyard.private_files import make_folder, write_whole

if TYPE_CHECKING:
    from runyard.encryption.cipher import KeyRing

log = structlog.get_logger()

SAVE_SECONDS = 5.0
AGAIN_SECONDS = 30.0  # after a save that failed
DRAFT_SECONDS = 600.0  # a younger draft may still be written
CLEAN_SECONDS = 3600.0
BATCH = 50

Stores = Callable[[str], InteractionStore]


class Checkpoints:
    def __init__(
        self,
        engine: Engine,
        stores: Stores,
        clock: Clock,
        *,
        files: Path | None = None,
        disk: Path,
        temporary: Path,
        ring: "KeyRing | None" = None,
    ) -> None:
        """`stores` gives an owner's store. `files`: the folder of checkpoints, if they are files; the database is then
        told that a copy is kept elsewhere."""
        self._engine = engine
        self._stores = stores
        self._clock = clock
        self._in_files = files is not None
        self._disk = Spare(disk, ring)
        self._temporary = Spare(temporary, ring)
        self._folders = [disk, temporary] if files is None else [files, disk, temporary]
        self._resting: dict[str, float] = {}
        self._saving: set[asyncio.Task[None]] = set()

    async def run(self, interval: float) -> None:
        """Save until cancelled."""
        await self.bring_back()
        cleaned = -CLEAN_SECONDS
        while True:
            try:
                if self._clock.monotonic() - cleaned >= CLEAN_SECONDS:
                    cleaned = self._clock.monotonic()
                    await self.clean()
                await self.round()
            except RunyardError as error:
                log.warning("checkpoint.round_failed", code=error.code)
            await asyncio.sleep(interval)

    async def round(self) -> int:
        """Save what is there to be saved; how many there were."""
        now = self._clock.monotonic()
        self._resting = {run_id: until for run_id, until in self._resting.items() if until > now}
        due = [
            run for run in await self._engine.checkpoints.runs_without_checkpoint(BATCH) if run.id not in self._resting
        ]
        for run in due:
            await self._save(run)
        return len(due)

    async def clean(self) -> None:
        """Remove the drafts that killed processes left."""
        before = self._clock.now_ms() / 1000 - DRAFT_SECONDS
        for folder in self._folders:
            if removed := await asyncio.to_thread(remove_drafts, folder, before):
                log.info("checkpoint.drafts_removed", count=removed)

    async def close(self) -> None:
        """Return when what was begun is done, or has taken too long."""
        if self._saving:
            await asyncio.wait(self._saving, timeout=SAVE_SECONDS)

    async def _save(self, run: Run) -> None:
        try:
            thread = await self._engine.views.thread(run.owner, run.thread_id or "")
            chat, interaction = chat_id(thread), await Interactions(self._engine).replayed(run)
        except (NotFound, Gone):
            return  # deleted meanwhile
        saving = asyncio.create_task(self._keep(run, chat, interaction), name=f"checkpoint {run.id}")
        self._saving.add(saving)
        saving.add_done_callback(self._settle)
        try:
            async with asyncio.timeout(SAVE_SECONDS):  # not wait_for, which may swallow a cancel on Python 3.11
                await asyncio.shield(saving)
        except TimeoutError:
            log.error("checkpoint.save_timed_out", run_id=run.id)
            await self._put_aside((self._disk, self._temporary), run, chat, interaction)
        except Exception as error:
            log.error("checkpoint.save_failed", run_id=run.id, error=type(error).__name__)
            await self._put_aside((self._temporary, self._disk), run, chat, interaction)

    def _settle(self, saving: "asyncio.Task[None]") -> None:
        self._saving.discard(saving)
        if not saving.cancelled():
            saving.exception()  # seen

    async def _keep(self, run: Run, chat: str, interaction: Interaction) -> None:
        store = self._stores(run.owner)
        try:
            await store.save_interaction(chat, interaction)
        except NotFound:
            return
        if self._in_files and not await self._engine.checkpoints.mark_saved(run):
            await self.remove(run.thread_id or run.id, run.owner, chat)  # deleted or edited while it was written

    async def remove(self, thread_id: str, owner: str, chat: str | None) -> None:
        """Remove every copy of a chat's deleted interactions: files with their drafts, and fallback copies."""
        if chat is None:
            return

        async def is_gone(interaction_id: str) -> bool:
            return await self._is_gone(owner, interaction_id)

        await self._stores(owner).forget(chat, is_gone)
        for spare in (self._disk, self._temporary):
            for file, kept_owner, kept_chat, interaction in await asyncio.to_thread(spare.all):
                if (kept_owner, kept_chat) == (owner, chat) and await is_gone(interaction.id):
                    file.unlink(missing_ok=True)

    async def _is_gone(self, owner: str, interaction_id: str) -> bool:
        run_id = run_id_of(interaction_id)
        if run_id is None:
            return False  # not an interaction of this server
        try:
            await self._engine.views.run(owner, run_id)
        except (NotFound, Gone):
            return True
        return False

    async def _put_aside(self, spares: Sequence["Spare"], run: Run, chat: str, interaction: Interaction) -> None:
        """Put a copy into the first of these places that takes it."""
        self._resting[run.id] = self._clock.monotonic() + AGAIN_SECONDS
        for spare in spares:
            try:
                await asyncio.to_thread(spare.put, run.owner, chat, interaction)
            except OSError as error:
                log.error("checkpoint.fallback_failed", run_id=run.id, error=type(error).__name__)
            else:
                return

    async def bring_back(self) -> int:
        """Save what an earlier process could not; how many were brought back."""
        done = 0
        for spare in (self._disk, self._temporary):
            for file, owner, chat, interaction in await asyncio.to_thread(spare.all):
                try:
                    if await self._is_gone(owner, interaction.id):
                        raise NotFound
                    await self._stores(owner).save_interaction(chat, interaction)
                except NotFound:
                    log.info("checkpoint.discarded", file=file.name)  # its chat is gone
                except Exception as error:
                    log.warning("checkpoint.restore_failed", file=file.name, error=type(error).__name__)
                    continue
                file.unlink(missing_ok=True)
                done += 1
        return done


class Spare:
    """A folder for copies that could not be saved where they belong; readable by its owner alone, and sealed if there
    is a key."""

    def __init__(self, folder: Path, ring: "KeyRing | None" = None) -> None:
        self._folder = folder
        self._ring = ring

    def put(self, owner: str, chat: str, interaction: Interaction) -> None:
        make_folder(self._folder)
        if not self._is_ours():
            raise PermissionError("The folder belongs to another user, or others may write to it.")
        kept = {"owner": owner, "chat_id": chat, "interaction": msgspec.Raw(encoded(interaction))}
        data = sealed(self._ring, msgspec.json.encode(kept), interaction.id, SPARE)
        write_whole(self._folder / f"{interaction.id}.json", data)

    def _is_ours(self) -> bool:
        """Whether it is a folder of this user that no other can use; anyone may make one in a temporary directory."""
        try:
            found = os.lstat(self._folder)
        except FileNotFoundError:
            return False
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077

    def all(self) -> list[tuple[Path, str, str, Interaction]]:
        if not self._is_ours():
            return []
        found = []
        for file in sorted(self._folder.glob("int_*.json")):
            try:
                kept = msgspec.json.decode(opened(self._ring, file.read_bytes(), file.stem, SPARE))
                again = decoded(msgspec.json.encode(kept["interaction"]))
                found.append((file, str(kept["owner"]), str(kept["chat_id"]), again))
            except (ValueError, KeyError, TypeError, OSError, Unreadable) as error:
                log.warning("checkpoint.read_failed", file=file.name, error=type(error).__name__)
        return found
