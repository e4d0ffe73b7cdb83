"""Checks the tools that a client supplies with a request."""

import re
from collections.abc import Sequence

from runyard.base.json_schema import check_schema
from runyard.domain.events import ClientTool, clean
from runyard.errors import Invalid

MOST = 128
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def checked_client_tools(tools: Sequence[ClientTool]) -> list[ClientTool]:
    """Return the tools as they are stored. Raises Invalid with what is wrong."""
    if not tools:
        return []
    if len(tools) > MOST:
        raise Invalid(f"The request has too many tools of the client. Send at most {MOST}.")
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise Invalid("Two tools of the client have the same name; rename one.")
    for tool in tools:
        if not _NAME.fullmatch(tool.name):
            raise Invalid("The name of a client's tool has 1 to 64 letters, digits or any of - _ and nothing else.")
        check_schema(tool.schema)
    return [ClientTool(tool.name, clean(tool.description), tool.schema) for tool in tools]
