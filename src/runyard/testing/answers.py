"""The answers that a test gives to waits other than approvals."""

from collections.abc import Mapping
from typing import Any

from runyard.app.process import Process
from runyard.base.clock import SystemClock
from runyard.domain.api_key import LOCAL
from runyard.domain.events import Drafter, WaitAnswered
from runyard.domain.wait import Wait
from runyard.errors import RunyardError

NO_ANSWER = object()


class UnansweredWait(RunyardError):
    """The agent waits for an answer, and the test does not give it."""

    code = "unanswered_wait"


async def answer_wait(process: Process, wait: Wait, answers: Mapping[str, Any]) -> None:
    """Give the test's answer to a wait. Time passes at once. A wait with a timeout expires if the test has no answer
    for it."""
    if wait.kind == "child":
        return
    asked = wait.input or {}
    name = asked.get("prompt") or wait.name
    value = answers.get(name, NO_ANSWER)
    if value is not NO_ANSWER and wait.kind in ("question", "client_tool"):
        await process.engine.waits.answer(LOCAL, wait.id, value, "test")
    elif value is not NO_ANSWER:
        await _answer(process, wait, WaitAnswered(wait.id, "answered", "test", value))
    elif wait.kind == "timer":
        await _answer(process, wait, WaitAnswered(wait.id, "answered", "test"))
    elif wait.expires_at is not None and wait.has_default:
        await _answer(process, wait, WaitAnswered(wait.id, "answered", "test", asked["default"]))
    elif wait.expires_at is not None:
        await _answer(process, wait, WaitAnswered(wait.id, "expired", "test"))
    else:
        raise UnansweredWait(f"The agent waits for an answer to {name!r}. Pass answers={{{name!r}: ...}} to run_agent.")


async def _answer(process: Process, wait: Wait, event: WaitAnswered) -> None:
    draft = Drafter(SystemClock(), "api")(event)
    await process.store.answer(None, wait.id, event.outcome, "test", draft)
    process.tail.mark_stale(wait.run_id)
    if process.worker is not None:
        process.worker.wake()
