"""The point at which a run continues a copied log, after a fork in the middle of another run of its graph.

The records of checkpoints in the copy are written to the log of the run, which then no longer needs the copy. The
run also knows the calls of the copy: a call that had finished is not made again, and a `once` call that
had only started asks a person.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from runyard.agents.execution import ForkedCopy
from runyard.agents.kinds.langgraph.checkpointer import is_record
from runyard.domain.state.run_state import CallState, State, StepState


class ForkPoint:
    """The records that a run takes over from a copy with a checkpoint."""

    def __init__(self, copy: ForkedCopy | None, state: State) -> None:
        """`state`: the log of the run itself. After a crash it has some or all of the records."""
        records = [] if copy is None else [step for step in copy.state.steps if is_record(step)]
        own = sum(map(is_record, state.steps))
        self.missing: Sequence[StepState] = records[own:]
        self.wants_message = copy is not None and bool(records) and not copy.is_continued and own <= len(records)
        self.calls: Mapping[str, CallState] = {
            call.call_id: replace(call, started_seq=0)
            for call in (copy.state.calls if copy is not None and records else ())
            if call.started_seq is not None
        }
