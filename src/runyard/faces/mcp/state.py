"""The state of the translation of a log after an event. It is JSON, so a snapshot can hold it."""

from typing import Any, Literal

from msgspec import Struct, field

from runyard.domain.content.parts import File, Image
from runyard.domain.events import RunError
from runyard.domain.wait import ClientWait


class State(Struct, kw_only=True):
    """The state of the translation after an event. A part of a run ends where the run waits for a client, or ends."""

    run_id: str
    part: int = 0
    is_open: bool = False  # whether the part has not ended
    echo: dict[str, Any] = field(default_factory=dict)  # of the request that started the run
    progress: int = 0  # notifications so far
    line: list[str] = field(default_factory=list)  # text that no notification has shown
    is_thinking: bool = False
    waits: dict[str, ClientWait] = field(default_factory=dict)  # by wait id
    updated_at: int = 0
    text: str | None = None  # of the answer
    sources: list[str] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)
    files: list[File | Image] = field(default_factory=list)  # of the answer
    error: RunError | None = None
    status: Literal["done", "error", "canceled"] | None = None

    @property
    def open_waits(self) -> dict[str, ClientWait]:
        return {wait_id: wait for wait_id, wait in self.waits.items() if wait.is_open}
