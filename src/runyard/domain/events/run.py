"""The life of a run: queued, resumed, waiting, and its end."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from runyard.domain.content.parts import File, Image
from runyard.domain.events.base import PayloadBase, Usage
from runyard.domain.task import RunOptions, Task


class Origin(Struct, frozen=True):
    """A position in the log of another run."""

    run_id: str
    seq: int


class ClientTool(Struct, frozen=True, omit_defaults=True):
    """A tool that the client calls, as it declares it with a request. `schema` is the JSON Schema of its input."""

    name: str
    description: str = ""
    schema: dict[str, Any] = {}


class RunQueued(PayloadBase, frozen=True):
    """The first event of every run, written by intake: the agent, and the id of the message that caused the run or its
    task. `copied`: for forks, the run and seq that this log was copied from. `parent`: for child runs, the run that
    waits for this one. `client_tools`: tools that the client supplied with its request. `options`: what else it asked
    for."""

    type = "run.queued"
    agent: str
    trigger: str | None = None
    task: Task | None = None
    copied: Origin | None = None
    parent: str | None = None
    client_tools: list[ClientTool] = []
    options: RunOptions | None = None


class RunResumed(PayloadBase, frozen=True):
    """A worker continues a run after a crash, a drain or an answer. `decision` is the answer of any kind of wait."""

    type = "run.resumed"
    attempt: int
    why: Literal["crash", "drain", "decision"]


class RunWaiting(PayloadBase, frozen=True):
    """The run left its worker. An answer to any of these waits resumes it."""

    type = "run.waiting"
    waits: list[str] = []


class RunOutput(PayloadBase, frozen=True, omit_defaults=False):
    """The answer of a run that is about to be done: all the text that was shown. `last` is the last message, if that is
    not the whole text. `files` are the files that belong to the answer."""

    type = "run.output"
    text: str
    sources: list[str] = []
    outputs: dict[str, Any] = {}
    last: str | UnsetType = UNSET
    files: list[File | Image] | UnsetType = UNSET


class RunError(PayloadBase, frozen=True):
    """The reason why a run ends as error: a code, a sentence without content, and a `traceback` if the agent's own code
    raised an error."""

    type = "run.error"
    code: str
    message: str
    traceback: str | None = None


class RunCanceled(PayloadBase, frozen=True):
    """The reason why a run ends as canceled."""

    type = "run.canceled"
    reason: str


class RunFinished(PayloadBase, frozen=True):
    """The last event of every run, written once, in the transaction that sets the status."""

    type = "run.finished"
    status: Literal["done", "error", "canceled"]
    stop_reason: str
    usage: Usage | None = None
