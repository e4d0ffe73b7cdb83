"""`runyard dev`: everything in one process on this machine, with logs for people."""

from typing import TYPE_CHECKING

import typer

from runyard.cli.options import App, Host, Port, settings_with
from runyard.cli.wording import plain

if TYPE_CHECKING:
    from runyard.agents.declared.loading import App as LoadedApp
    from runyard.domain.run import Run
    from runyard.settings import Settings

JSON = "-H 'Content-Type: application/json'"
DEMO = "cv-screener"
FIRST = """cut -d '"' -f 4"""


def dev(app: App = None, host: Host = None, port: Port = None) -> None:
    """Serve an app on this machine, worker included.

    SQLite unless the settings say otherwise, and a log for people, without a line for every request. On a loopback
    address nobody needs an API key. What an agent or a tool raises is printed on stderr.
    """
    settings = settings_with(app=app, host=host, port=port)
    calm = {"log_format": "console", "access_log": False}
    unsaid = {name: value for name, value in calm.items() if name not in settings.model_fields_set}
    settings = settings.model_copy(update=unsaid)

    from runyard.app import factories as opening
    from runyard.app import server as serving

    loaded = opening.load_app(settings)

    def ready(url: str, needs_key: bool) -> None:
        typer.echo(banner(settings, loaded, url, needs_key))

    serving.run(serving.serve(settings, loaded, keys="needed_off_loopback", ready=ready, on_traceback=print_traceback))


def print_traceback(run: "Run", what: str, text: str) -> None:
    """Print what an agent or a tool raised, with the id of the run."""
    typer.echo(f"{what}, run {run.id}:\n{plain(text)}", err=True)


def banner(settings: "Settings", app: "LoadedApp", url: str, needs_key: bool = False) -> str:
    """What somebody wants to know who has just started it, with three lines to paste."""
    from runyard import __version__
    from runyard.settings import address

    url = address(settings.host, int(url.rpartition(":")[2]))
    default = settings.default_agent or app.default
    agents = ", ".join(f"{name} (default)" if name == default else name for name in app.agents)
    question = "Who knows Python and Kubernetes?" if default == DEMO else "Hello!"
    key = '-H "Authorization: Bearer $RUNYARD_API_KEY" ' if needs_key else ""
    doors = "keys      needed: `runyard keys create` makes one, RUNYARD_API_KEY holds it\n  " if needs_key else ""
    return f"""
  {typer.style(f"Runyard {__version__}", bold=True)} is ready at {typer.style(url, fg="green", bold=True)}

  agents    {agents}
  database  {settings.database_label}
  {doors}try it    thread=$(curl -s {url}/api/threads {key}{JSON} -d '{{}}' | {FIRST})
            run=$(curl -s {url}/api/threads/$thread/messages {key}{JSON} -d '{{"content": "{question}"}}' | {FIRST})
            curl -N {key}{url}/api/runs/$run/events
  stop it   Ctrl-C; runs that have not ended go on at the next start
"""
