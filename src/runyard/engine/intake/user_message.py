"""A message of a client, with all that its request says about the run that answers it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from runyard.domain.events import ClientTool
from runyard.domain.push import Push
from runyard.domain.task import RunOptions
from runyard.engine.intake.content import NewPart
from runyard.engine.intake.while_running import WhileRunning
from runyard.store import IdempotencyKey

NewPush = Callable[[str], Push]  # makes the push of a run from the id of the run


class UserMessage(NamedTuple):
    """A message that starts a run. The agent of the run may call the `client_tools`. `while_running` says what happens
    if a run of the thread has not ended. With `parts`, they are the content. `push` makes a push, which the commit of
    the message stores."""

    owner: str
    face: str
    text: str
    agent: str | None
    key: IdempotencyKey | None = None
    client_tools: Sequence[ClientTool] = ()
    options: RunOptions | None = None
    parts: Sequence[NewPart] = ()
    push: NewPush | None = None
    while_running: WhileRunning = "queue"
    external_id: str | None = None
