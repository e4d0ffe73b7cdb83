"""The ASGI app: all faces over one process. `runyard.create_app` is this function; `server.py` serves the app."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from runyard import __version__
from runyard.agents.declared.agent import summary
from runyard.agents.declared.loading import App
from runyard.app.factories import load_app
from runyard.app.process import Process
from runyard.errors import RunyardError
from runyard.settings import Settings
from runyard.telemetry.logger import get_logger

if TYPE_CHECKING:
    from fastapi import FastAPI

log = get_logger()


def create_app(
    settings: Settings | None = None,
    app: App | None = None,
    *,
    worker: bool = True,
    process: Process | None = None,
    keys: bool = True,
) -> "FastAPI":
    """Make the ASGI app of a server. Its lifespan starts and stops the worker and everything else behind it.

    Args:
        settings: The settings. The default reads the environment (`RUNYARD_...`).
        app: The agents to serve. The default loads the app that the settings name.
        worker: Whether this process also runs agents.
        process: A process to serve instead of a new one. `app` and `worker` are then ignored.
        keys: Whether requests need an API key. Without keys every client acts as the owner `local`.

    Raises:
        StartupError: If the app or a setting is wrong.

    Example:
        >>> app = runyard.create_app(runyard.Settings(database_url="sqlite:///runs.db"))  # uvicorn serves it
        >>> app.title
        'Runyard'
    """
    from runyard.faces.a2a.routes import router as a2a
    from runyard.faces.ag_ui.routes import router as ag_ui
    from runyard.faces.ai_sdk.routes import router as ai_sdk
    from runyard.faces.channels.routes import router as channels
    from runyard.faces.chats.routes import router as chats
    from runyard.faces.contract.routes import router as contract
    from runyard.faces.langgraph.routes import router as langgraph
    from runyard.faces.mcp.routes import router as mcp
    from runyard.faces.native.routes import router as native
    from runyard.faces.openai.routes import router as openai
    from runyard.faces.plans.routes import router as plans
    from runyard.faces.threads.routes import router as threads
    from runyard.web.app import Limits, build
    from runyard.web.context import Context

    settings = settings or Settings()
    running = process or Process(settings, app or load_app(settings), worker=worker)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        await running.start()
        await warn_if_no_api_key(running, settings, keys)
        try:
            yield
        finally:
            await running.stop()

    return build(
        Context(running.engine, running.metrics, settings.heartbeat_seconds, _options(running, settings, keys)),
        (threads, channels, chats, contract, plans, openai, ai_sdk, ag_ui, mcp, a2a, langgraph, native),
        keys=keys,
        version=__version__,
        limits=Limits(
            settings.max_body_bytes,
            settings.max_file_bytes,
            settings.rate_per_key,
            settings.max_streams,
            settings.max_streams_per_key,
        ),
        access_log=settings.access_log and settings.log_level in ("debug", "info"),
        lifespan=lifespan,
    )


def _options(running: Process, settings: Settings, keys: bool) -> tuple[object, ...]:
    """Return the options of the faces that have some."""
    from runyard.faces.a2a.cards import CardAgent, CardOptions
    from runyard.faces.chats.routes import ChatOptions
    from runyard.faces.contract.routes import ContractOptions
    from runyard.faces.native.shares import ShareOptions

    return (
        ChatOptions(settings.chats_while_waiting),
        ShareOptions(not keys if settings.share_links is None else settings.share_links),
        ContractOptions(running.task_types, settings.contract_terminal_event, settings.contract_timeout_seconds),
        CardOptions(
            {name: CardAgent(name, summary(agent), agent.version) for name, agent in running.agents.items()},
            running.default_agent,
            settings.public_url,
            keys,
            [each.strip() for each in settings.file_types.split(",")],
        ),
    )


async def warn_if_no_api_key(process: Process, settings: Settings, keys: bool) -> None:
    """Log how to create an API key if the server requires keys and has none."""
    with suppress(RunyardError):
        if keys and not await process.engine.access.list_keys(None, None, 1):
            first = "stop this server, run" if settings.sqlite_path else "run"
            advice = f"No API key exists: {first} `runyard keys create --owner NAME --scope all`."
            log.warning("api_keys.missing", advice=advice)
