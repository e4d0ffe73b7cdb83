"""The result of an MCP tool: structured content, text, or blocks. Images, audio and embedded files become files of the
run, so that no base64 enters the log."""

from base64 import b64decode
from mimetypes import guess_extension
from typing import TYPE_CHECKING, Any

from runyard.agents.user_code.current_call import CurrentExecution
from runyard.domain.content.file import fits, media_type
from runyard.domain.content.parts import File
from runyard.errors import ToolError

if TYPE_CHECKING:
    from mcp.types import CallToolResult

ERROR_CHARACTERS = 2000
UNKNOWN_TYPE = "application/octet-stream"


async def result_of_call(result: "CallToolResult", execution: CurrentExecution | None) -> Any:
    """Return the structured content if there is some, else the text, else all blocks. Raise ToolError if the server
    reports an error."""
    texts = [block.text for block in result.content if block.type == "text"]
    if result.is_error:
        raise ToolError("\n".join(texts)[:ERROR_CHARACTERS] or None)
    blocks = [await _block(block, execution) for block in result.content]
    files = [block for block in blocks if isinstance(block, File)]
    if result.structured_content is not None:
        return {"content": result.structured_content, "files": files} if files else result.structured_content
    return "\n".join(texts) if len(texts) == len(result.content) else blocks


async def _block(block: Any, execution: CurrentExecution | None) -> Any:
    """Return a block as JSON, or as a file of the run if it has bytes."""
    found = _bytes_in(block)
    if found is None or execution is None:
        return block.model_dump(mode="json", by_alias=True, exclude_none=True)
    name, given, encoded = found
    try:
        data = b64decode(encoded, validate=True)
    except ValueError:
        raise ToolError("The tool server sent a file that is not valid base64.") from None
    kind = media_type(given or "") or UNKNOWN_TYPE
    if not fits(kind, data[:16]):
        kind = UNKNOWN_TYPE
    return await execution.attach_file(name or f"{block.type}{guess_extension(kind) or ''}", kind, data)


def _bytes_in(block: Any) -> tuple[str, str | None, str] | None:
    """Return the name, the type and the base64 of a block with bytes."""
    if block.type in ("image", "audio"):
        return "", block.mime_type, block.data
    if block.type == "resource" and getattr(block.resource, "blob", None) is not None:
        return str(block.resource.uri).rsplit("/", 1)[-1], block.resource.mime_type, block.resource.blob
    return None
