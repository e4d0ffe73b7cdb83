"""Settings of logs and traces."""

from typing import Annotated, Literal

from runyard.settings.addresses import checked_endpoint
from runyard.settings.model import SettingsGroup, setting


class TelemetrySettings(SettingsGroup):
    log_format: Literal["console", "json"] = setting(
        default="json",
        description="The format of log lines: `json` for machines, `console` for people (`runyard dev`).",
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        default="info", description="The lowest level of log lines that are written."
    )
    access_log: bool = setting(default=True, description="Write a log line for every request (off in `runyard dev`).")
    sentry_dsn: str | None = setting(
        default=None, repr=False, description="A Sentry DSN that receives traces of runs, without content."
    )
    otlp_endpoint: Annotated[str | None, checked_endpoint] = setting(
        default=None,
        description="An OpenTelemetry collector that receives the same traces by OTLP over HTTP, such as"
        " `http://127.0.0.1:4318`.",
    )
