"""Looks up the thread of a chat id and the run of an interaction id."""

import re
from contextlib import suppress

from runyard.domain.conversations.thread import Thread
from runyard.domain.runs.run import Run
from runyard.engine.engine import Engine
from runyard.errors import Invalid, NotFound
from runyard.faces.chats.translate import run_id_of

CHAT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:~-]{0,127}")


def chat_id(thread: Thread) -> str:
    """Return the client's id of a chat, or the thread's id if the client gave none."""
    return thread.external_id or thread.id


def new_chat_id(given: str) -> str:
    """Validate the id of a new chat. It also names a folder, so it cannot contain a path."""
    if not CHAT.fullmatch(given):
        raise Invalid("Invalid chat id. Use 1 to 128 letters, digits, dots, dashes, colons, tildes or underscores.")
    return given


async def thread_of(engine: Engine, owner: str, chat: str) -> Thread:
    try:
        return await engine.views.named_thread(owner, chat)
    except NotFound:
        raise NotFound("There is no chat with that id.") from None


async def run_in(engine: Engine, owner: str, chat: str, interaction: str) -> Run:
    """Return the run of an interaction of a chat."""
    thread, run_id = await thread_of(engine, owner, chat), run_id_of(interaction)
    with suppress(NotFound):
        run = await engine.views.run(owner, run_id or "")
        if run.thread_id == thread.id:
            return run
    raise NotFound("There is no interaction with that id in the chat.")


async def run_of(engine: Engine, thread: Thread, interaction: str) -> Run:
    """Return the run of an interaction of a thread, or of the thread that it was forked from."""
    with suppress(NotFound):
        run = await engine.views.run(thread.owner, run_id_of(interaction) or "")
        if run.thread_id == thread.id or thread.forked_from is not None:
            return run
    raise Invalid("`before` is not an interaction of this chat. Use the `next` of an earlier page.")
