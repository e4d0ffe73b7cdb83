"""The supervisor, the first program in a sandbox: start the program, watch its limits, and send its files back.

It runs inside the sandbox under /usr/bin/python3 and uses only the standard library. The program's folder is a file
system in memory, so the kernel counts every block of it, including files that are deleted but still open. Nothing is on
the host's disk, and everything is gone when the last process ends.

The program has the same user and can stop or kill this process, but it cannot read or write its channel
(PR_SET_DUMPABLE). The server then gets no more frames and keeps no files.

The channel carries frames of a letter, a length and that many bytes: `U` heartbeat; `D` a limit was exceeded; `d` a
folder; `f` a file, followed by its content in `b` frames; `Z` the end.
"""

import ctypes
import os
import signal
import struct
import sys
from contextlib import suppress

INPUT, WORK = "/input", "/work"
PLACES = (WORK, "/tmp", "/dev/shm")
DEPTH = 64  # of folders that are kept
LOOK_SECONDS = 0.1
CHUNK = 65536
OWN_PID = 2  # pid 1 is bubblewrap; any other pid means that the namespace is shared
NOT_ALONE = 3
_PR_SET_DUMPABLE = 4


class Channel:
    def __init__(self, fd: int) -> None:
        self.fd = fd

    def send(self, kind: bytes, data: bytes = b"") -> None:
        left = memoryview(struct.pack(">cI", kind, len(data)) + data)
        while left:
            left = left[os.write(self.fd, left) :]


def is_over(most_bytes: int, most_files: int) -> bool:
    """Return whether the program exceeds a limit: blocks in its folder, or files in any writable place."""
    folder = os.statvfs(WORK)
    if (folder.f_blocks - folder.f_bfree) * folder.f_frsize > most_bytes:
        return True
    found = [os.statvfs(place) for place in PLACES]
    return any(place.f_files - place.f_ffree - 1 > most_files for place in found)


def fetch() -> None:
    """Copy the input into the program's folder."""
    left = [""]
    while left:
        here = left.pop()
        for entry in os.scandir(INPUT + here):
            there = f"{here}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                os.mkdir(WORK + there, 0o700)
                left.append(there)
            else:
                with open(INPUT + there, "rb") as original, open(WORK + there, "wb") as copy:
                    while data := original.read(CHUNK):
                        copy.write(data)


def start(command: "list[str]") -> int:
    """Start the program without the channel and return its pid."""
    child = os.fork()
    if child:
        return child
    try:
        os.closerange(3, 1024)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execv(command[0], command)
    finally:
        os._exit(127)


def send_back(channel: Channel) -> bool:
    """Send every regular file and folder. Return False if they are nested too deeply."""
    left = [("", 0)]
    while left:
        here, depth = left.pop()
        if depth > DEPTH:
            return False
        os.chmod(WORK + here, 0o700)
        for entry in os.scandir(WORK + here):
            there = f"{here}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                channel.send(b"d", os.fsencode(there[1:]))
                left.append((there, depth + 1))
            elif entry.is_file(follow_symlinks=False):
                os.chmod(WORK + there, 0o600)
                channel.send(b"f", os.fsencode(there[1:]))
                with open(WORK + there, "rb", buffering=0) as file:
                    while data := file.read(CHUNK):
                        channel.send(b"b", data)
    return True


def main(fd: int, most_bytes: int, most_files: int, keeps: bool, command: "list[str]") -> int:
    """Run the program and return its exit code."""
    if os.getpid() != OWN_PID:
        return NOT_ALONE
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    channel = Channel(fd)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    fetch()
    child = start(command)
    nowhere = os.open("/dev/null", os.O_RDWR)
    for printed in (0, 1, 2):
        os.dup2(nowhere, printed)  # so that the output pipe closes when the program ends
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if is_over(most_bytes, most_files):
            channel.send(b"D")
            return 1
        if ended:
            break
        channel.send(b"U")
        signal.sigtimedwait({signal.SIGCHLD}, LOOK_SECONDS)
    with suppress(ProcessLookupError):  # processes that the program left; there are no others in this namespace
        os.kill(-1, signal.SIGKILL)
    if keeps and not send_back(channel):
        channel.send(b"D")
        return 1
    channel.send(b"Z")
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    given, size, count = map(int, sys.argv[1:4])
    os._exit(main(given, size, count, sys.argv[4] == "keep", sys.argv[5:]))
