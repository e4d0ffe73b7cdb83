"""Files in a conversation, as a model gets them: made for each request from the references that the log has.

Images become data URIs (`image_url`), text files become text, and other files become `file` blocks, as litellm expects
them. The bytes are never part of the log or of the conversation that the loop keeps.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from runyard.agents.execution import Execution
from runyard.errors import NotFound

TEXT_TYPES = ("application/json", "application/xml", "application/yaml", "application/toml")


def is_text(kind: str) -> bool:
    """Return whether files of this type are text."""
    return kind.startswith("text/") or kind in TEXT_TYPES


def as_text(name: str, data: bytes) -> str:
    """Return a text file as a model gets it."""
    return f"The file {name}:\n{data.decode('utf-8', 'replace')}"


async def with_files(execution: Execution, messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the messages with the bytes of their files."""
    return [await _message(execution, message) for message in messages]


async def _message(execution: Execution, message: Mapping[str, Any]) -> Mapping[str, Any]:
    content = message.get("content")
    if not isinstance(content, list) or not any(isinstance(block.get("file_id"), str) for block in content):
        return message
    return {**message, "content": [await _block(execution, block) for block in content]}


async def _block(execution: Execution, block: dict[str, Any]) -> dict[str, Any]:
    if "file_id" not in block:
        return block
    name, kind = str(block.get("name", "file")), str(block.get("media_type", ""))
    try:
        data = await execution.read_file(block["file_id"])
    except NotFound:
        return {"type": "text", "text": f"(The file {name} has been deleted.)"}
    if is_text(kind):
        return {"type": "text", "text": as_text(name, data)}
    address = f"data:{kind};base64,{b64encode(data).decode()}"
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": address}}
    return {"type": "file", "file": {"filename": name, "file_data": address}}
