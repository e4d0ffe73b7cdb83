"""Bring the programs that Python packages do not contain, without root: bubblewrap, curl, nginx, Chromium, Prometheus,
fish, zsh.

    python -m scripts.setup.programs bwrap                  for `make run`: a missing program is noted, never an error
    python -m scripts.setup.programs --tests bwrap nginx    for `make test`: in CI and for root, it is an error

A program that the machine has is used. Otherwise the packages of the distribution (Debian, Ubuntu) are downloaded and
unpacked into .venv/programs, and a starter is put beside the environment's Python: nothing is installed or started on
the machine. bubblewrap for root is the exception and is installed: the sandbox then runs it as another user, who may
not reach .venv. Everything that is still missing is listed at once, with one command.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

SCRIPTS = Path(sysconfig.get_path("scripts"))
FOLDER = SCRIPTS.parent / "programs"
UNPACKED = FOLDER / "root"
MORE_PLACES = ("/usr/sbin", "/usr/local/sbin")
APT_SECONDS = 300
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{root}/usr/share/fonts</dir>
  <cachedir>{root}/var/cache/fontconfig</cachedir>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
</fontconfig>
"""


class Source(NamedTuple):
    """Packages that contain a program, and where they have it."""

    packages: tuple[str, ...]
    path: str


class Program(NamedTuple):
    """`names`: what it may be called, the best first; `sources`: the best first; `asked`: the option that prints its
    version."""

    names: tuple[str, ...]
    sources: tuple[Source, ...]
    asked: str
    purpose: str


FONTS_PACKAGE = "fonts-dejavu-core"


PROGRAMS = {
    "bwrap": Program(
        ("bwrap",), (Source(("bubblewrap",), "usr/bin/bwrap"),), "--version", "the sandbox for agents' code"
    ),
    "curl": Program(("curl",), (Source(("curl",), "usr/bin/curl"),), "--version", "the commands of the documentation"),
    "nginx": Program(("nginx",), (Source(("nginx",), "usr/sbin/nginx"),), "-v", "deployments of several pods"),
    # without a window it needs a third of the CPU time; older distributions do not have it
    "chromium": Program(
        ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"),
        (
            Source(("chromium-headless-shell", FONTS_PACKAGE), "usr/lib/chromium/chromium-headless-shell"),
            Source(("chromium", FONTS_PACKAGE), "usr/lib/chromium/chromium"),
        ),
        "--version",
        "the web page",
    ),
    "prometheus": Program(
        ("prometheus",),
        (Source(("prometheus",), "usr/bin/prometheus"),),
        "--version",
        "the dashboard and the alerts",
    ),
    "fish": Program(("fish",), (Source(("fish",), "usr/bin/fish"),), "--version", "completion in fish"),
    # the static one starts without the modules in folders of the machine
    "zsh": Program(
        ("zsh",),
        (Source(("zsh-static", "zsh-common"), "bin/zsh-static"), Source(("zsh",), "bin/zsh")),
        "--version",
        "completion in zsh",
    ),
    "promtool": Program(("promtool",), (Source(("prometheus",), "usr/bin/promtool"),), "--version", "the alerts"),
}


def main(words: Sequence[str]) -> int:
    for_tests = "--tests" in words
    wanted = [word for word in words if word != "--tests"]
    absent = [name for name in wanted if find(name) is None]
    if absent and shutil.which("apt-get"):
        packages = " ".join(_packages(absent))
        print(f"==> fetching {packages} from the distribution's packages", flush=True)
        _bring(absent)
    absent = [name for name in absent if find(name) is None]
    for name in wanted:
        if for_tests and name not in absent:
            print(f"==> {name}: {find(name)}")
    if not absent:
        return 0
    print(message(absent), file=sys.stderr, flush=True)
    return int(for_tests and is_strict())


def is_strict() -> bool:
    """Whether a missing program is an error: in CI, and for root, who can install it."""
    return os.environ.get("CI", "").lower() in ("1", "true") or os.geteuid() == 0


def message(absent: Iterable[str]) -> str:
    """One message for everything that is missing, and the one command that brings it."""
    absent = list(absent)
    lines = [f"==> MISSING: {name}, needed for {PROGRAMS[name].purpose}" for name in absent]
    packages = " ".join(_packages(absent))
    if shutil.which("apt-get"):
        sudo = "" if os.geteuid() == 0 else "sudo "
        command = f"{sudo}apt-get update && {sudo}apt-get install -y --no-install-recommends {packages}"
        return "\n".join([*lines, f"    to install: {command}"])
    return "\n".join([*lines, f"    to install: these packages of your system: {packages}"])


