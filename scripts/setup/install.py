"""Install locked requirements into the running environment: with uv, and with pip where uv does not work.

    python -m scripts.setup.install requirements/runtime.txt
    python -m scripts.setup.install --into .venv-clients requirements/clients.txt    another one, made if it is missing
    python -m scripts.setup.install --project    the project itself, editable, built without fetching anything

Only the standard library is used, because nothing else is installed yet. uv comes from requirements/build.txt, by pip.
uv does not read pip's configuration, so its index addresses are passed on: a machine that installs from a mirror
does so with both. Both trust the authorities of the system.
"""

from __future__ import annotations

import ast
import os
import re
import ssl
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "requirements" / "build.txt"
UV = Path(sysconfig.get_path("scripts")) / "uv"
PIP = (sys.executable, "-m", "pip")
PIP_INSTALL = (*PIP, "install", "--disable-pip-version-check", "--no-input")
BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
PINNED = re.compile(r"^[a-z0-9]", re.MULTILINE | re.IGNORECASE)


def main(words: Sequence[str]) -> int:
    try:
        if words[:1] == ["--into"]:
            install(Path(words[2]), _environment(Path(words[1])))
            return 0
        for word in words:
            if word == "--project":
                _install_project()
            else:
                install(Path(word))
    except subprocess.CalledProcessError:
        print("setup: the packages could not be installed. Is a package index reachable? See above.", file=sys.stderr)
        return 1
    return 0


def _environment(folder: Path) -> str:
    """Return the Python of an environment. It is made if it is missing."""
    python = folder / "bin" / "python"
    if not python.exists():
        _run((sys.executable, "-m", "venv", str(folder)), os.environ)
    return str(python)


def install(lock: Path, python: str = sys.executable) -> None:
    """Install every package of a lock file for `python`. Raises CalledProcessError if both uv and pip fail."""
    count = len(PINNED.findall(lock.read_text(encoding="utf-8")))
    print(f"==> installing {count} packages of {_short(lock)}", flush=True)
    began = time.monotonic()
    wanted = ("--require-hashes", "-r", str(lock))
    if not (_has_uv() and _run_uv(wanted, python)):
        _run((python, *PIP_INSTALL[1:], *wanted), _pip_environment())
    print(f"==> installed {_short(lock)} in {time.monotonic() - began:.0f} s", flush=True)


def _install_project() -> None:
    print("==> installing runyard itself", flush=True)
    options = ("--no-deps", "--no-build-isolation", "--no-index", "-e", str(ROOT))
    _run((*PIP_INSTALL, "-q", *options), os.environ)


def _has_uv() -> bool:
    """Install uv and what builds the project, if they are missing or not those of the lock file."""
    stamp = UV.parent.parent / ".build"
    text = BUILD.read_text(encoding="utf-8")
    if not (UV.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == text):
        print("==> installing uv, which installs the rest", flush=True)
        command = (*PIP_INSTALL, "-q", "--require-hashes", "-r", str(BUILD))
        if subprocess.run(command, env=_pip_environment(), stdin=subprocess.DEVNULL, check=False).returncode != 0:
            print("==> note: uv could not be installed; pip does the work, which takes longer", flush=True)
            return False
        stamp.write_text(text, encoding="utf-8")
    return True


def _run_uv(wanted: Sequence[str], python: str) -> bool:
    command = [str(UV), "pip", "install", "--python", python, *index_options(_pip_configuration()), *wanted]
    if not sys.stderr.isatty():
        command.append("--quiet")  # no progress bar can be shown, and a list of all packages says little
    try:
        _run(command, uv_environment(os.environ))
    except (OSError, subprocess.CalledProcessError):
        print("==> note: uv failed (above); trying pip, which takes longer", flush=True)
        return False
    return True


def index_options(configuration: Mapping[str, str]) -> list[str]:
    """The options that make uv look where pip is configured to look."""
    options = [
        part
        for name, option in (("index-url", "--default-index"), ("extra-index-url", "--index"), ("find-links", "-f"))
        for address in configuration.get(name, "").split()
        for part in (option, address)
    ]
    if "extra-index-url" in configuration:
        options += ["--index-strategy", "unsafe-best-match"]  # as pip does; every file is checked by its hash
    return options


def uv_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """uv has its own list of certificate authorities; the list of the system is used if there is one."""
    bundle = _system_bundle()
    return {**({"SSL_CERT_FILE": bundle} if bundle else {}), **environment}


def _pip_environment() -> dict[str, str]:
    bundle = _system_bundle()
    is_set = bundle is None or "cert" in _pip_configuration()
    return {**os.environ} if is_set else {**os.environ, "PIP_CERT": str(bundle)}


def _system_bundle() -> str | None:
    candidates = (ssl.get_default_verify_paths().cafile, *BUNDLES)
    return next((path for path in candidates if path and Path(path).is_file()), None)


def _pip_configuration() -> dict[str, str]:
    """pip's options, from its files and variables: the last one named wins, as in pip."""
    told = subprocess.run((*PIP, "config", "list"), capture_output=True, text=True, check=False).stdout
    return read_pip_configuration(told)


def read_pip_configuration(text: str) -> dict[str, str]:
    """Options from what `pip config list` prints: lines such as `global.index-url='https://...'`."""
    found: dict[str, str] = {}
    lines = [line for line in text.splitlines() if "=" in line]
    for line in sorted(lines, key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        section, _, option = name.rpartition(".")
        if section in ("global", "install", ":env:"):
            found[option] = str(ast.literal_eval(value))
    return found


def _run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    subprocess.run(command, env=dict(environment), stdin=subprocess.DEVNULL, check=True)


def _short(path: Path) -> str:
    return os.path.relpath(path, ROOT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
