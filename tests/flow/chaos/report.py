"""The report of a chaos run: figures, and every violation in a sentence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.flow.chaos.schedule import DatabaseKind

SHOWN = 40


@dataclass
class Report:
    database: DatabaseKind
    seed: int
    seconds: float
    without: str = ""
    faults: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)  # their pod was down, or had another fault
    skipped: dict[str, str] = field(default_factory=dict)  # kind: why this machine cannot do it
    runs: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    events: int = 0
    events_followed: int = 0
    effects: int = 0
    starts: int = 0
    failed_starts: int = 0
    shutdowns: list[float] = field(default_factory=list)
    settled_seconds: float = 0.0
    violations: list[str] = field(default_factory=list)

    def text(self) -> str:
        build = f" without {self.without}" if self.without else ""
        lines = [
            f"chaos on {self.database}{build}: seed {self.seed}, {self.seconds:.0f} s",
            f"  faults      {sum(self.faults.values())}: {_counted(self.faults)}",
            f"  not injected {_counted(self.missed) or 'none'} (the pod was down or had another fault)",
            *(f"  skipped     {kind}: {why}" for kind, why in self.skipped.items()),
            f"  runs        {self.runs}: {_counted(self.ends)}",
            f"  events      {self.events} in logs, {self.events_followed} seen by followers, {self.effects} effects",
            f"  processes   {self.starts} started, {self.failed_starts} starts failed",
            f"  shutdowns   {len(self.shutdowns)}, the longest {max(self.shutdowns, default=0):.1f} s",
            f"  settled     {self.settled_seconds:.1f} s after the last fault",
            f"  violations  {len(self.violations)}",
            *(f"    {line}" for line in self.violations[:SHOWN]),
        ]
        if len(self.violations) > SHOWN:
            lines.append(f"    ... and {len(self.violations) - SHOWN} more")
        return "\n".join(lines)


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in sorted(counter.items()))
