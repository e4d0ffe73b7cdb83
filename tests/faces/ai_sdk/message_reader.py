"""Builds a UI message from chunks, by the rules of the AI SDK. `tests/clients` does the same with the SDK."""

from collections.abc import Iterable
from typing import Any

Chunk = dict[str, Any]


class Message:
    """The parts of a message. `take` raises KeyError for a chunk that the SDK would refuse."""

    def __init__(self) -> None:
        self.parts: list[Chunk] = []
        self.open: dict[str, Chunk] = {}
        self.last: Chunk | None = None
        self.error: str | None = None

    def take(self, chunk: Chunk) -> None:
        self.last = chunk
        kind = chunk["type"]
        if kind in ("text-start", "reasoning-start"):
            self.open[chunk["id"]] = self._add({"type": kind.removesuffix("-start"), "text": ""})
        elif kind in ("text-delta", "reasoning-delta"):
            self.open[chunk["id"]]["text"] += chunk["delta"]
        elif kind in ("text-end", "reasoning-end"):
            del self.open[chunk["id"]]
        elif kind == "start-step":
            self._add({"type": "step-start"})
        elif kind == "reset-step":
            self.open.clear()
            del self.parts[self._step() :]
        elif kind.startswith("tool-"):
            self._tool(kind, chunk)
        elif kind == "error":
            self.error = chunk["errorText"]
        elif kind.startswith(("data-", "source-", "steering", "file")) and not chunk.get("transient"):
            self._add(chunk)

    def _tool(self, kind: str, chunk: Chunk) -> None:
        if kind == "tool-input-available":
            here = [part for part in self.parts[self._step() :] if part.get("id") == chunk["toolCallId"]]
            part = here[0] if here else self._add({"type": f"tool-{chunk['toolName']}", "id": chunk["toolCallId"]})
            part |= {"state": "input-available", "input": chunk["input"]}
        elif kind == "tool-approval-response":
            [part] = [each for each in self.parts if each.get("approval") == chunk["approvalId"]]
            part["state"] = "approval-responded"
        else:
            part = [each for each in self.parts if each.get("id") == chunk["toolCallId"]][-1]
            part |= {"state": kind.removeprefix("tool-"), "output": chunk.get("output"), "said": chunk.get("errorText")}
            part |= {"approval": chunk["approvalId"]} if "approvalId" in chunk else {}

    def _add(self, part: Chunk) -> Chunk:
        self.parts.append(part)
        return part

    def _step(self) -> int:
        steps = [n for n, part in enumerate(self.parts) if part["type"] == "step-start"]
        return steps[-1] + 1 if steps else 0

    @property
    def text(self) -> str:
        return "".join(part["text"] for part in self.parts if part["type"] == "text")

    @property
    def tools(self) -> list[Chunk]:
        return [part for part in self.parts if part["type"].startswith("tool-")]


def read(chunks: Iterable[Chunk]) -> Message:
    message = Message()
    for chunk in chunks:
        message.take(chunk)
    return message
