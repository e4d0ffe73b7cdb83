"""`runyard dev`: server and worker in one process on this machine, with readable logs, started again on changes."""

import os
from typing import TYPE_CHECKING, Annotated

from runyard.cli.parsing.commands import Option
from runyard.cli.parsing.options import App, Host, JsonLogs, Port, log_settings, settings_with
from runyard.cli.terminal.output import echo, secho, style
from runyard.cli.terminal.text import plain

if TYPE_CHECKING:
    from runyard.agents.declared.loading import App as LoadedApp
    from runyard.domain.runs.run import Run
    from runyard.settings import Settings

WIDTH = 80
DEFAULT_URL = "http://127.0.0.1:8000"
NAME = 12  # columns before the text of a line of the banner
JSON = "-H 'Content-Type: application/json'"
DEMO = "cv-screener"
FIRST = """cut -d '"' -f 4"""


def dev(
    app: App = None,
    host: Host = None,
    port: Port = None,
    reload: Annotated[
        bool, Option("--reload/--no-reload", help="Whether to start again when a file of the app changes.")
    ] = True,
    json: JsonLogs = False,
    quiet: Annotated[bool, Option("--quiet", help="Print the address only; log warnings and errors only.")] = False,
) -> None:
    """Serve an app on this machine, worker included, and start again when a file of the app changes.

    Files of the app are those that it imports from its folder, the folder `prompts` in it, `runyard.toml` and `.env`.

    By default it uses SQLite and a readable log without access log. On a loopback address clients need no API key.
    Exceptions of agents and tools are printed on stderr. After a change, runs that have not ended continue with the new
    code. An app that cannot be loaded is reported, and the previous version still runs.
    """
    environment = dict(os.environ)
    given = settings_with(app=app, host=host, port=port, **log_settings(json, quiet))
    settings = given.with_defaults(log_format="console", access_log=False)

    from runyard.app import factories as opening
    from runyard.app import server as serving
    from runyard.app.listening import listen
    from runyard.cli.serving.reload import Reload, inherited_socket

    loaded = opening.load_app(settings)
    inherited = inherited_socket()
    listener = inherited or listen(settings.host, settings.port)
    watching = Reload(settings.app, listener, _say, environment) if reload and settings.app is not None else None

    def ready(url: str, needs_key: bool) -> None:
        if watching is not None:
            watching.start()
        if inherited is not None:
            _say(f"Started again, with {', '.join(loaded.agents)}.")
        elif quiet:
            echo(f"Runyard is ready at {url}")
        else:
            echo(banner(settings, loaded, url, needs_key))

    keys: serving.Keys = "needed_off_loopback"
    serving.run(
        serving.serve(settings, loaded, keys=keys, ready=ready, on_traceback=print_traceback, listener=listener),
        None if watching is None else watching.restart_if_wanted,
    )


def _say(text: str) -> None:
    secho(plain(text), err=True, fg="cyan")


def print_traceback(run: "Run", what: str, text: str) -> None:
    """Print an exception of an agent or a tool, with the id of the run."""
    echo(f"{what}, run {run.id}:\n{plain(text)}", err=True)


def banner(settings: "Settings", app: "LoadedApp", url: str, needs_key: bool = False) -> str:
    """Return the text that is shown at the start: the page first, then how to talk to the agents. It fits into 80
    columns."""
    from runyard import __version__
    from runyard.settings import address

    url = address(settings.host, int(url.rpartition(":")[2]))
    default = settings.default_agent or app.default
    agents = ", ".join(f"{name} (default)" if name == default else name for name in app.agents)
    where = "" if url == DEFAULT_URL else f"RUNYARD_URL={url} "  # another terminal may not have the port
    lines = [
        ("page", f"open {style(url, fg='green', bold=True)} in a browser"),
        ("chat", f"{where}runyard chat"),
        ("agents", _wrapped(agents)),
        ("database", _folded(settings.database_label)),
        *([("keys", KEYS)] if needs_key else []),
        ("API", _commands(url, "Who knows Python and Kubernetes?" if default == DEMO else "Hello!", needs_key)),
        ("stop", "Ctrl-C; runs that have not ended continue at the next start"),
    ]
    shown = "\n".join(f"  {name:{NAME - 2}}{text}" for name, text in lines)
    return (
        f"\n  {style(f'Runyard {__version__}', bold=True)} is ready at {style(url, fg='green', bold=True)}\n\n{shown}\n"
    )


KEYS = f"required: create one with `runyard keys create`,\n{'':{NAME}}and set RUNYARD_API_KEY to it"


def _commands(url: str, question: str, needs_key: bool) -> str:
    """Return three commands to paste, one request each."""
    more = f" \\\n{'':{NAME + 2}}"
    key = f'-H "Authorization: Bearer $RUNYARD_API_KEY"{more}' if needs_key else ""
    commands = (
        f"thread=$(curl -s {url}/api/threads{more}{key}{JSON} -d '{{}}' | {FIRST})",
        f"run=$(curl -s {url}/api/threads/$thread/messages{more}{key}{JSON}{more}"
        f'-d \'{{"content": "{question}"}}\'{more}| {FIRST})',
        f"curl -N {url}/api/runs/$run/events" + (f"{more}{key}".removesuffix(more)),
    )
    return f"\n{'':{NAME}}".join(commands)


def _folded(text: str) -> str:
    """Return a text without spaces, such as a path, in lines."""
    width = WIDTH - NAME
    return f"\n{'':{NAME}}".join(text[at : at + width] for at in range(0, len(text), width))


def _wrapped(text: str) -> str:
    from textwrap import wrap

    return f"\n{'':{NAME}}".join(wrap(text, WIDTH - NAME, break_long_words=False, break_on_hyphens=False))
