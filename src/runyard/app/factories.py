"""Makes what the settings name: the app, the store, the bus, the checkpoint stores and the exporter of traces.

A driver is imported only if the settings choose it, so the others need not be installed.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from runyard.base.clock import Clock, SystemClock
from runyard.domain.api_key import LOCAL
from runyard.errors import StartupError
from runyard.settings import Settings
from runyard.store import Store

if TYPE_CHECKING:
    from runyard.agents.declared.loading import App
    from runyard.buses.bus import Bus
    from runyard.checkpoints.store import InteractionStore
    from runyard.checkpoints.task import Checkpoints, Stores
    from runyard.doorbells import Doorbell
    from runyard.encryption.cipher import KeyRing
    from runyard.engine.engine import Engine
    from runyard.stores.object_files import ObjectFiles
    from runyard.stores.sql_store import SqlStore
    from runyard.telemetry.spans import Exporter


def load_app(settings: Settings) -> "App":
    """Load the app that the settings name, or the demo."""
    from runyard.agents.declared.loading import app_of, load

    if settings.app is not None:
        return load(Path(settings.app))
    from runyard import demo

    return app_of(demo)


def open_store(settings: Settings, clock: Clock | None = None) -> Store:
    """Return the store that the settings name, sealed if they have an encryption key. Call `await store.open()`
    next."""
    ring = settings.encryption_key_ring
    store = open_sql_store(settings, clock, ring)
    if ring is None:
        return store
    from runyard.encryption.sealed_store import seal_store

    return seal_store(store, ring)


def open_sql_store(settings: Settings, clock: Clock | None = None, ring: "KeyRing | None" = None) -> "SqlStore":
    """Return the store that the settings name, without sealing."""
    url = settings.database_url
    if url.startswith("sqlite:///"):
        from runyard.stores.sqlite.store import SqliteStore

        path = Path(url.removeprefix("sqlite:///"))
        return SqliteStore(path, clock or SystemClock(), ring, synchronous=settings.sqlite_synchronous)
    try:
        from runyard.stores.postgres.store import PostgresStore
    except ImportError:
        raise StartupError("Postgres needs asyncpg: pip install 'runyard[postgres]'.") from None
    return PostgresStore(url, clock or SystemClock(), ring, answer_seconds=settings.database_answer_seconds)


def open_objects(settings: Settings) -> "ObjectFiles | None":
    """Return the object store that the settings name, or None if files are in the database."""
    if settings.file_store is None:
        return None
    from runyard.stores.object_files import ObjectFiles

    return ObjectFiles(settings.file_store, settings.encryption_key_ring)


def open_bus(settings: Settings) -> "Bus":
    """Return the bus that the settings name. Call `await bus.open(...)` next."""
    url = settings.bus_url or ("memory" if settings.sqlite_path else settings.database_url)
    scheme = url.partition("://")[0]
    try:
        match scheme:
            case "postgresql":
                from runyard.buses.postgres import PostgresBus

                return PostgresBus(url)
            case "redis" | "rediss":
                from runyard.buses.redis import RedisBus

                return RedisBus(url)
            case "nats":
                from runyard.buses.nats import NatsBus

                return NatsBus(url)
            case _:
                from runyard.buses.memory import MemoryBus

                return MemoryBus()
    except ImportError:
        extra = {"postgresql": "postgres", "rediss": "redis"}.get(scheme, scheme)
        raise StartupError(f"A {extra} bus needs its driver: pip install 'runyard[{extra}]'.") from None


def open_doorbell(settings: Settings) -> "Doorbell | None":
    """Return the doorbell of the engine that the settings name."""
    if settings.executor is None:
        return None
    try:
        from runyard.doorbells.celery import CeleryDoorbell
    except ImportError:
        raise StartupError("RUNYARD_EXECUTOR needs Celery: pip install 'runyard[celery]'.") from None
    return CeleryDoorbell(settings.executor_broker)


def open_checkpoints(settings: Settings, engine: "Engine", clock: Clock) -> "tuple[Stores, Checkpoints]":
    """Return the stores for interactions of chats, by owner, and the background task that writes to them."""
    from urllib.parse import quote

    from runyard.checkpoints.database_store import DatabaseInteractionStore
    from runyard.checkpoints.file_store import FileInteractionStore
    from runyard.checkpoints.task import Checkpoints

    folder, ring = settings.checkpoint_path, settings.encryption_key_ring

    def of_owner(owner: str) -> "InteractionStore":
        if settings.checkpoints == "database":
            return DatabaseInteractionStore(engine, owner)
        return FileInteractionStore(folder if owner == LOCAL else folder / "owners" / quote(owner, safe=""), ring)

    return of_owner, Checkpoints(
        engine,
        of_owner,
        clock,
        files=folder if settings.checkpoints == "files" else None,
        disk=fallback_folder(settings),
        temporary=temporary_folder(settings),
        ring=ring,
    )


def fallback_folder(settings: Settings) -> Path:
    """Return the folder for copies that take too long to save. It is apart from the folder that is slow."""
    if settings.checkpoint_fallback is None:
        import tempfile

        durable = Path("/var/tmp")  # survives a restart of the machine
        return (durable if durable.is_dir() else Path(tempfile.gettempdir())) / f"{_folder_name(settings)}-slow"
    if settings.checkpoint_fallback.resolve().is_relative_to(settings.checkpoint_path.resolve()):
        raise StartupError(
            f"RUNYARD_CHECKPOINT_FALLBACK lies in {settings.checkpoint_path}, the folder of checkpoints. Set it to a"
            " folder elsewhere, on a local disk."
        )
    return settings.checkpoint_fallback


def temporary_folder(settings: Settings) -> Path:
    """Return the folder for copies that could be saved in no other place."""
    import tempfile

    return Path(tempfile.gettempdir()) / _folder_name(settings)


def _folder_name(settings: Settings) -> str:
    """Return a name that is different for servers with different databases."""
    import hashlib

    return f"runyard-{hashlib.sha256(settings.database_url.encode()).hexdigest()[:16]}"


def open_exporter(settings: Settings) -> "Exporter":
    """Return the exporter of traces: Sentry, an OTLP collector, both, or one that keeps the last ones in memory."""
    from importlib.metadata import version

    from runyard.telemetry.spans import Recorder, Several

    exporters: list[Exporter] = []
    try:
        if settings.sentry_dsn is not None:
            from runyard.telemetry.sentry import Sentry

            exporters.append(Sentry(settings.sentry_dsn, f"runyard@{version('runyard')}"))
    except ImportError:
        raise StartupError("RUNYARD_SENTRY_DSN needs sentry-sdk: pip install 'runyard[sentry]'.") from None
    except ValueError:
        raise StartupError(
            "RUNYARD_SENTRY_DSN is not a valid DSN. Copy it from the project's settings in Sentry."
        ) from None
    try:
        if settings.otlp_endpoint is not None:
            from runyard.telemetry.otlp import Otlp

            exporters.append(Otlp(settings.otlp_endpoint, version("runyard")))
    except ImportError:
        raise StartupError("RUNYARD_OTLP_ENDPOINT needs OpenTelemetry: pip install 'runyard[otlp]'.") from None
    match exporters:
        case []:
            return Recorder()
        case [one]:
            return one
        case _:
            return Several(exporters)
