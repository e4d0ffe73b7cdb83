"""The commands inside `runyard chat`: lines that start with a slash."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from runyard.cli.terminal.output import echo, secho
from runyard.cli.terminal.text import plain
from runyard.errors import Invalid

QUIT = ("/quit", "/exit", "/q")


class Talk(Protocol):
    """The parts of a conversation that commands read and change."""

    agent: str | None
    thread: str | None

    def agent_names(self) -> list[str]: ...
    def change_agent(self, agent: str) -> None: ...
    def attach(self, path: Path) -> None: ...
    def begin_another(self) -> None: ...
    def show_history(self, limit: int = 100) -> None: ...


class SlashCommands:
    """`run` executes a command. A command that makes a message returns its text."""

    def __init__(self, conversation: Talk) -> None:
        self._conversation = conversation
        self._commands: dict[str, tuple[str, str, Callable[[str], str | None]]] = {
            "/help": ("", "show these commands", self._help),
            "/agents": ("", "list the agents", self._agents),
            "/agent": ("NAME", "talk to another agent from now on", self._agent),
            "/file": ("PATH", "send a file with the next message", self._file),
            "/edit": ("", "write the message in $EDITOR", self._edit),
            "/history": ("", "show this conversation", self._history),
            "/thread": ("", "show the id of this conversation", self._thread),
            "/new": ("", "begin another conversation", self._new),
            "/quit": ("", "end the program; so does Ctrl-D", self._help),
        }

    def run(self, line: str) -> str | None:
        """Execute a command. Raises Invalid if there is none of that name."""
        name, _, rest = line.strip().partition(" ")
        if name not in self._commands:
            raise Invalid(f"There is no command {plain(name)}; /help lists them. To send it as text, type two slashes.")
        return self._commands[name][2](rest.strip())

    def _help(self, rest: str) -> None:
        for name, (argument, meaning, _) in self._commands.items():
            echo(f"  {f'{name} {argument}':14}  {meaning}", err=True)
        echo("  A line that ends with \\ is continued on the next one. Ctrl-C stops an answer.", err=True)
        echo("  Type two slashes to send text that starts with one.", err=True)

    def _agents(self, rest: str) -> None:
        now = self._conversation.agent
        for name in self._conversation.agent_names():
            echo(f"  {plain(name)}{' (now)' if name == now else ''}", err=True)

    def _agent(self, rest: str) -> None:
        if not rest:
            raise Invalid("Name an agent: /agent NAME. /agents lists them.")
        self._conversation.change_agent(rest)
        _note(f"Talking to {plain(rest)}.")

    def _file(self, rest: str) -> None:
        try:
            words = shlex.split(rest)
        except ValueError:
            words = [rest]
        if not words:
            raise Invalid("Name a file: /file PATH.")
        for word in words:
            path = Path(word).expanduser()
            if not path.is_file():
                raise Invalid(f"There is no file {plain(word)}.")
            self._conversation.attach(path)
            _note(f"{plain(path.name)} goes with the next message.")

    def _edit(self, rest: str) -> str | None:
        """Return the text that the person writes in an editor."""
        import subprocess
        from tempfile import TemporaryDirectory

        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
        with TemporaryDirectory(prefix="runyard-") as folder:
            draft = Path(folder) / "message.md"
            draft.write_text(rest)
            try:
                code = subprocess.run([*editor, str(draft)], check=False).returncode
            except OSError:
                raise Invalid(f"Cannot start {plain(editor[0])}. Set EDITOR to an editor.") from None
            text = draft.read_text(errors="replace").strip() if code == 0 else ""
        if not text:
            _note("Nothing is sent.")
        return text or None

    def _history(self, rest: str) -> None:
        self._conversation.show_history()

    def _thread(self, rest: str) -> None:
        echo(self._conversation.thread or "The conversation begins with the first message.", err=True)

    def _new(self, rest: str) -> None:
        self._conversation.begin_another()
        _note("The next message begins another conversation.")


def _note(text: str) -> None:
    secho(text, err=True, dim=True)
