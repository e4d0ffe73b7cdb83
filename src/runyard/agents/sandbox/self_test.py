"""The self-test of the sandbox: a program inside it tries to get out. The sandbox is used only if every attempt fails.

It tries to read a file of the host, reach our server on loopback and any network, see this process and its environment,
create a namespace, and open sockets of any family. It prints each success. On a processor without a filter of system
calls, sockets can be opened; the other barriers contain them.
"""

import os
import socket
import tempfile
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from runyard.agents.sandbox import seccomp

FAMILIES = (1, 2, 10, 16, 17, 38, 40)  # AF_UNIX, INET, INET6, NETLINK, PACKET, ALG, VSOCK

_PROGRAM = """
import ctypes, json, os, socket, sys

def works(attempt):
    try:
        attempt()
    except OSError:
        return False
    return True

def connect(address):
    with socket.create_connection(address, timeout=2):
        pass

def namespace():
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000) != 0:
        raise OSError

found = [
    ("read a file of the host", works(lambda: open(FILE).read())),
    ("read the host's /etc/passwd", os.path.exists("/etc/passwd")),
    ("reach a server on this machine", works(lambda: connect(("127.0.0.1", PORT)))),
    ("reach the network", works(lambda: connect(("192.0.2.1", 80)))),
    ("see a network", set(os.listdir("/proc/sys/net/ipv4/conf")) - {"all", "default", "lo"} != set()),
    ("see a process of the host", os.path.exists("/proc/%d" % PID) and PID > 3),
    ("see our environment", "RUNYARD_TRIAL" in open("/proc/1/environ").read() + repr(os.environ)),
    ("write into the system", works(lambda: open("/usr/bin/x", "w"))),
    ("be root", os.geteuid() == 0),
    ("make a namespace", works(namespace)),
    ("make a socket", FILTERED and any(works(lambda: socket.socket(family)) for family in FAMILIES)),
]
print(json.dumps([what for what, did in found if did]))
"""


class ProgramResult(Protocol):
    @property
    def code(self) -> int | None: ...

    @property
    def output(self) -> str: ...


async def try_to_escape(run: Callable[[str], Awaitable[ProgramResult]]) -> str | None:
    """Return None if every attempt failed, otherwise the first one that succeeded."""
    with tempfile.NamedTemporaryFile("w") as secret, socket.create_server(("127.0.0.1", 0)) as server:
        os.chmod(secret.name, 0o644)
        names = f"FILE = {secret.name!r}\nPORT = {server.getsockname()[1]}\nPID = {os.getpid()}\n"
        names += f"FAMILIES = {FAMILIES}\nFILTERED = {bool(seccomp.program())}\n"
        ended = await run(names + _PROGRAM)
    if ended.code != 0:
        return "a program could not be run in it"
    try:
        did = msgspec.json.decode(ended.output, type=list[str])
    except msgspec.DecodeError:
        return "a program could not be run in it"
    return f"a program in it could {did[0]}" if did else None
