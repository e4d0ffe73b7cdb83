"""The schema over time. Alembic is imported only when a database is behind, because that is rare and the import is
slow.

`HEAD` names the newest revision; a test holds it to what Alembic finds, and another proves that the migrations from
zero equal `sql/<dialect>/schema.sql`.
"""

import asyncio
from pathlib import Path

from runyard.errors import StartupError

HEAD = "0014"
FOLDER = Path(__file__).parent
VERSION_QUERY = (FOLDER / "version.sql").read_text()


async def bring_up_to_date(url: str, version: str | None) -> None:
    """Apply what is missing. A database that is ahead of this program is left alone and refused."""
    if version == HEAD:
        return
    if version is not None and version > HEAD:
        raise StartupError(
            f"The database has schema {version}, which is newer than this Runyard knows ({HEAD}). Upgrade Runyard."
        )
    from runyard.stores.migrations.upgrade import upgrade

    await asyncio.to_thread(upgrade, url)
