"""`runyard worker`: a process that works on runs and serves no HTTP. Postgres only: SQLite has one process."""

from runyard.cli.options import App, settings_for_production


def worker(app: App = None) -> None:
    """Work on runs without serving HTTP (Postgres only).

    Start as many as you like, on as many machines.
    """
    settings = settings_for_production(app=app)

    from runyard.app import factories as opening
    from runyard.app import server as serving

    serving.run(serving.work(settings, opening.load_app(settings)))
