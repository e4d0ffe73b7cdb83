"""Test both README commands on a fresh Debian with only Python, git, make and ca-certificates.

    python3 -m scripts.setup.fresh [--parts run,test] [--who root,user] [--command 'make check']

`make fresh` calls it. It builds a minimal Debian with debootstrap in a folder outside the repository, clones HEAD into
it, runs the commands as root (whose home has mode 0700) and as an ordinary user, and prints a table of times. It needs
Linux, root and debootstrap; the network is that of the host. The Debian is entered with pivot_root in separate
namespaces, because a chroot forbids the user namespaces that the sandbox is made of. When a part ends, so do its
processes. Host configuration that is needed to reach package indexes is copied if it exists: proxies, /etc/pip.conf,
/etc/npmrc and local certificate authorities. Files of users, which may hold secrets, are not.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).parents[2]
PACKAGES = ("python3", "python3-venv", "git", "make", "ca-certificates")
HOMES = {"root": "/root", "user": "/home/visitor"}
TARGETS = {"run": 45.0, "run again": 3.0}
PASSED_ON = ("http_proxy", "https_proxy", "no_proxy", "PIP_INDEX_URL", "UV_DEFAULT_INDEX", "NPM_CONFIG_REGISTRY", "CI")
COPIED = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/npmrc")
COPIED_FOLDERS = {"/usr/local/share/ca-certificates": "*.crt", "/etc/apt/apt.conf.d": "*proxy*"}
ENTER = """
set -e
new=$1; shift
mount --bind "$new" "$new"
mount -t proc proc "$new/proc"
mount --rbind /dev "$new/dev"
mkdir -p "$new/.host"
cd "$new"
pivot_root . .host
umount -l /.host
rmdir /.host
trap : INT  # the first process of a namespace waits for the others
"$@"
"""


class Row(NamedTuple):
    who: str
    part: str
    seconds: float
    processor: float
    result: str


class Machine:
    """One fresh Debian, and the person who uses it."""

    def __init__(self, folder: Path, who: str, suite: str) -> None:
        self.who = who
        self.folder = folder
        self.root = folder / who
        self._suite = suite
        self._port = free_port()

    def make(self) -> None:
        """Unpack the base system, which is built once, and clone HEAD as the person would."""
        base = self.folder / f"{self._suite}.tar"
        if not base.exists():
            build_base(base, self._suite)
        remove(self.root)
        self.root.mkdir(parents=True)
        subprocess.run(("tar", "-C", self.root, "-xpf", base), check=True)
        copy_configuration(self.root)
        subprocess.run(("git", "clone", "-q", "--bare", "--no-local", ROOT, self.root / "srv/runyard.git"), check=True)
        self._enter("root", ("update-ca-certificates",), self.folder / f"{self.who}-make.log").wait()
        if self.who == "user":
            self._enter("root", ("useradd", "--create-home", "--shell", "/bin/bash", "visitor")).wait()
            self._enter("root", ("chown", "-R", "visitor:", "/srv/runyard.git")).wait()  # git trusts only its owner
        head = subprocess.check_output(("git", "-C", ROOT, "rev-parse", "HEAD"), text=True).strip()
        clone = f"cd && git clone -q /srv/runyard.git runyard && cd runyard && git checkout -q {head}"
        if self._enter(self.who, ("bash", "-c", clone)).wait() != 0:
            sys.exit(f"fresh: HEAD could not be cloned in {self.root}.")

    def command(self, text: str, limit: float) -> Row:
        """Run a command in the clone; what it prints goes to a file."""
        log = self.folder / f"{self.who}-{text.split()[-1].replace('/', '-')}.log"
        began, used = time.monotonic(), processor_seconds()
        process = self._enter(self.who, ("bash", "-c", f"cd ~/runyard && {text}"), log)
        try:
            result = "passed" if process.wait(limit) == 0 else f"FAILED, see {log}"
        except subprocess.TimeoutExpired:
            end(process)
            result = f"FAILED: not done in {limit:.0f} s, see {log}"
        return Row(self.who, text, time.monotonic() - began, processor_seconds() - used, result)

    def serve(self, part: str, limit: float) -> Row:
        """`make run` until the server answers and serves the page; then stop it as Ctrl-C does."""
        log = self.folder / f"{self.who}-{part.replace(' ', '-')}.log"
        began, used = time.monotonic(), processor_seconds()
        process = self._enter(self.who, ("bash", "-c", "cd ~/runyard && exec make run"), log)
        try:
            is_ready = wait_until(lambda: process.poll() is not None or self._get("/health") is not None, limit)
            took = time.monotonic() - began
            page = self._get("/") or ""
            is_there = is_ready and process.poll() is None
        finally:
            end(process)
        if not is_there or "<html" not in page:
            result = f"FAILED: {'the server has no page' if is_there else 'no server'}, see {log}"
        else:
            result = f"passed, above the target of {TARGETS[part]:.0f} s" if took > TARGETS[part] else "passed"
        return Row(self.who, part, took, processor_seconds() - used, result)

    def _get(self, path: str) -> str | None:
        try:
            with urlopen(f"http://127.0.0.1:{self._port}{path}", timeout=5) as answer:
                return str(answer.read().decode())
        except (URLError, OSError):
            return None

    def _enter(self, who: str, command: Sequence[str], log: Path | None = None) -> subprocess.Popen[bytes]:
        home = HOMES[who]
        kept = {name: os.environ[name] for name in (*PASSED_ON, *map(str.upper, PASSED_ON)) if name in os.environ}
        variables = {**kept, "HOME": home, "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8"}
        variables["RUNYARD_PORT"] = str(self._port)
        person = ("setpriv", "--reuid=visitor", "--regid=visitor", "--init-groups") if who == "user" else ()
        alone = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private")
        settings = [f"{name}={value}" for name, value in variables.items()]
        words = [*alone, "bash", "-c", ENTER, "enter", str(self.root), *person, "env", "-i", *settings, *command]
        with open(log or os.devnull, "wb") as printed:
            return subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT, start_new_session=True
            )


def build_base(base: Path, suite: str) -> None:
    print(f"==> building a minimal Debian {suite}", flush=True)
    made = base.with_suffix(".building")
    remove(made)
    include = f"--include={','.join(PACKAGES)}"
    mirror = [os.environ["MIRROR"]] if "MIRROR" in os.environ else []
    log = base.with_suffix(".log")
    with log.open("wb") as printed:
        command = ("debootstrap", "--variant=minbase", include, suite, str(made), *mirror)
        if subprocess.run(command, stdout=printed, stderr=subprocess.STDOUT, check=False, timeout=1800).returncode != 0:
            sys.exit(f"fresh: debootstrap failed, see {log}.")
    subprocess.run(("tar", "-C", made, "-cf", base.with_suffix(".part"), "."), check=True)
    base.with_suffix(".part").rename(base)
    remove(made)


def copy_configuration(root: Path) -> None:
    for path in COPIED:
        if Path(path).is_file():
            shutil.copyfile(path, root / path.lstrip("/"))
    for folder, pattern in COPIED_FOLDERS.items():
        for found in Path(folder).glob(pattern):
            (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found, root / str(found).lstrip("/"))


def end(process: subprocess.Popen[bytes]) -> None:
    """Stop a part as Ctrl-C would; `unshare --kill-child` then ends what is left of it."""
    with_patience = ((signal.SIGINT, 20), (signal.SIGKILL, 20))
    for signum, patience in with_patience:
        if process.poll() is None:
            os.killpg(process.pid, signum)
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                continue


def remove(folder: Path) -> None:
    """Remove a tree; nothing is mounted in it, since every part has its own mounts."""
    if folder.exists():
        if any(str(folder) in line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()):
            sys.exit(f"fresh: something is mounted in {folder}; unmount it first.")
        shutil.rmtree(folder)


def wait_until(is_so: Callable[[], bool], limit: float) -> bool:
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        if is_so():
            return True
        time.sleep(0.1)
    return False


def processor_seconds() -> float:
    """The processor time of all parts so far: on a busy machine it says more than the clock."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def table(rows: Sequence[Row]) -> str:
    lines = ["| who | part | seconds | processor seconds | result |", "|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row.who} | {row.part} | {row.seconds:.1f} | {row.processor:.1f} | {row.result} |")
    return "\n".join(lines)


