"""Files over MCP: `mcp` for Python and `@modelcontextprotocol/client` get them in results, read them, and send them."""

from __future__ import annotations

from base64 import b64decode, b64encode

import pytest
from mcp import MCPError
from mcp_types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from tests.clients.client_app import DOT, LONG
from tests.clients.conftest import ran
from tests.clients.test_mcp import REVISIONS, connected, text
from tests.support.scenario.flow import Flow

IMAGE = f"data:image/png;base64,{b64encode(DOT).decode()}"


def _link(found: CallToolResult) -> str:
    """Check the result of an agent that returns three files. Return the address of the one that is a link."""
    said, page, dot, long = found.content
    assert isinstance(said, TextContent)
    assert said.text == "Here it is."
    assert isinstance(page, EmbeddedResource)
    assert isinstance(page.resource, TextResourceContents)
    assert (page.resource.text, page.resource.mime_type) == ("printed", "text/plain")
    assert isinstance(dot, ImageContent)
    assert (b64decode(dot.data), dot.mime_type) == (DOT, "image/png")
    assert isinstance(long, ResourceLink)
    assert (long.name, long.mime_type, long.size) == ("long.bin", "application/octet-stream", len(LONG))
    return str(long.uri)


@pytest.mark.parametrize("mode", REVISIONS)
async def test_the_client_for_python_gets_reads_and_sends_files(url: str, sqlite_flow: Flow, mode: str) -> None:
    async with connected(url, mode) as client:
        address = _link(await client.call_tool("printer", {"message": "several"}))
        [whole] = (await client.read_resource(address)).contents
        assert isinstance(whole, BlobResourceContents)
        assert (b64decode(whole.blob), str(whole.uri)) == (LONG, address)
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "runyard://files/{file_id}"
        assert (await client.list_resources()).resources == []
        for unknown in (address[:-4] + "0000", "file:///etc/passwd"):
            with pytest.raises(MCPError, match="no resource"):
                await client.read_resource(unknown)

        files = [IMAGE, "data:text/plain,hello", address]
        seen = await client.call_tool("viewer", {"message": "look", "files": files})
        parts = "image/png 89504e47, text/plain 68656c6c, application/octet-stream 00010203"
        assert text(seen) == f"look: {parts}"
        for wrong in (["https://example.com/a.png"], [address[:-4] + "0000"], ["data:image/png;base64,?"], [1], "x"):
            refused = await client.call_tool("viewer", {"message": "look", "files": wrong})
            assert refused.is_error, wrong
    assert len(await sqlite_flow.database.rows("select id from runs")) == 2


async def test_the_client_for_node_gets_reads_and_sends_files(url: str) -> None:
    for mode in REVISIONS:
        found = await ran("mcp_client.mjs", "files", url, MODE=mode)
        assert found["kinds"] == ["text", "resource", "image", "resource_link"]
        assert found["bytes"] == len(LONG)
        assert found["seen"] == "look: text/plain 68656c6c"
