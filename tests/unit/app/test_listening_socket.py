"""The socket of the server."""

import asyncio
import socket

from runyard.app.listening import listen


async def test_small_packets_leave_at_once() -> None:
    """Without this an answer in two packets waits for the client's delayed acknowledgement, which takes 40 ms."""
    accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        accepted.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = listen("127.0.0.1", 0)
    server = await asyncio.start_server(note, sock=listener)
    async with server:
        _, writer = await asyncio.open_connection(*listener.getsockname())
        assert await accepted
        writer.close()
