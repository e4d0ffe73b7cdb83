"""Start the process again when a file of the app changes. For `runyard dev`.

A thread looks at the files of the app: those that it imported from its own folder, the folder `prompts` beside it,
`runyard.toml` and `.env`. After a change it reads the settings and loads the app in another process. If that fails, the
running one continues and says why. Otherwise it drains as after SIGTERM, and then replaces itself by a new program in
the same process, with the same socket and the environment that the first one got: clients that connect meanwhile wait a
moment, and runs that have not ended continue there with the new code.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

SOCKET = "_RUNYARD_DEV_SOCKET"  # environment variable: the socket that the previous program left open
LOOK_SECONDS = 0.5
DRAIN_SECONDS = 2.0  # for runs to end by themselves
PROMPTS = "prompts"  # a folder of an app: texts that its code reads
SETTINGS = ("runyard.toml", ".env")  # in the folder of the app, and where the command was started
LOAD = """
import sys
from pathlib import Path
from runyard.agents.declared.loading import load
from runyard.settings import Settings
Settings()
load(Path(sys.argv[1]))
"""


def inherited_socket() -> socket.socket | None:
    """Return the socket of the program before this one, if it replaced itself."""
    number, _, process = os.environ.pop(SOCKET, "").partition(":")
    if not number or process != str(os.getpid()):
        return None
    return socket.socket(fileno=int(number))


class Reload:
    """Watches the files of an app. Call `restart_if_wanted` as the last act of the process. `environment`: that of the
    process before the app was loaded. The app may have set variables from `.env`, which may have changed."""

    def __init__(
        self, app: Path, listener: socket.socket, say: Callable[[str], None], environment: Mapping[str, str]
    ) -> None:
        self._app = app
        self._environment = environment
        self._folder = (app if app.is_dir() else app.parent).resolve()
        self._say = say
        self._wanted = False
        self._socket = os.dup(listener.fileno())  # the server closes its own
        self._times: dict[Path, float] = {}
        self._missing: set[Path] = set()  # prompts that were there before the last look
        self._is_broken = False  # the version on disk cannot be loaded

    def start(self) -> None:
        self._times = self._file_times()
        threading.Thread(target=self._watch, name="reload", daemon=True).start()

    def restart_if_wanted(self) -> None:
        """Replace the program by a new one, if a file has changed."""
        if not self._wanted:
            os.close(self._socket)
            return
        sys.stdout.flush()
        sys.stderr.flush()
        os.set_inheritable(self._socket, True)
        environment = {**self._environment, SOCKET: f"{self._socket}:{os.getpid()}"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(LOOK_SECONDS):
            now = self._file_times()
            changed = sorted(path.name for path in self._times.keys() | now.keys() if self._differs(path, now))
            self._times = now
            if changed and self._loads(", ".join(changed)):
                break
            if changed:  # more files may matter now; one that changed again meanwhile keeps its earlier time
                later = self._file_times().items()
                self._times = {path: time for path, time in later if not self._is_prompt(path)} | now
        self._wanted = True
        os.kill(os.getpid(), signal.SIGTERM)
        pause.wait(DRAIN_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)  # runs that continue are left to the new code

    def _differs(self, path: Path, now: dict[Path, float]) -> bool:
        """Return whether a file was changed since the last look. Only prompts may also be new or deleted: the app
        imports modules while it runs."""
        if self._is_prompt(path):
            return self._times.get(path) != now.get(path)
        return path in now and self._times.get(path, now[path]) != now[path]

    def _is_prompt(self, path: Path) -> bool:
        return self._folder / PROMPTS in path.parents

    def _file_times(self) -> dict[Path, float]:
        """Return when each file of the app was changed. A file that is being replaced may be missing for a moment: a
        prompt is deleted if two looks in a row do not find it."""
        found: dict[Path, float] = {}
        for path in self._files():
            try:
                found[path] = path.stat().st_mtime
            except OSError:
                found[path] = self._times.get(path, 0.0)
        missing = {path for path in self._times if self._is_prompt(path)} - found.keys()
        found |= {path: self._times[path] for path in missing - self._missing}
        self._missing = missing
        return found

    def _files(self) -> list[Path]:
        """Return the files that the app imported, its prompts and the settings, whether they exist or not. While it
        cannot be loaded, any file beside it may be the reason."""
        names = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
        own = [
            Path(name) for name in names if name.startswith(f"{self._folder}{os.sep}") and "site-packages" not in name
        ]
        own += [path for path in (self._folder / PROMPTS).rglob("*") if _is_saved(path)]
        own += [folder / name for folder in {self._folder, Path.cwd()} for name in SETTINGS]
        return [*own, *self._folder.glob("*.py")] if self._is_broken else own

    def _loads(self, changed: str) -> bool:
        """Return whether the app can be loaded as it is now."""
        command = [sys.executable, "-c", LOAD, str(self._app)]
        loaded = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env=dict(self._environment),
        )
        self._is_broken = loaded.returncode != 0
        if not self._is_broken:
            self._say(f"{changed} changed: starting again.")
            return True
        reason = (loaded.stderr.strip().splitlines() or ["It cannot be loaded."])[-1].rpartition("StartupError: ")[2]
        self._say(f"{changed} changed, but the previous version still runs: {reason}")
        return False


def _is_saved(path: Path) -> bool:
    """Return whether this is a file, and not one that an editor keeps beside the file that it edits."""
    return path.is_file() and not path.name.startswith((".", "#")) and not path.name.endswith("~")
