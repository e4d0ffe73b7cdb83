"""Stores checkpoints as files that people can read, one per interaction (S1.37):

    chats/<chat_id>/chat.json
    chats/<chat_id>/interactions/<interaction_id>.json

That is the layout for the owner of a server without API keys. Every other owner has the same layout below
`owners/<owner>/`, with the owner's name percent-encoded (`app/factories.py`).

Each file is written atomically: to a draft beside it, flushed to disk, then renamed. `remove_drafts` removes the
drafts of killed processes. Ids are validated, so that no id leads out of the folder. With an encryption key the
contents are sealed. Files are read and written in threads, never on the event loop.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from runyard.base.private_files import remove_tree, write_whole
from runyard.checkpoints.store import IsGone
from runyard.encryption.sealed_files import open_file, seal_file
from runyard.errors import NotFound
from runyard.faces.chats.interaction_builder import decoded, encoded
from runyard.faces.chats.lookup import CHAT
from runyard.faces.chats.wire import AgentState, AgentStatePart, Chat, Interaction

if TYPE_CHECKING:
    from runyard.encryption.cipher import KeyRing


class FileInteractionStore:
    """An `InteractionStore` in a folder. It needs no database."""

    def __init__(self, folder: Path, ring: "KeyRing | None" = None) -> None:
        self._chats = folder / "chats"
        self._ring = ring

    async def save_interaction(self, chat_id: str, interaction: Interaction) -> None:
        await asyncio.to_thread(self._save, chat_id, interaction)

    async def load_interaction(self, chat_id: str, interaction_id: str) -> Interaction:
        return await asyncio.to_thread(self._load, chat_id, interaction_id)

    async def load_chat(self, chat_id: str) -> Chat:
        return await asyncio.to_thread(self._load_chat, chat_id)

    async def get_previous_state(self, chat_id: str, interaction_id: str) -> AgentState | None:
        parent = (await self.load_interaction(chat_id, interaction_id)).parent_id
        return None if parent is None else (await self.load_interaction(chat_id, parent)).final_agent_state

    async def forget(self, chat_id: str, is_gone: IsGone) -> None:
        kept = await asyncio.to_thread(self._stored_ids, chat_id)
        gone = [each for each in kept if await is_gone(each)]
        if kept and gone == kept:
            await asyncio.to_thread(remove_tree, self._folder(chat_id))
        else:
            await asyncio.to_thread(self._delete, chat_id, gone)

    def _delete(self, chat_id: str, interaction_ids: Sequence[str]) -> None:
        for each in interaction_ids:
            file = self._file(chat_id, each)
            for found in (file, *file.parent.glob(f".{file.name}.*")):
                found.unlink(missing_ok=True)

    def _stored_ids(self, chat_id: str) -> list[str]:
        """Return the ids of the interactions of a chat that have a file or a draft."""
        names = [file.name for file in (self._folder(chat_id) / "interactions").glob("*.json*")]
        return sorted({name.lstrip(".").partition(".json")[0] for name in names})

    def _folder(self, chat_id: str) -> Path:
        if not CHAT.fullmatch(chat_id):
            raise NotFound("There is no chat with that id.")
        return self._chats / chat_id

    def _file(self, chat_id: str, interaction_id: str) -> Path:
        if not CHAT.fullmatch(interaction_id):
            raise NotFound("There is no checkpoint of that interaction.")
        return self._folder(chat_id) / "interactions" / f"{interaction_id}.json"

    def _save(self, chat_id: str, interaction: Interaction) -> None:
        data = seal_file(self._ring, encoded(interaction), interaction.id, chat_id)
        write_whole(self._file(chat_id, interaction.id), data)
        about = self._folder(chat_id) / "chat.json"
        known = msgspec.json.decode(about.read_bytes()) if about.exists() else None
        if known is None or known["created_at"] > interaction.created_at:
            write_whole(about, msgspec.json.encode({"id": chat_id, "created_at": interaction.created_at}))

    def _load(self, chat_id: str, interaction_id: str) -> Interaction:
        """Load an interaction with its complete final state, joined from the files of the interactions before it."""
        try:
            found = at = self._read(chat_id, self._file(chat_id, interaction_id))
            parts = []
            while isinstance(state := at.final_agent_state, AgentStatePart):
                parts.append(state.messages)
                at = self._read(chat_id, self._file(chat_id, state.after))
        except FileNotFoundError:
            raise NotFound("There is no checkpoint of that interaction.") from None
        if not parts:
            return found
        parts.append(state.messages if state is not None else [])
        whole = AgentState(messages=[message for part in reversed(parts) for message in part])
        return found.model_copy(update={"final_agent_state": whole})

    def _read(self, chat_id: str, file: Path) -> Interaction:
        return decoded(open_file(self._ring, file.read_bytes(), file.stem, chat_id))

    def _load_chat(self, chat_id: str) -> Chat:
        folder = self._folder(chat_id)
        try:
            about = msgspec.json.decode((folder / "chat.json").read_bytes())
        except FileNotFoundError:
            raise NotFound("There is no chat with that id.") from None
        kept = [self._read(chat_id, file) for file in (folder / "interactions").glob("*.json")]
        kept.sort(key=lambda interaction: (interaction.created_at, interaction.id))
        return Chat(id=about["id"], interactions=kept, created_at=about["created_at"])


def remove_drafts(folder: Path, before: float) -> int:
    """Remove the drafts below a folder that were last written before a time. Return how many."""
    removed = 0
    for pattern in ("*/.*.json.*", "*/interactions/.*.json.*"):
        for place in (folder / "chats", *folder.glob("owners/*/chats")):
            removed += sum(_remove_if_old(draft, before) for draft in place.glob(pattern))
    return removed + sum(_remove_if_old(draft, before) for draft in folder.glob(".int_*.json.*"))


def _remove_if_old(draft: Path, before: float) -> bool:
    try:
        if draft.stat().st_mtime >= before:
            return False
        draft.unlink()
    except FileNotFoundError:
        return False  # its process has finished it
    return True
