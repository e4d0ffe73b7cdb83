"""The servers under test, each a process of its own: started, waited for, measured, stopped."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

READY_SECONDS = 30.0


@dataclass
class Server:
    name: str
    port: int
    pid: int
    ready_seconds: float

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mb(self) -> float:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(name: str, module: str, *args: str, health: str) -> Iterator[Server]:
    port = free_port()
    begun = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", module, *args, str(port)])
    try:
        _wait(process, f"http://127.0.0.1:{port}{health}", begun)
        yield Server(name, port, process.pid, time.perf_counter() - begun)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _wait(process: "subprocess.Popen[bytes]", url: str, begun: float) -> None:
    while time.perf_counter() - begun < READY_SECONDS:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with code {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("the server did not answer in time")
