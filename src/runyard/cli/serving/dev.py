"""`runyard dev`: server and worker in one process on this machine, with readable logs."""

from typing import TYPE_CHECKING

from runyard.cli.parsing.options import App, Host, Port, settings_with
from runyard.cli.terminal.output import echo, style
from runyard.cli.terminal.text import plain

if TYPE_CHECKING:
    from runyard.agents.declared.loading import App as LoadedApp
    from runyard.domain.run import Run
    from runyard.settings import Settings

JSON = "-H 'Content-Type: application/json'"
DEMO = "cv-screener"
FIRST = """cut -d '"' -f 4"""


def dev(app: App = None, host: Host = None, port: Port = None) -> None:
    """Serve an app on this machine, worker included.

    By default it uses SQLite and a readable log without access log. On a loopback address clients need no API key.
    Exceptions of agents and tools are printed on stderr.
    """
    settings = settings_with(app=app, host=host, port=port).with_defaults(log_format="console", access_log=False)

    from runyard.app import factories as opening
    from runyard.app import server as serving

    loaded = opening.load_app(settings)

    def ready(url: str, needs_key: bool) -> None:
        echo(banner(settings, loaded, url, needs_key))

    serving.run(serving.serve(settings, loaded, keys="needed_off_loopback", ready=ready, on_traceback=print_traceback))


def print_traceback(run: "Run", what: str, text: str) -> None:
    """Print an exception of an agent or a tool, with the id of the run."""
    echo(f"{what}, run {run.id}:\n{plain(text)}", err=True)


def banner(settings: "Settings", app: "LoadedApp", url: str, needs_key: bool = False) -> str:
    """Return the text that is shown at the start, with three commands to paste."""
    from runyard import __version__
    from runyard.settings import address

    url = address(settings.host, int(url.rpartition(":")[2]))
    default = settings.default_agent or app.default
    agents = ", ".join(f"{name} (default)" if name == default else name for name in app.agents)
    question = "Who knows Python and Kubernetes?" if default == DEMO else "Hello!"
    key = '-H "Authorization: Bearer $RUNYARD_API_KEY" ' if needs_key else ""
    doors = (
        "keys      required: create one with `runyard keys create`, set RUNYARD_API_KEY to it\n  " if needs_key else ""
    )
    return f"""
  {style(f"Runyard {__version__}", bold=True)} is ready at {style(url, fg="green", bold=True)}

  agents    {agents}
  database  {settings.database_label}
  {doors}try it    thread=$(curl -s {url}/api/threads {key}{JSON} -d '{{}}' | {FIRST})
            run=$(curl -s {url}/api/threads/$thread/messages {key}{JSON} -d '{{"content": "{question}"}}' | {FIRST})
            curl -N {key}{url}/api/runs/$run/events
  stop it   Ctrl-C; runs that have not ended continue at the next start
"""
