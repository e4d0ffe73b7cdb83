"""The trace of one run: run > step > tool, made from the events as they are written.

A run that another process resumes has a second root in the same trace, with its attempt. A tool call of an agent in a
mailbox, and a change of its memory, are also log lines, without content.
"""

from runyard.domain.events import Payload, StepFinished, StepStarted, ToolFinished, ToolStarted
from runyard.domain.runs.ledger import THINK
from runyard.domain.runs.run import Run
from runyard.telemetry.logger import get_logger
from runyard.telemetry.spans import Span, Tracer

log = get_logger()
MEMORY = frozenset({"update_memory", "store_memory"})
UNKNOWN_TOOL = "unknown_tool"  # a model invented its name, so the name is content
NO_ERROR = frozenset({"canceled", "released", "waiting"})  # outcomes that are not counted as errors


class RunTrace:
    def __init__(self, tracer: Tracer, run: Run) -> None:
        self._tracer = tracer
        self._run = run
        self.root = tracer.root("agent.run", run.id, agent=run.agent, run_id=run.id)
        if run.trigger_message_id is not None:
            self.root.attributes["message_id"] = run.trigger_message_id
        self._thought: Span | None = None  # a model call, with the tool calls that it requests
        self._steps: dict[str, Span] = {}
        self._tools: dict[str, Span] = {}
        self.attempt = 1
        tracer.count("agent.invocations", agent=run.agent)

    def event(self, payload: Payload) -> None:
        """Begin or end the span of this event."""
        tracer = self._tracer
        match payload:
            case StepStarted(step=key, name=name, model=model) if name == THINK:
                self._end_thought()
                self._thought = tracer.child(self.root, "agent.step", step=key, model=model or "")
            case StepStarted(step=key):
                self._steps[key] = tracer.child(self.root, "agent.step", step=key)
            case StepFinished(step=key, error=error) if key in self._steps:
                tracer.end(self._steps.pop(key), error or "ok")
            case ToolStarted(call_id=call, tool=tool):
                self._tools[call] = tracer.child(self._thought or self.root, "agent.tool", tool=tool)
            case ToolFinished(call_id=call, tool=tool, error=error, ms=ms):
                span = self._tools.pop(call, None)
                if span is None:  # an earlier attempt began it
                    span = tracer.child(self._thought or self.root, "agent.tool", ms / 1000, tool=tool)
                if error == UNKNOWN_TOOL:
                    tool = span.attributes["tool"] = "unknown"
                tracer.end(span, error or "ok")
                self._report_call(tool, error)
            case _:
                pass

    def traceparent(self, call_id: str) -> str:
        """Return the W3C trace context that a tool call passes on."""
        return self._tools.get(call_id, self.root).traceparent

    def _report_call(self, tool: str, error: str | None) -> None:
        self._tracer.count("agent.tools", agent=self._run.agent, tool=tool)
        if not self._run.in_mailbox:
            return
        fields = {"agent": self._run.agent, "run_id": self._run.id, "tool": tool, "outcome": error or "ok"}
        if tool in MEMORY and error is None:
            log.info("memory.updated", tool=tool, outcome="ok")
            self._tracer.log("memory.updated", self._thought or self.root, **fields)
        else:
            log.info("agent.decided", tool=tool, outcome=error or "ok")
            self._tracer.log("agent.decided", self._thought or self.root, **fields)

    def _end_thought(self) -> None:
        if self._thought is not None:
            self._tracer.end(self._thought)

    def end(self, outcome: str) -> None:
        if outcome == "ok":
            self._end_thought()
        elif outcome not in NO_ERROR:
            self._tracer.count("agent.errors", agent=self._run.agent, code=outcome)
        self.root.attributes["attempt"] = self.attempt
        self._tracer.end(self.root, outcome)
