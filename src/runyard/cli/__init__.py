"""The `runyard` command. Its folders:

    parsing/    commands as functions, their options, help
    terminal/   what is printed and typed
    clients/    the server or the database that a command uses
    verbs/      commands on what is stored: runs, feedback, approvals, waits, events, threads, shares, channels, agents,
                memory, keys
    talking/    `chat`
    serving/    `dev`, `serve`, `worker`, `mcp`
    upkeep/     `migrate`, `backup`, `restore`, `doctor`, `check`, encryption
    completion/ what shells offer after a tab
    new_app/    `init`

Every command is quick to start: at their top the files import little of the standard library and the errors, and a
command imports the rest when it runs (ADR 30). A failure prints one sentence on stderr, with exit code 2 if Runyard
cannot start or the command line is wrong, and 1 otherwise. RUNYARD_DEBUG=1 shows tracebacks.
"""

import os
import sys

from runyard.cli import new_app
from runyard.cli.completion.verbs import complete, completion, install_completion
from runyard.cli.parsing.commands import Exit, Group
from runyard.cli.serving import dev, mcp, serve, worker
from runyard.cli.talking import chat
from runyard.cli.terminal.output import echo, secho
from runyard.cli.upkeep import backup, check, doctor, encryption, migrate
from runyard.cli.verbs import (
    agents,
    approvals,
    channels,
    events,
    feedback,
    follow,
    keys,
    memory,
    runs,
    shares,
    status,
    threads,
    usage,
    waits,
)
from runyard.errors import RunyardError, StartupError

INTERRUPTED = 130

program = Group("A self-hosted server for agent runs: one run, one log, every client.")
for verb in (
    new_app.init,
    dev.dev,
    chat.chat,
    mcp.mcp,
    serve.serve,
    worker.worker,
    migrate.migrate,
    backup.backup,
    backup.restore,
    status.status,
    doctor.doctor,
    check.check,
    follow.follow,
    usage.usage,
    completion,
):
    program.command()(verb)
program.entries["runs"] = runs.program
program.entries["feedback"] = feedback.program
program.entries["approvals"] = approvals.program
program.entries["waits"] = waits.program
program.entries["events"] = events.program
program.entries["threads"] = threads.program
program.entries["shares"] = shares.program
program.entries["channels"] = channels.program
program.entries["agents"] = agents.program
program.entries["memory"] = memory.program
keys.program.command("make-encryption")(encryption.make_encryption)
keys.program.command("rotate-encryption")(encryption.rotate_encryption)
program.entries["keys"] = keys.program


def _version() -> None:
    """Show the version and exit."""
    from runyard import __version__

    echo(f"runyard {__version__}")


OPTIONS = {"--version": _version, "--install-completion": install_completion}


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(words: list[str]) -> int:
    """Run the command that these words name and return its exit code."""
    try:
        if words[:1] == ["__complete"]:
            complete(program, words[1:], list(OPTIONS))
        else:
            program.run("runyard", words, OPTIONS)
        sys.stdout.flush()
    except Exit as end:
        return end.code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the program that read the output has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("RUNYARD_DEBUG", "") not in {"", "0"}:
            raise
        if isinstance(error, RunyardError):
            return _failed(error.message, 2 if isinstance(error, StartupError) else 1)
        message = " ".join(str(error).split())
        return _failed(
            f"{type(error).__name__}: {message}\nThis is a bug in Runyard; set RUNYARD_DEBUG=1 to see where.", 1
        )
    return 0


def _failed(message: str, code: int) -> int:
    from runyard.cli.terminal.wrapping import filled

    secho(filled(f"runyard: {message}", sys.stderr, ""), err=True, fg="red")
    return code