def _packages(absent: Iterable[str]) -> Iterable[str]:
    """The common package of each program; one package may have several."""
    return dict.fromkeys(PROGRAMS[name].sources[-1].packages[0] for name in absent)


def find(name: str) -> Path | None:
    """The program, if there is one that can be started."""
    program = PROGRAMS[name]
    places = os.pathsep.join((str(SCRIPTS), os.environ.get("PATH", os.defpath), *MORE_PLACES))
    for each in program.names:
        path = shutil.which(each, path=places)
        if path and _starts([path, program.asked]):
            return Path(path)
    return None


def _starts(command: Sequence[str]) -> bool:
    try:
        told = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return told.returncode == 0


def _bring(absent: Iterable[str]) -> None:
    ours = _private_apt()
    lists_are_new = False
    for name in absent:
        sources = PROGRAMS[name].sources
        if os.geteuid() == 0 and name == "bwrap":
            install = ("apt-get", "install", "-qq", "-y", "--no-install-recommends", *sources[0].packages)
            _ = _apt(install) or (_apt(("apt-get", "update", "-qq")) and _apt(install))
            continue
        lists_are_new = lists_are_new or _apt((*ours, "update", "-qq"))
        for source in sources:
            shutil.rmtree(FOLDER / "archives", ignore_errors=True)
            (FOLDER / "archives" / "partial").mkdir(parents=True)
            download = (*ours, "install", "-qq", "-y", "--no-install-recommends", "--download-only", *source.packages)
            if _apt(download) and _unpack():
                _write_starter(name, source.path)
                if find(name) is not None:
                    break
    shutil.rmtree(FOLDER / "archives", ignore_errors=True)


def _private_apt() -> Sequence[str]:
    """apt-get with its own lists and downloads, so that it needs no root and does not change the machine."""
    lists = FOLDER / "state" / "lists" / "partial"
    lists.mkdir(parents=True, exist_ok=True)
    options = {
        "Dir::State": FOLDER / "state",
        "Dir::State::status": "/var/lib/dpkg/status",
        "Dir::Cache": FOLDER,
        "Dir::Cache::archives": FOLDER / "archives",
        "Dir::Log": FOLDER,
        "Debug::NoLocking": "1",
        "APT::Sandbox::User": "",
    }
    return ("apt-get", *(part for name, value in options.items() for part in ("-o", f"{name}={value}")))


def _apt(command: Sequence[str]) -> bool:
    """Run apt-get. It gets no terminal: one that it may not use would stop it until its time is over."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        told = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            timeout=APT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"==> note: apt-get gave up: {error}", file=sys.stderr)
        return False
    return told.returncode == 0


def _unpack() -> bool:
    UNPACKED.mkdir(parents=True, exist_ok=True)
    packages = sorted((FOLDER / "archives").glob("*.deb"))
    return all(subprocess.run(("dpkg", "-x", each, UNPACKED), check=False).returncode == 0 for each in packages)


def _write_starter(name: str, path: str) -> None:
    """A script that starts an unpacked program with the libraries that were unpacked with it."""
    fonts = FOLDER / "fonts.conf"
    fonts.write_text(FONTS.format(root=UNPACKED), encoding="utf-8")
    variables = {"LD_LIBRARY_PATH": ":".join(str(folder) for folder in _library_folders())}
    if name == "chromium":
        variables["FONTCONFIG_FILE"] = str(fonts)
    if name == "zsh":
        functions = UNPACKED / "usr" / "share" / "zsh" / "functions"
        variables["FPATH"] = ":".join(str(each) for each in (functions, *functions.rglob("*")) if each.is_dir())
    if name == "fish":  # it takes the folders beside its program if they are all there
        (UNPACKED / "usr" / "etc" / "fish").mkdir(parents=True, exist_ok=True)
    settings = " ".join(f"{key}={shlex.quote(value)}" for key, value in variables.items())
    starter = SCRIPTS / name
    starter.unlink(missing_ok=True)
    program = shlex.quote(str(UNPACKED / path))
    starter.write_text(f'#!/bin/sh\n{settings} exec {program} "$@"\n', encoding="utf-8")
    starter.chmod(0o755)


def _library_folders() -> list[Path]:
    found = []
    for pattern in ("usr/lib/*-linux-*", "lib/*-linux-*", "usr/lib/*-linux-*/*"):
        found += [folder for folder in sorted(UNPACKED.glob(pattern)) if any(folder.glob("lib*.so*"))]
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
