"""`runyard worker`: a process that executes runs and serves no HTTP. Postgres only: SQLite has one process."""

from runyard.cli.parsing.options import App, JsonLogs, QuietLogs, log_settings, settings_for_production


def worker(app: App = None, json: JsonLogs = False, quiet: QuietLogs = False) -> None:
    """Execute runs without serving HTTP (Postgres only).

    Start any number of workers, on any number of machines.
    """
    settings = settings_for_production(app=app, **log_settings(json, quiet))

    from runyard.app import factories as opening
    from runyard.app import server as serving

    serving.run(serving.work(settings, opening.load_app(settings)))
