"""The facts about the machine: cores, versions, the date. Never a host name or a path."""

import os
import platform
import sqlite3
from datetime import UTC, datetime
from importlib.metadata import version


def facts(postgres: str | None = None) -> dict[str, str]:
    """`postgres`: the version of the server that was measured."""
    known = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "runyard": version("runyard"),
        "fastapi": version("fastapi"),
        "uvicorn": version("uvicorn"),
    }
    return known | ({"postgres": postgres} if postgres else {})
