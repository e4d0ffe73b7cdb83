"""Opens the channels and DMs of the ferry company, says something in each, and shows what is said.

python examples/office/move_in.py [http://127.0.0.1:8000]
python examples/office/move_in.py --doors [http://127.0.0.1:8000]    opens them, once the server is there; says nothing
"""

import json
import sys
import time
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.request import Request, urlopen

Json = dict[str, Any]


class Office:
    def __init__(self, url: str) -> None:
        self._url = url

    def ask(self, method: str, path: str, body: Json | None = None) -> Json:
        data = None if body is None else json.dumps(body).encode()
        request = Request(self._url + path, data, {"Content-Type": "application/json"}, method=method)
        with urlopen(request) as answer:
            return dict(json.load(answer))

    def channel(self, name: str, kind: str, *agents: str) -> str:
        """Return the channel of that name. Open it first if it does not exist."""
        for known in self.ask("GET", "/api/channels")["channels"]:
            if known["name"] == name:
                return str(known["id"])
        return str(self.ask("POST", "/api/channels", {"name": name, "kind": kind, "agents": list(agents)})["id"])

    def dm(self, agent: str, other: str | None = None) -> str:
        return str(self.ask("POST", "/api/dms", {"agentId": agent, "otherAgentId": other})["id"])

    def said(self, place: str, **where: str) -> list[Json]:
        [(name, thread)] = where.items()
        messages: list[Json] = self.ask("GET", f"/api/messages?{name}={thread}")["messages"]
        for message in messages:
            reactions = " ".join(reaction["emoji"] for reaction in message["reactions"])
            print(f"  {place:8} {message['userId']:6} {message['text']} {reactions}".rstrip())
        return messages


class Places(NamedTuple):
    pier: str
    ledger: str
    engine: str
    nadia: str


def open_doors(office: Office) -> Places:
    """Two channels, a DM of two agents, and one with an agent."""
    pier = office.channel("pier", "public", "mara", "teo", "ilse", "pip")
    ledger = office.channel("ledger", "private", "nadia", "ilse")
    engine, nadia = office.dm("teo", "boro"), office.dm("nadia")
    office.ask("PUT", "/api/agents/teo/memory/contacts", {"content": f"boro: {engine}"})
    return Places(pier, ledger, engine, nadia)


def wait_for(office: Office, patience: float = 20) -> bool:
    """Whether the server is there."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            office.ask("GET", "/api/agents")
            return True
        except URLError:
            time.sleep(0.3)
    return False


def move_in(url: str, patience: float = 60) -> list[Json]:
    """Return all messages, after every agent has finished."""
    office = Office(url)
    pier, ledger, engine, nadia = open_doors(office)
    for where in (
        {"channelId": pier, "text": "There is fog, and the engine sounds odd. Thank you all."},
        {"channelId": pier, "text": "What does a ticket cost?"},
        {"channelId": ledger, "text": "How many tickets have we sold?"},
        {"dmConversationId": nadia, "text": "How many have we sold, just between us?"},
    ):
        office.ask("POST", "/api/messages", where)
    until = time.monotonic() + patience
    while time.monotonic() < until and _at_work(office):
        time.sleep(0.2)
    shown = office.said("#pier", channelId=pier) + office.said("#ledger", channelId=ledger)
    return shown + office.said("DM", dmConversationId=engine) + office.said("DM", dmConversationId=nadia)


def _at_work(office: Office) -> bool:
    runs = office.ask("GET", "/api/runs")["runs"]
    return any(run["status"] in ("queued", "running") for run in runs)


if __name__ == "__main__":
    asked = [argument for argument in sys.argv[1:] if argument != "--doors"]
    url = asked[0] if asked else "http://127.0.0.1:8000"
    if "--doors" not in sys.argv:
        move_in(url)
    else:
        with suppress(OSError):  # the server was stopped meanwhile, and says so itself
            if wait_for(Office(url)):
                open_doors(Office(url))
