"""The content of a message: a list of parts. A part is text, an image, another file, or data (JSON).

A part with a file has its id, name, type and size. The bytes are read when an agent or a model needs them. The text of
a message is the text of its parts, for clients and agents that know no parts.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from runyard.errors import AgentError

BETWEEN_TEXTS = "\n\n"

FileReader = Callable[[str], Awaitable[bytes]]
_reader: ContextVar[FileReader | None] = ContextVar("runyard_file_reader", default=None)


def set_file_reader(reader: FileReader) -> None:
    """Set what `File.read` uses in this task and in the tasks that it starts: a function of the file's id."""
    _reader.set(reader)


class TextPart(Struct, frozen=True, tag="text", tag_field="type"):
    """Text in a message that has other parts, too.

    Args:
        text: The text.

    Example:
        >>> @runyard.agent
        ... async def reader(ctx: runyard.Context) -> str:
        ...     return " and ".join(part.text for part in ctx.task.parts)
        >>> @runyard.agent
        ... async def editor(ctx: runyard.Context) -> str:
        ...     return (await ctx.run(reader, [runyard.TextPart("tea"), runyard.TextPart("milk")])).text
        >>> run_agent_sync(editor, "Go.", agents=[reader]).text
        'tea and milk'
    """

    text: str


class File(
    Struct, frozen=True, tag="file", tag_field="type", rename={"id": "file_id", "type": "media_type"}, kw_only=True
):
    """A file of a message, or one that an agent attached. Agents and tools may return it.

    Args:
        id: The id of the file. `GET /api/files/{id}` downloads it.
        name: Its name.
        type: Its media type, such as `"image/png"`.
        size: The number of bytes.

    Example:
        >>> @runyard.agent
        ... async def measure(ctx: runyard.Context) -> str:
        ...     report = await ctx.attach("report.txt", b"12 pages", "text/plain")
        ...     return f"{report.name}: {len(await report.read())} bytes"
        >>> run_agent_sync(measure, "How long is it?").text
        'report.txt: 8 bytes'
    """

    id: str
    name: str
    type: str
    size: int

    async def read(self) -> bytes:
        """Return the bytes of the file.

        Raises:
            AgentError: If it is called outside a run.
            NotFound: If the file was deleted.

        Example:
            >>> @runyard.agent
            ... async def reader(ctx: runyard.Context) -> str:
            ...     return (await ctx.message.files[0].read()).decode()
            >>> run_agent_sync(reader, "Read this.", files=[("note.txt", b"Buy tea.", "text/plain")]).text
            'Buy tea.'
        """
        reader = _reader.get()
        if reader is None:
            raise AgentError("A file is read inside a run. Use `Client.download` elsewhere.")
        return await reader(self.id)


class Image(File, frozen=True, tag="image", kw_only=True):
    """A file that is an image. Models get it as one.

    Args:
        id: The id of the file.
        name: Its name.
        type: Its media type, such as `"image/png"`.
        size: The number of bytes.

    Example:
        >>> dot = b"\\x89PNG\\r\\n\\x1a\\n" + bytes(16)
        >>> @runyard.agent
        ... async def looker(ctx: runyard.Context) -> str:
        ...     return ", ".join(file.name for file in ctx.message.files if isinstance(file, runyard.Image))
        >>> run_agent_sync(looker, "What is this?", files=[("dot.png", dot, "image/png")]).text
        'dot.png'
    """


class DataPart(Struct, frozen=True, tag="data", tag_field="type"):
    """A JSON value in a message.

    Args:
        data: The value.

    Example:
        >>> @runyard.agent
        ... async def reader(ctx: runyard.Context) -> str:
        ...     return str(ctx.task.parts[1].data["total"])
        >>> @runyard.agent
        ... async def editor(ctx: runyard.Context) -> str:
        ...     return (await ctx.run(reader, ["How much?", runyard.DataPart({"total": 9.5})])).text
        >>> run_agent_sync(editor, "Go.", agents=[reader]).text
        '9.5'
    """

    data: Any


Part: TypeAlias = TextPart | File | Image | DataPart
Content: TypeAlias = str | Sequence[str | Part]  # as agents write it: text, or texts and parts in their order
StoredContent: TypeAlias = str | list[dict[str, Any]]  # as JSON: text, or the parts

_decoder = msgspec.json.Decoder(list[Part])
_encode = msgspec.json.Encoder().encode


def encoded(parts: Sequence[Part]) -> str:
    return _encode(list(parts)).decode()


def decoded(parts: str | None) -> list[Part]:
    return [] if parts is None else _decoder.decode(parts)


def from_json(content: StoredContent) -> tuple[str, list[Part]]:
    """Return the text and the parts of a content; no parts for plain text."""
    if isinstance(content, str):
        return content, []
    parts = msgspec.convert(content, list[Part])
    return text_of(parts), parts


def as_json(content: Content, as_stored: Callable[[Any], Any]) -> StoredContent:
    """Return a content as JSON. `as_stored` redacts its texts and data; facts about files are stored already."""
    if isinstance(content, str):
        return as_stored(content)  # type: ignore[no-any-return]
    made: list[dict[str, Any]] = []
    for part in content:
        match part:
            case str() | TextPart():
                made.append({"type": "text", "text": as_stored(part if isinstance(part, str) else part.text)})
            case DataPart(data):
                made.append({"type": "data", "data": as_stored(data)})
            case File():
                made.append(msgspec.to_builtins(part))
            case _:
                raise AgentError("A message has texts, files and data. Use a str, a runyard.File or a part.")
    return made


def text_and_data(text: str, parts: str | None) -> str:
    """Return the text of a message with its data as JSON, for receivers that take text only."""
    found = decoded(parts)
    texts = [str(_block(part)["text"]) for part in found if not isinstance(part, File)]
    return BETWEEN_TEXTS.join(texts) if found else text


def text_of(parts: Sequence[Part]) -> str:
    """Return the text of the text parts."""
    return BETWEEN_TEXTS.join(part.text for part in parts if isinstance(part, TextPart))


def file_of(file_id: str, name: str, kind: str, size: int) -> File:
    """Return the part of a file: an image if its type says so."""
    made = Image if kind.startswith("image/") else File
    return made(id=file_id, name=name, type=kind, size=size)


def model_content(text: str, parts: str | None) -> str | list[dict[str, Any]]:
    """Return the content of a message for a model. Files are references (`file_id`), which are replaced by their bytes
    when the model is asked."""
    if parts is None:
        return text
    return [_block(part) for part in decoded(parts)]


def _block(part: Part) -> dict[str, Any]:
    match part:
        case DataPart(data):
            return {"type": "text", "text": _encode(data).decode()}
        case _:
            block: dict[str, Any] = msgspec.to_builtins(part)
            return block


def references(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the files that a JSON value, such as the output of a tool, refers to."""
    if isinstance(value, dict):
        if value.get("type") in ("file", "image") and isinstance(value.get("file_id"), str):
            yield value
        else:
            for item in value.values():
                yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)
