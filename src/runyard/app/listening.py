"""The sockets of a server: of the API, and of the metrics of each process."""

import socket
from ipaddress import ip_address

from runyard.errors import StartupError


def listen(host: str, port: int, setting: str = "RUNYARD_PORT") -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, proto=socket.IPPROTO_TCP)  # asyncio sends small packets at once only then
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise StartupError(
            f"Cannot listen on {host}:{port}: {error.strerror}. Set {setting} to another port."
        ) from None
    listener.listen(2048)
    listener.setblocking(False)
    return listener


def metrics_ports(first: int, count: int) -> list[int]:
    """Return the metrics port of each process: the first one and the next ones. 0 lets the system choose each."""
    return [first + place if first else 0 for place in range(count)]


def is_loopback(listener: socket.socket) -> bool:
    """Whether the socket's real address is a loopback address. A host name may stand for any address."""
    return ip_address(listener.getsockname()[0]).is_loopback
