"""`runyard serve`: the server for production, with JSON logs and a worker."""

from typing import Annotated

from runyard.cli.parsing.commands import Option
from runyard.cli.parsing.options import App, Host, JsonLogs, Port, QuietLogs, log_settings, settings_for_production


def serve(
    app: App = None,
    host: Host = None,
    port: Port = None,
    worker: Annotated[
        bool,
        Option("--worker/--no-worker", help="Whether this process also executes runs (--no-worker: Postgres only)."),
    ] = True,
    processes: Annotated[
        int,
        Option(min=1, max=256, help="How many processes serve on one socket (more than one: Postgres only)."),
    ] = 1,
    json: JsonLogs = False,
    quiet: QuietLogs = False,
) -> None:
    """Serve an app: HTTP and (unless --no-worker) a worker.

    With several processes, SIGHUP replaces them one after another.
    """
    settings = settings_for_production(app=app, host=host, port=port, **log_settings(json, quiet))
    if not worker and settings.sqlite_path is not None:
        from runyard.errors import StartupError

        raise StartupError("SQLite has one process, which must include the worker; use Postgres for --no-worker.")
    if processes > 1 and settings.sqlite_path is not None:
        from runyard.errors import StartupError

        raise StartupError("SQLite has one process; set RUNYARD_DATABASE_URL to a Postgres database for --processes.")

    from runyard.app import factories as opening
    from runyard.app import server as serving
    from runyard.telemetry.logger import get_logger

    if processes > 1:
        from runyard.cli.parsing.commands import Exit

        code = serving.serve_in_processes(settings, processes, lambda: opening.load_app(settings), worker=worker)
        raise Exit(code)
    loaded = opening.load_app(settings)

    def ready(url: str, needs_key: bool) -> None:
        get_logger().info("server.started", url=url, worker=worker, agents=sorted(loaded.agents))

    serving.run(serving.serve(settings, loaded, worker=worker, ready=ready))
