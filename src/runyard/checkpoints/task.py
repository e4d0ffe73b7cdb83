"""The background task that writes a checkpoint for every interaction that has ended (S1.28, S1.35).

It looks for ended runs without a checkpoint, so a crash or a forced cancel only delays one. Requests do not wait for
checkpoints, because the log is authoritative. Two processes may write the same checkpoint; the second write changes
nothing.

A save is shielded: a shutdown waits for it. If a save takes longer than `SAVE_SECONDS`, it continues, and a copy is put
on the local disk. If a save fails, a copy is put into a temporary file. The next start saves both copies; until then
the task retries the run. Drafts of killed processes are removed at the start and every hour.
"""

import asyncio
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from runyard.base.clock import Clock
from runyard.base.private_files import make_folder, write_whole
from runyard.checkpoints.file_store import remove_drafts
from runyard.checkpoints.store import InteractionStore
from runyard.domain.runs.run import Run
from runyard.encryption.sealed_files import FALLBACK, open_file, seal_file
from runyard.engine.engine import Engine
from runyard.errors import Gone, NotFound, RunyardError, Unreadable
from runyard.faces.chats.interaction_builder import InteractionBuilder, decoded, encoded
from runyard.faces.chats.lookup import chat_id
from runyard.faces.chats.translate import run_id_of
from runyard.faces.chats.wire import Interaction
from runyard.telemetry.logger import get_logger

if TYPE_CHECKING:
    from runyard.encryption.cipher import KeyRing

log = get_logger()

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
        """`stores` returns the store of an owner. `files`: the folder of checkpoints, if they are files; the database
        then only records that a copy exists."""
        self._engine = engine
        self._stores = stores
        self._clock = clock
        self._in_files = files is not None
        self._disk = FallbackFolder(disk, ring)
        self._temporary = FallbackFolder(temporary, ring)
        self._folders = [disk, temporary] if files is None else [files, disk, temporary]
        self._resting: dict[str, float] = {}
        self._saving: set[asyncio.Task[None]] = set()

    async def run(self, interval: float) -> None:
        """Save until cancelled."""
        await self.restore_fallbacks()
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
        """Save a batch of ended runs. Return how many there were."""
        now = self._clock.monotonic()
        self._resting = {run_id: until for run_id, until in self._resting.items() if until > now}
        due = [
            run for run in await self._engine.checkpoints.runs_without_checkpoint(BATCH) if run.id not in self._resting
        ]
        for run in due:
            await self._save(run)
        return len(due)

    async def clean(self) -> None:
        """Remove the drafts of killed processes."""
        before = self._clock.now_ms() / 1000 - DRAFT_SECONDS
        for folder in self._folders:
            if removed := await asyncio.to_thread(remove_drafts, folder, before):
                log.info("checkpoint.drafts_removed", count=removed)

    async def close(self) -> None:
        """Wait for running saves, at most `SAVE_SECONDS`."""
        if self._saving:
            await asyncio.wait(self._saving, timeout=SAVE_SECONDS)

    async def _save(self, run: Run) -> None:
        try:
            thread = await self._engine.views.thread(run.owner, run.thread_id or "")
            chat, interaction = chat_id(thread), await InteractionBuilder(self._engine).replayed(run)
        except (NotFound, Gone):
            return  # deleted in the meantime
        saving = asyncio.create_task(self._keep(run, chat, interaction), name=f"checkpoint {run.id}")
        self._saving.add(saving)
        saving.add_done_callback(self._forget_task)
        try:
            async with asyncio.timeout(SAVE_SECONDS):  # not wait_for, which may swallow a cancel on Python 3.11
                await asyncio.shield(saving)
        except TimeoutError:
            log.error("checkpoint.save_timed_out", run_id=run.id)
            await self._save_fallback((self._disk, self._temporary), run, chat, interaction)
        except Exception as error:
            log.error("checkpoint.save_failed", run_id=run.id, error=type(error).__name__)
            await self._save_fallback((self._temporary, self._disk), run, chat, interaction)

    def _forget_task(self, saving: "asyncio.Task[None]") -> None:
        self._saving.discard(saving)
        if not saving.cancelled():
            saving.exception()  # marked as retrieved

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
        for folder in (self._disk, self._temporary):
            for file, kept_owner, kept_chat, interaction in await asyncio.to_thread(folder.all):
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

    async def _save_fallback(
        self, folders: Sequence["FallbackFolder"], run: Run, chat: str, interaction: Interaction
    ) -> None:
        """Put a copy into the first fallback folder that accepts it."""
        self._resting[run.id] = self._clock.monotonic() + AGAIN_SECONDS
        for folder in folders:
            try:
                await asyncio.to_thread(folder.put, run.owner, chat, interaction)
            except OSError as error:
                log.error("checkpoint.fallback_failed", run_id=run.id, error=type(error).__name__)
            else:
                return

    async def restore_fallbacks(self) -> int:
        """Save the fallback copies of an earlier process. Return how many."""
        done = 0
        for folder in (self._disk, self._temporary):
            for file, owner, chat, interaction in await asyncio.to_thread(folder.all):
                try:
                    if await self._is_gone(owner, interaction.id):
                        raise NotFound
                    await self._stores(owner).save_interaction(chat, interaction)
                except NotFound:
                    log.info("checkpoint.discarded", file=file.name)  # its chat was deleted
                except Exception as error:
                    log.warning("checkpoint.restore_failed", file=file.name, error=type(error).__name__)
                    continue
                file.unlink(missing_ok=True)
                done += 1
        return done


class FallbackFolder:
    """A fallback folder for copies whose save was slow or failed. Only its owner can read it; with an encryption key
    the copies are sealed."""

    def __init__(self, folder: Path, ring: "KeyRing | None" = None) -> None:
        self._folder = folder
        self._ring = ring

    def put(self, owner: str, chat: str, interaction: Interaction) -> None:
        make_folder(self._folder)
        if not self._is_ours():
            raise PermissionError("The fallback folder belongs to another user, or others can access it.")
        kept = {"owner": owner, "chat_id": chat, "interaction": msgspec.Raw(encoded(interaction))}
        data = seal_file(self._ring, msgspec.json.encode(kept), interaction.id, FALLBACK)
        write_whole(self._folder / f"{interaction.id}.json", data)

    def _is_ours(self) -> bool:
        """Tell whether the folder belongs to this user and is closed to others; any user can create one in /tmp."""
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
                kept = msgspec.json.decode(open_file(self._ring, file.read_bytes(), file.stem, FALLBACK))
                again = decoded(msgspec.json.encode(kept["interaction"]))
                found.append((file, str(kept["owner"]), str(kept["chat_id"]), again))
            except (ValueError, KeyError, TypeError, OSError, Unreadable) as error:
                log.warning("checkpoint.read_failed", file=file.name, error=type(error).__name__)
        return found
