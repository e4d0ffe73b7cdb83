"""Serves the agents of one module as a separate service: an ASGI app for uvicorn, with its own database.

No API key is needed, so keep it on a loopback address; with `keys=True` callers need one (docs/access.md)."""

import os
import sys
from typing import Any

from runyard.agents.declared.loading import app_of
from runyard.app.asgi import create_app
from runyard.settings import Settings
from runyard.telemetry import logs


def service(module: str, database: str) -> Any:
    """`RUNYARD_DATABASE_URL` wins over the database named here."""
    url = os.environ.get("RUNYARD_DATABASE_URL") or f"sqlite:///.runyard/{database}.db"
    settings = Settings(database_url=url)
    logs.configure(settings.log_format, settings.log_level)
    return create_app(settings, app_of(sys.modules[module]), keys=False)
