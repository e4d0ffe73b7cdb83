"""Schema migrations. Alembic is imported only if a database is behind, because that is rare and the import is slow.

`HEAD` is the newest revision. A test compares it with Alembic's, and another proves that all migrations together equal
`sql/<dialect>/schema.sql`.
"""

import asyncio
from pathlib import Path

from runyard.errors import StartupError

HEAD = "0027"
FOLDER = Path(__file__).parent
VERSION_QUERY = (FOLDER / "version.sql").read_text()


async def bring_up_to_date(url: str, version: str | None) -> None:
    """Apply missing migrations. Raise StartupError for a database that is newer than this program."""
    if version == HEAD:
        return
    if version is not None and version > HEAD:
        raise StartupError(
            f"The database has schema {version}, which is newer than this Runyard supports ({HEAD}). Upgrade Runyard."
        )
    from runyard.stores.migrations.upgrade import upgrade

    await asyncio.to_thread(upgrade, url)
