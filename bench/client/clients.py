"""Client processes that do one job together: `Crowd` starts them and adds up their results."""

import subprocess
import sys
from collections.abc import Sequence
from typing import Self

import msgspec
from msgspec.structs import replace

from bench.client.load import Heard, Job


class ClientFailed(Exception):
    """A client got a wrong response; the message is the client's."""


class Crowd:
    """Inside the block all are connected and wait: `go`, then `wait` until they are done, then `heard`."""

    def __init__(self, job: Job, processes: int = 1) -> None:
        self._jobs = [replace(job, clients=clients) for clients in shares(job.clients, processes)]
        self._processes: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        for job in self._jobs:
            command = [sys.executable, "-m", "bench.client.load", msgspec.json.encode(job).decode()]
            self._processes.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True))
        try:
            self._expect("ready")
        except ClientFailed:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()

    def go(self) -> None:
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()

    def wait(self) -> None:
        self._expect("done")

    def heard(self) -> Heard:
        return together([msgspec.json.decode(_line(process), type=Heard) for process in self._processes])

    def _expect(self, word: str) -> None:
        for process in self._processes:
            if (said := _line(process).strip()) != word:
                raise ClientFailed(f"a client said {said!r} instead of {word!r}")


def shares(clients: int, processes: int) -> list[int]:
    return [clients // processes + (n < clients % processes) for n in range(processes)]


def together(heard: Sequence[Heard]) -> Heard:
    return Heard(
        begun=min(one.begun for one in heard),
        ended=max(one.ended for one in heard),
        runs=sum(one.runs for one in heard),
        events=sum(one.events for one in heard),
        firsts=[first for one in heard for first in one.firsts],
        delays=[delay for one in heard for delay in one.delays],
        cpu=max(one.cpu for one in heard),
    )


def _line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline()
    if not line:
        said = process.stderr.read().strip().splitlines()
        raise ClientFailed(said[-1] if said else "a client ended without a word")
    return line
