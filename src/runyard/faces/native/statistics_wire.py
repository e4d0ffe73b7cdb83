"""The response of the statistics of runs."""

from pydantic import BaseModel, Field

from runyard.faces.native.wire import RunUsage


class Figures(BaseModel):
    runs: int
    errors: dict[str, int] = Field(description="How many runs failed, by error code.")
    canceled: int
    took_p50_ms: int | None = Field(description="The median time from start to end, to about a tenth.")
    took_p95_ms: int | None
    waited_p95_ms: int | None = Field(description="The time in the queue that 95 % of the runs did not exceed.")
    first_token_p50_ms: int | None = Field(description="The median time from the request to the first token.")
    first_token_p95_ms: int | None
    usage: RunUsage


class DayFigures(Figures):
    day: str = Field(description="The date in UTC.")


class AgentFigures(Figures):
    agent: str


class QueueNow(BaseModel):
    runs: int = Field(description="The runs that have not started. Counting stops at 100000.")
    oldest_ms: int | None = Field(description="How long the oldest of them has waited.")


class StatisticsPage(BaseModel):
    days: list[DayFigures] = Field(description="By the day on which runs were queued, oldest first.")
    agents: list[AgentFigures] = Field(description="Most runs first.")
    queue: QueueNow
