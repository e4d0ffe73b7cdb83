"""Settings of logs and traces."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from runyard.settings.addresses import checked_endpoint
from runyard.settings.values import Word


class TelemetrySettings(BaseModel):
    log_format: Annotated[Literal["console", "json"], Word] = Field(
        "json", description="The format of log lines: `json` for machines, `console` for people (`runyard dev`)."
    )
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Word] = Field(
        "info", description="The lowest level of log lines that are written."
    )
    access_log: bool = Field(True, description="Write a log line for every request (off in `runyard dev`).")
    sentry_dsn: str | None = Field(
        None, repr=False, description="A Sentry DSN that receives traces of runs, without content."
    )
    otlp_endpoint: Annotated[str | None, AfterValidator(checked_endpoint)] = Field(
        None,
        description="An OpenTelemetry collector that receives the same traces by OTLP over HTTP, such as"
        " `http://127.0.0.1:4318`.",
    )
