"""Opens the channels and DMs of the ferry company, says something in each, and shows what is said.

python examples/office/move_in.py [http://127.0.0.1:8000]
"""

import json
import sys
import time
from typing import Any
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
        """The channel of that name, which is opened if there is none."""
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


def move_in(url: str, patience: float = 60) -> list[Json]:
    """All that was said, once nobody is at work any more."""
    office = Office(url)
    pier = office.channel("pier", "public", "mara", "teo", "ilse", "pip")
    ledger = office.channel("ledger", "private", "nadia", "ilse")
    engine, nadia = office.dm("teo", "boro"), office.dm("nadia")
    office.ask("PUT", "/api/agents/teo/memory/contacts", {"content": f"boro: {engine}"})
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
    move_in(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000")
