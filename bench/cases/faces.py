"""The cost of each face: the same runs of 200 tiny events to 10 clients, started and followed in the protocols of
third-party clients, alternating with the threads face.

One request of such a protocol starts the run and streams it."""

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from bench.cases.streams import stream
from bench.report.results import Row
from bench.servers.stand import Stand
from bench.size import Size
from bench.steps import Step

CASE, CLIENTS = "faces", 10
FACES = ("threads", "openai", "completions", "ai", "ag-ui", "mcp", "a2a", "langgraph-sdk")


def server_name(kind: str, face: str) -> str:
    return f"{kind}, {face}"


def steps(stand: Stand, size: Size) -> list[Step]:
    return [Step(f"faces, {kind}", partial(_compare, stand, kind, size)) for kind in stand.durable()]


def _compare(stand: Stand, kind: str, size: Size) -> Sequence[Row]:
    with stand.server(kind, "faces") as server:
        for face in FACES:
            stream("flat", server, CLIENTS, size.warm_up(), face)
        return [
            replace(stream("flat", server, CLIENTS, size, face), case=CASE, server=server_name(kind, face))
            for _ in range(size.face_rounds)
            for face in FACES
        ]