def prove(machine: Machine, options: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    if "run" in options.parts:
        rows += [machine.serve("run", options.limit), machine.serve("run again", options.limit)]
    if "test" in options.parts:
        rows.append(machine.command("make test", options.limit))
    if options.command:
        rows.append(machine.command(options.command, options.limit))
    return rows


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make fresh", description="Run the README commands on a fresh Debian.")
    parser.add_argument("--parts", default=["run", "test"], type=lambda text: text.replace(",", " ").split())
    parser.add_argument("--who", default=["root", "user"], type=lambda text: text.replace(",", " ").split())
    parser.add_argument("--command", help="another command, run in the clone after the parts")
    parser.add_argument("--suite", default="bookworm", help="the Debian release")
    parser.add_argument("--folder", default="/var/tmp/runyard-fresh", type=Path, help="where the machines are made")
    parser.add_argument("--limit", default=5400.0, type=float, help="seconds after which a part has failed")
    options = parser.parse_args(words)
    if unknown := {*options.parts} - {"run", "test"} | {*options.who} - {*HOMES}:
        parser.error(f"unknown: {' '.join(sorted(unknown))}; parts are run and test, people are root and user")
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        print("fresh: this needs root and debootstrap (Debian, Ubuntu: apt install debootstrap).", file=sys.stderr)
        return 1
    options.folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    for who in options.who:
        print(f"==> a fresh machine for {who} in {options.folder / who}", flush=True)
        machine = Machine(options.folder, who, options.suite)
        machine.make()
        for row in prove(machine, options):
            rows.append(row)
            print(f"==> {row.who}: {row.part}: {row.result} ({row.seconds:.1f} s)", flush=True)
    print(table(rows))
    return int(any(row.result.startswith("FAILED") for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
