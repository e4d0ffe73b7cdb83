"""The message of a run as Claude Agent SDK takes it: plain text, or a list of blocks if it has files.

Images and PDF files are blocks of the Anthropic API, text files are text. The bytes are read for the query and stored
nowhere.
"""

from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any

from runyard.agents.execution import Execution
from runyard.agents.kinds.model.file_blocks import as_text, is_text
from runyard.domain.content.parts import File, model_content, text_and_data
from runyard.domain.conversations.thread import Message
from runyard.errors import FilesNotSupported

BLOCKS = {
    "image/png": "image",
    "image/jpeg": "image",
    "image/gif": "image",
    "image/webp": "image",
    "application/pdf": "document",
}


async def prompt_of(execution: Execution) -> str | AsyncIterator[dict[str, Any]]:
    """Return the prompt of a query. Raises FilesNotSupported if Claude takes no files of such a type."""
    message = execution.message
    if message is None:
        return ""
    if not message.files:
        return text_and_data(message.text, message.parts)
    blocks = []
    for part, block in zip(message.content, model_content(message.text, message.parts), strict=True):
        blocks.append(await _block(execution, part) if isinstance(part, File) else block)
    return _stream({"role": "user", "content": blocks})


def with_file_names(message: Message) -> str:
    """Return the text of an earlier message, with the names of its files."""
    text = text_and_data(message.text, message.parts)
    return f"{text} (files: {', '.join(file.name for file in message.files)})" if message.files else text


async def _stream(message: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    yield {"type": "user", "session_id": "", "message": message, "parent_tool_use_id": None}


async def _block(execution: Execution, file: File) -> dict[str, Any]:
    kind = BLOCKS.get(file.type)
    if kind is None and not is_text(file.type):
        raise FilesNotSupported(
            f"A claude agent takes PNG, JPEG, GIF and WebP images, PDF and text files. Send {file.name} as one of them."
        )
    data = await execution.read_file(file.id)
    if kind is None:
        return {"type": "text", "text": as_text(file.name, data)}
    return {"type": kind, "source": {"type": "base64", "media_type": file.type, "data": b64encode(data).decode()}}
