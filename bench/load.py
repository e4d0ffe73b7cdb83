"""The client, in a process of its own: N conversations at once, each a POST and then the stream, over raw sockets so
that it costs little.

Prints one JSON line. Every stream is checked: 200 tokens, ids rising, one state at the end.
"""

import asyncio
import json
import sys
import time

TOKENS = 200


async def request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, method: str, path: str, body: str = ""
) -> bytes:
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write((head + body).encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    status = int(answer.split(b" ", 2)[1])
    if status >= 300:
        raise RuntimeError(f"{method} {path}: {status}")
    length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    return await reader.readexactly(length)


async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> tuple[float, int]:
    """Read a chunked SSE response to its end; the time of the first event and the number of tokens."""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    first, body = 0.0, []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body.append(await reader.readexactly(size))
        await reader.readexactly(2)
        if not first and b"event: " in body[-1]:
            first = time.perf_counter()
    await reader.readexactly(2)
    text = b"".join(body)
    ids = [int(line[4:]) for line in text.split(b"\n") if line.startswith(b"id: ")]
    if ids != sorted(set(ids)) or text.count(b"event: state") != 1:
        raise RuntimeError("a stream was not in order")
    return first, text.count(b"event: token")


async def talk(port: int, runs: int, latencies: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
    thread = json.loads(await request(reader, writer, "POST", "/api/threads", "{}"))["thread_id"]
    for _ in range(runs):
        begun = time.perf_counter()
        body = json.dumps({"content": "go"})
        run = json.loads(await request(reader, writer, "POST", f"/api/threads/{thread}/messages", body))["run_id"]
        first, tokens = await stream(reader, writer, f"/api/runs/{run}/events")
        if tokens != TOKENS:
            raise RuntimeError(f"{tokens} tokens arrived")
        latencies.append(first - begun)
    writer.close()


async def main(port: int, clients: int, runs: int) -> None:
    latencies: list[float] = []
    begun = time.perf_counter()
    await asyncio.gather(*(talk(port, runs, latencies) for _ in range(clients)))
    took = time.perf_counter() - begun
    latencies.sort()
    done = clients * runs
    print(
        json.dumps(
            {
                "clients": clients,
                "runs": done,
                "events": done * TOKENS,
                "seconds": took,
                "runs_s": done / took,
                "events_s": done * TOKENS / took,
                "first_ms_p50": latencies[len(latencies) // 2] * 1000,
                "first_ms_p99": latencies[int(len(latencies) * 0.99)] * 1000,
            }
        )
    )


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:4])))
