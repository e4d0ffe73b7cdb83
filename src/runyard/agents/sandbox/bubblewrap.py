"""The command line that starts a program in bubblewrap.

The program gets new namespaces of every kind, an almost empty file system, no network, no environment, no capabilities,
and limits that its children inherit.

Every namespace is named, because `--unshare-all` leaves nested user namespaces open and only an explicit
`--unshare-user` allows `--disable-userns`. The only host files are those that /usr/bin/python3 needs, read-only: no
/etc, no /usr/local and no /usr/src, where images often put an application. Writable folders are in memory, and the
kernel enforces their size in blocks. Parent folders are created explicitly, because bubblewrap creates them closed to
other users.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

PYTHON = "/usr/bin/python3"
WORK = "/work"
INPUT = "/input"
PROGRAM = "/program"
PREPARED = ("/usr/bin/setpriv", "/usr/bin/prlimit", "/usr/bin/nice", "/usr/bin/choom")

_MIB = 1024 * 1024
_SYSTEM = ("/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share/zoneinfo")
_OLD_ROOTS = ("bin", "lib", "lib32", "lib64")
_NAMESPACES = ("user", "ipc", "pid", "net", "uts", "cgroup")
_SCRATCH_BYTES = 16 * _MIB
_SPARE_BYTES = 64 * 1024  # room above the limit, so that the supervisor can see that the limit is exceeded


class Limits(Struct, frozen=True, kw_only=True):
    """The limits of one program. `memory_bytes` applies to each process and to all of them together."""

    seconds: float = 60
    cpu_seconds: int = 30
    memory_bytes: int = 512 * _MIB
    processes: int = 32
    file_bytes: int = 32 * _MIB
    folder_bytes: int = 64 * _MIB
    folder_files: int = 1000
    output_bytes: int = 64 * 1024
    open_files: int = 64


class Descriptors(Struct, frozen=True):
    """The file descriptors that bubblewrap and the supervisor inherit.

    `info`: bubblewrap writes the first pid; `rules`: the filter of system calls; `channel`: the supervisor's frames."""

    info: int
    rules: int
    channel: int


def command(bwrap: str, folder: Path, limits: Limits, uid: int | None, given: Descriptors, keeps: bool) -> list[str]:
    """Return the command that runs PROGRAM/main.py with a copy of `folder/input`.

    It runs as user `uid`, or as the server's user if None. If `keeps`, the supervisor sends the files back."""
    return [
        *(_as_user(uid) if uid is not None else ()),
        *(bwrap, "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox"),
        *(f"--unshare-{kind}" for kind in _NAMESPACES),
        "--disable-userns",
        *("--info-fd", str(given.info), "--seccomp", str(given.rules)),
        *_environment(),
        *_file_system(folder, limits),
        "--",
        *_limited(limits),
        *(PYTHON, "-I", f"{PROGRAM}/supervise.py", str(given.channel)),
        *(str(limits.folder_bytes), str(limits.folder_files), "keep" if keeps else "drop"),
        *(PYTHON, "-u", f"{PROGRAM}/main.py"),
    ]


def _as_user(uid: int) -> Sequence[str]:
    """Return the prefix that starts bubblewrap as `uid`. As root, the program would be the host's root, without
    limits."""
    return ("/usr/bin/setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--")


def _environment() -> Sequence[str]:
    variables = {
        "PATH": "/usr/bin:/bin",
        "HOME": WORK,
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": WORK,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return ["--clearenv", *(part for name, value in variables.items() for part in ("--setenv", name, value))]


def _file_system(folder: Path, limits: Limits) -> list[str]:
    made = ["--perms", "0755", "--dir", "/usr", "--perms", "0755", "--dir", "/usr/share"]
    for path in _SYSTEM:
        made += ["--ro-bind-try", path, path]
    for name in _OLD_ROOTS:
        old = Path("/", name)
        if old.is_symlink():
            made += ["--symlink", f"usr/{name}", str(old)]
        else:
            made += ["--ro-bind-try", str(old), str(old)]
    made += ["--proc", "/proc", "--dev", "/dev"]
    places = {"/dev/shm": _SCRATCH_BYTES, "/tmp": _SCRATCH_BYTES, WORK: limits.folder_bytes + _SPARE_BYTES}
    for path, size in places.items():
        made += ["--size", str(size), "--tmpfs", path]
    made += ["--ro-bind", str(folder / "program"), PROGRAM, "--ro-bind", str(folder / "input"), INPUT]
    return [*made, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORK]


def _limited(limits: Limits) -> list[str]:
    """Return the prefix that sets the limits, inside the sandbox where the user's processes on the host do not count.

    The program is also the first that the kernel kills when memory runs out."""
    return [
        "/usr/bin/prlimit",
        f"--cpu={limits.cpu_seconds}",
        f"--as={limits.memory_bytes}",
        f"--nproc={limits.processes + 1}",  # and the supervisor
        f"--fsize={limits.file_bytes}",
        f"--nofile={limits.open_files}",
        "--core=0",
        "--memlock=0",
        "--msgqueue=0",
        "--",
        *("/usr/bin/nice", "-n", "10", "/usr/bin/choom", "-n", "1000", "--"),
    ]
