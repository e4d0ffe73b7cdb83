"""Checks and imports that a process makes before it opens the database."""

import asyncio
import importlib
import time

from runyard.agents.declared.loading import App
from runyard.agents.tools.workspace import check_writable
from runyard.app.limits import agent_limits
from runyard.errors import StartupError
from runyard.settings import Settings
from runyard.telemetry.logger import get_logger

log = get_logger()


async def check_and_load(settings: Settings, app: App, *, has_worker: bool) -> None:
    """Raise StartupError if the settings do not fit the app. Load the library of models if a worker needs it."""
    default = settings.default_agent
    if default is not None and default not in app.agents:
        raise StartupError(
            f"RUNYARD_DEFAULT_AGENT names {default!r}, which the app does not declare; set it to one of its agents."
        )
    check_writable(settings.workspaces)
    _check_claude(settings, app, has_worker)
    if has_worker:
        await _load_models(settings, app)
        await _import_clients(app)


def _check_claude(settings: Settings, app: App, has_worker: bool) -> None:
    declared = [agent.claude for agent in app.agents.values() if agent.claude is not None]
    if not declared:
        return
    from runyard.agents.declared.claude import check_installed

    if has_worker:
        check_installed()
    if any(each.sessions for each in declared) and (settings.encryption_keys or settings.redactor.is_on):
        raise StartupError(
            "Claude Agent SDK stores sessions in files that are neither sealed nor redacted. Declare the agent with"
            " sessions=False, or unset RUNYARD_ENCRYPTION_KEYS and RUNYARD_REDACT."
        )


async def _load_models(settings: Settings, app: App) -> None:
    """Load the library of models first: it takes seconds, in which the process could not serve. Agents declared in the
    app or created over the API may need it."""
    declared = [agent.model_settings for agent in app.agents.values() if agent.model_settings is not None]
    of_clients = settings.agent_models is not None and agent_limits(settings, app).models
    if not of_clients and all(each.is_scripted for each in declared):
        return
    from runyard.models.loading import check_installed, load_beside_the_loop

    check_installed()
    log.info("models.load_started", library="litellm")
    began = time.monotonic()
    try:
        await load_beside_the_loop()
    except Exception as error:  # an import may raise anything; runs that need a model fail with the same error
        log.error("models.load_failed", error=type(error).__name__)
    else:
        log.info("models.loaded", seconds=round(time.monotonic() - began, 1))


async def _import_clients(app: App) -> None:
    """Import the libraries that reach tool servers and Claude, beside the event loop: on first use, the import would
    stop the loop for up to a second."""
    agents = app.agents.values()
    has_claude = any(agent.claude is not None for agent in agents)
    names = ["mcp.client.stdio", "mcp.client.streamable_http"] if any(agent.sources for agent in agents) else []
    for name in [*names, *(["claude_agent_sdk"] if has_claude else [])]:
        try:
            await asyncio.to_thread(importlib.import_module, name)
        except Exception as error:  # an import may raise anything; runs that need it fail with the same error
            log.error("models.load_failed", error=type(error).__name__)
