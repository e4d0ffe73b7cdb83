"""Agent cards, made from the agents that an app declares. Pure.

A card is public: it has the name and the description of an agent, and no instructions, tools or models.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

VERSION = "1.0"  # of the protocol
BINDINGS = ("JSONRPC", "HTTP+JSON")
MODES = ("text/plain", "application/json")
SCHEME = "bearer"


class CardAgent(NamedTuple):
    """The description of an agent for its card. `version` changes with the agent's code, model or instructions."""

    name: str
    description: str
    version: str


class CardOptions(NamedTuple):
    """The sources of cards: the agents by name, the one that answers at the well-known address, the server's public
    address, whether requests need a key, and the media types of files that are accepted."""

    agents: Mapping[str, CardAgent]
    default: str | None
    public_url: str | None
    needs_key: bool
    file_types: Sequence[str]


def card(agent: CardAgent, options: CardOptions, base: str) -> dict[str, Any]:
    """Return the card of an agent. `base` is the address of the server."""
    url, said = f"{base}/a2a/{agent.name}", agent.description
    found: dict[str, Any] = {
        "name": agent.name,
        "description": said,
        "version": agent.version,
        "supportedInterfaces": [
            {"url": url, "protocolBinding": binding, "protocolVersion": VERSION} for binding in BINDINGS
        ],
        "capabilities": {"streaming": True, "pushNotifications": True, "extendedAgentCard": False},
        "securitySchemes": {
            SCHEME: {"httpAuthSecurityScheme": {"scheme": "Bearer", "description": "An API key of this server."}}
        },
        "defaultInputModes": list(dict.fromkeys([*MODES, *options.file_types])),
        "defaultOutputModes": list(MODES),
        "skills": [{"id": agent.name, "name": agent.name, "description": said, "tags": [agent.name]}],
    }
    if options.needs_key:
        found["securityRequirements"] = [{"schemes": {SCHEME: {"list": []}}}]
    return found
