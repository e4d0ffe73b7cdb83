"""The limits that the settings set: for agents made over the API, requests, files and runs."""

from runyard.agents.declared.loading import App
from runyard.agents.declared.model_settings import SCRIPTED
from runyard.engine.files import FileLimits
from runyard.engine.limits import AgentLimits, InputLimits, OutputLimits, has_address
from runyard.engine.running.run_services import RunLimits
from runyard.settings import Settings


def agent_limits(settings: Settings, app: App) -> AgentLimits:
    """Return what agents made over the API may use: the models in the settings, or those of declared agents."""
    if settings.agent_models is not None:
        models = {model.strip() for model in settings.agent_models.split(",")}
    else:
        declared = [agent.model_settings or agent.claude for agent in app.agents.values()]
        models = {each.model for each in declared if each is not None}
    allowed = frozenset(model for model in models - {"", SCRIPTED} if not has_address(model))
    return AgentLimits(allowed, settings.agent_max_usd)


def input_limits(settings: Settings) -> InputLimits:
    return InputLimits(settings.max_message_chars, settings.max_queued_per_lane, settings.max_queued_per_owner)


def file_limits(settings: Settings) -> FileLimits:
    return FileLimits(
        settings.max_file_bytes, settings.file_types, settings.unused_file_seconds, settings.stale_upload_seconds
    )


def run_limits(settings: Settings) -> RunLimits:
    output = OutputLimits(
        settings.max_event_bytes,
        settings.max_tool_output_bytes,
        settings.max_history_chars,
        settings.tell_tool_errors,
        settings.max_answer_bytes,
    )
    return RunLimits(
        settings.stop_seconds, settings.approval_seconds, output, settings.max_children, settings.max_child_depth
    )
