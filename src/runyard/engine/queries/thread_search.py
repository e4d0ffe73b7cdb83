"""Titles of threads, a search over messages, and exports.

A title is the one that a person gave the thread, or else the first words of its first message. The search finds
messages by the index of the database, in chats, channels and DMs, and titles that people gave.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from runyard.domain.conversations.recipients import Participant
from runyard.domain.conversations.search import Excerpt, excerpt, title_of, words_of
from runyard.domain.conversations.thread import Conversation, Message, Thread, ThreadKind
from runyard.domain.events import clean
from runyard.domain.runs.run import Feedback
from runyard.domain.times import iso
from runyard.engine.queries.views import checked_cursor, checked_id
from runyard.errors import Invalid, NotFound, Unreadable
from runyard.store import Store

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor

READ_RUNS = 500
MOST_TITLES = 20
MOST_TITLE_CHARS = 200


class MessageHit(Struct, frozen=True):
    """A message that was found. `title`: of its chat, or who and what its channel or DM is."""

    message: Message
    kind: ThreadKind
    title: str | None
    excerpt: Excerpt


class Found(Struct, frozen=True):
    """A page of a search. `titles` have the words, by the id of the thread; only the first page has them. `next` is the
    cursor of the next page."""

    titles: Mapping[str, Excerpt]
    hits: Sequence[MessageHit]
    next: str | None


class ThreadSearch:
    def __init__(self, store: Store, redactor: "Redactor") -> None:
        self._store = store
        self._redactor = redactor

    async def titles(self, threads: Sequence[str]) -> Mapping[str, str]:
        """Return the titles of threads by id, without those that cannot be decrypted and threads without messages."""
        try:
            return await self._titles(threads)
        except Unreadable:
            found: dict[str, str] = {}
            for thread_id in threads:
                with suppress(Unreadable):
                    found |= await self._titles([thread_id])
            return found

    async def _titles(self, threads: Sequence[str]) -> Mapping[str, str]:
        given = await self._store.titles(threads)
        first = await self._store.first_messages([each for each in threads if each not in given])
        return {**{each: title_of(message.text) for each, message in first.items()}, **given}

    async def rename(self, owner: str, thread_id: str, title: str) -> Thread:
        """Give a thread a title."""
        made = " ".join(self._redactor.text(clean(title)).split())
        if not 1 <= len(made) <= MOST_TITLE_CHARS:
            raise Invalid(f"The title is empty or too long. Send 1 to {MOST_TITLE_CHARS} characters.")
        await self._store.set_title(owner, checked_id(thread_id, "thread"), made)
        return await self._store.get_thread(owner, thread_id)

    async def search(self, owner: str, query: str, before: str | None, limit: int) -> Found:
        """Return the messages that have all words of the query, newest first: in the owner's chats, and in the channels
        and DMs that the owner sees. Sealed with encryption."""
        words = words_of(clean(query))
        if not words:
            raise Invalid("A search needs a word: letters or digits.")
        found = await self._store.search_messages(owner, words, checked_cursor(before), limit)
        titles = {} if before else await self._store.search_titles(owner, words, MOST_TITLES)
        return Found(
            {thread_id: excerpt(title, words) for thread_id, title in titles.items()},
            await self._hits(owner, found, words),
            found[-1].id if len(found) == limit else None,
        )

    async def _hits(self, owner: str, found: Sequence[Message], words: Sequence[str]) -> list[MessageHit]:
        places = await self._conversations(
            owner, {message.thread_id for message in found if message.sender is not None}
        )
        titles = await self.titles(list({message.thread_id for message in found if message.sender is None}))
        hits = []
        for message in found:
            here = places.get(message.thread_id)
            if here is not None:
                hits.append(MessageHit(message, here.thread.kind, _place(here, owner), excerpt(message.text, words)))
            elif message.sender is None:
                hits.append(MessageHit(message, "chat", titles.get(message.thread_id), excerpt(message.text, words)))
        return hits

    async def _conversations(self, owner: str, thread_ids: Collection[str]) -> Mapping[str, Conversation]:
        """Return channels and DMs by id, without those that were deleted meanwhile."""
        found: dict[str, Conversation] = {}
        for thread_id in thread_ids:
            with suppress(NotFound):
                found[thread_id] = await self._store.get_conversation(owner, thread_id)
        return found

    async def exported(self, owner: str, thread_id: str) -> dict[str, Any]:
        """Return a thread with all its messages as JSON."""
        thread = await self._store.get_thread(owner, checked_id(thread_id, "thread"))
        if thread.kind != "chat":
            raise NotFound("There is no thread with that id.")
        said = await self._store.list_messages(thread.id)
        title = (await self._titles([thread.id])).get(thread.id)
        return {
            "thread_id": thread.id,
            "title": title,
            "agent": thread.agent,
            "created_at": iso(thread.created_at),
            "messages": [_message(message) for message in said],
            "feedback": [_feedback(each) for each in await self._feedback(thread)],
        }

    async def _feedback(self, thread: Thread) -> Sequence[Feedback]:
        """Return the feedback on all runs of a thread, oldest run first."""
        runs: list[str] = []
        while page := await self._store.list_runs(
            thread.owner, {"thread_id": thread.id}, runs[-1] if runs else None, READ_RUNS
        ):
            runs += [run.id for run in page]
        found = await self._store.read_feedback(runs)
        return [found[run_id] for run_id in reversed(runs) if run_id in found]


def _place(here: Conversation, caller: str) -> str:
    """Return the name of a channel, or the other participants of a DM."""
    if here.thread.kind == "channel":
        return f"#{here.thread.name}"
    return ", ".join(each.id for each in here.members if each != Participant(caller, "user"))


def _message(message: Message) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": message.id,
        "role": message.role,
        "content": message.text,
        "created_at": iso(message.created_at),
        "run_id": message.run_id,
    }
    if message.parts is not None:
        made["parts"] = [msgspec.to_builtins(part) for part in message.content]
    if message.sources:
        made["sources"] = message.sources
    return made


def _feedback(feedback: Feedback) -> dict[str, Any]:
    return {
        "run_id": feedback.run_id,
        "value": feedback.value,
        "comment": feedback.comment,
        "created_at": iso(feedback.created_at),
    }


def as_markdown(exported: Mapping[str, Any]) -> str:
    """Return an exported thread as Markdown: a heading, then each message under its role and time. Feedback follows the
    last message of its run."""
    lines = [f"# {exported['title'] or 'Untitled'}", ""]
    last = {message["run_id"]: message["id"] for message in exported["messages"]}
    judged = {each["run_id"]: each for each in exported.get("feedback", ())}
    for message in exported["messages"]:
        lines += [f"## {message['role']}, {message['created_at']}", "", message["content"], ""]
        files = [part for part in message.get("parts", ()) if part["type"] in ("file", "image")]
        lines += [f"- file: {each['name']} (`{each['file_id']}`)" for each in files] + ([""] if files else [])
        if last[message["run_id"]] == message["id"] and message["run_id"] in judged:
            lines += _quoted(judged.pop(message["run_id"]))
    for each in judged.values():  # of runs without a message
        lines += _quoted(each)
    return "\n".join(lines)


def _quoted(feedback: Mapping[str, Any]) -> list[str]:
    said = f": {feedback['comment']}" if feedback["comment"] else ""
    return [f"> {line}" for line in f"feedback {feedback['value']}{said}".splitlines()] + [""]
