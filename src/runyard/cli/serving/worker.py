"""`runyard worker`: a process that executes runs and serves no HTTP. Postgres only: SQLite has one process."""

from runyard.cli.parsing.options import App, settings_for_production


def worker(app: App = None) -> None:
    """Execute runs without serving HTTP (Postgres only).

    Start any number of workers, on any number of machines.
    """
    settings = settings_for_production(app=app)

    from runyard.app import factories as opening
    from runyard.app import server as serving

    serving.run(serving.work(settings, opening.load_app(settings)))
