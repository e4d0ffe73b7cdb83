"""`runyard completion`: print or install the script of a shell."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from runyard.cli.parsing.commands import Argument, Group
from runyard.cli.terminal.output import echo
from runyard.errors import Invalid, StartupError

SHELLS = "bash zsh fish"


def completion(
    shell: Annotated[str, Argument(help="The shell: bash, zsh or fish.", completes=SHELLS)],
) -> None:
    """Print the script that completes commands, options, ids and agents in a shell.

    `runyard --install-completion` installs it for the shell that you use. For one session: `eval "$(runyard completion
    bash)"`.
    """
    from runyard.cli.completion.scripts import SCRIPTS

    if shell not in SCRIPTS:
        raise Invalid(f"There is no completion for {shell}. The shells are {', '.join(SCRIPTS)}.")
    echo(SCRIPTS[shell], nl=False)


def install_completion() -> None:
    """Install completion for your shell and exit."""
    from runyard.cli.completion.scripts import SCRIPTS

    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in SCRIPTS:
        raise StartupError(f"SHELL names no shell with completion: {', '.join(SCRIPTS)}. See `runyard completion`.")
    home = Path.home()
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    is_fish = shell == "fish"
    script = (
        settings / "fish" / "completions" / "runyard.fish" if is_fish else settings / "runyard" / f"completion.{shell}"
    )
    try:
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(SCRIPTS[shell])
        if not is_fish:
            _add_line(home / f".{shell}rc", f'[ -f "{script}" ] && . "{script}"  # completion of runyard')
    except OSError as error:
        raise StartupError(f"Cannot write {script}: {error.strerror or type(error).__name__}.") from error
    echo(f"{script} is written. Open a new {shell} to use it.")


def _add_line(file: Path, line: str) -> None:
    """Add a line to a shell's start file, unless it is there."""
    before = file.read_text() if file.exists() else ""
    if line not in before.splitlines():
        end = "" if not before or before.endswith("\n") else "\n"
        with file.open("a") as rc:
            rc.write(f"{end}{line}\n")


def complete(program: Group, words: Sequence[str], options: Sequence[str]) -> None:
    """Print what may follow these words. A failure prints nothing, because a shell would insert it."""
    from runyard.cli.completion.candidates import candidates
    from runyard.cli.completion.known_ids import known_ids

    try:
        for word, meaning in candidates(program, words, options, known_ids):
            echo(f"{word}\t{meaning}" if meaning else word)
    except Exception:
        if os.environ.get("RUNYARD_DEBUG", "") not in {"", "0"}:
            raise
