"""The trace of one agent's run in its mailbox: run > step > tool, made from the events as they are written.

A run that another process goes on with has a second root in the same trace, with its attempt. What an agent decided to
do, and that it changed its memory, is a line of the log; the words are not.
"""

import structlog

from runyard.domain.events import Payload, StepStarted, ToolFinished, ToolStarted
from runyard.domain.run import Run
from runyard.telemetry.spans import Span, Tracer

log = structlog.get_logger()
MEMORY = frozenset({"update_memory", "store_memory"})


class RunTrace:
    def __init__(self, tracer: Tracer, run: Run) -> None:
        self._tracer = tracer
        self._agent = run.agent
        self.root = tracer.root("agent.run", run.id, agent=run.agent, run_id=run.id, attempt=run.fence)
        self._step: Span | None = None
        self._tools: dict[str, Span] = {}
        tracer.count("agent.invocations", agent=run.agent)

    def event(self, payload: Payload) -> None:
        tracer = self._tracer
        match payload:
            case StepStarted(step=key, name="think", model=model):
                self._end_step()
                self._step = tracer.child(self.root, "agent.step", step=key, model=model or "")
            case ToolStarted(call_id=call, tool=tool):
                self._tools[call] = tracer.child(self._step or self.root, "agent.tool", tool=tool)
            case ToolFinished(call_id=call, tool=tool, error=error):
                if (span := self._tools.pop(call, None)) is not None:
                    tracer.end(span, error or "ok")
                self._decided(tool, error)
            case _:
                pass

    def _decided(self, tool: str, error: str | None) -> None:
        self._tracer.count("agent.tools", agent=self._agent, tool=tool)
        said = {"agent": self._agent, "run_id": self.root.trace, "tool": tool, "outcome": error or "ok"}
        if tool in MEMORY and error is None:
            log.info("memory.updated", tool=tool, outcome="ok")
            self._tracer.log("memory.updated", **said)
        else:
            log.info("agent.decided", tool=tool, outcome=error or "ok")
            self._tracer.log("agent.decided", **said)

    def _end_step(self) -> None:
        if self._step is not None:
            self._tracer.end(self._step)

    def end(self, outcome: str) -> None:
        if outcome == "ok":
            self._end_step()
        elif outcome not in ("canceled", "released", "waiting"):
            self._tracer.count("agent.errors", agent=self._agent, code=outcome)
        self._tracer.end(self.root, outcome)
