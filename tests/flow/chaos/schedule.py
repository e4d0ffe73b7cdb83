"""Which faults a chaos run injects, and when: everything is drawn before the run, from its seed.

Kinds come from a bag: each is drawn once before any is drawn again, so that a short run has all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

DatabaseKind = Literal["postgres", "sqlite"]

PODS: Mapping[DatabaseKind, int] = {"postgres": 4, "sqlite": 1}
KINDS: Mapping[DatabaseKind, Sequence[str]] = {
    "postgres": (
        "drop", "half-close", "delay", "silence", "hang", "away", "lost-commit-answers", "lost-answers", "kill",
        "freeze", "terminate", "terminate-in-silence", "terminate-while-claiming", "lost-claim-and-log",
        "postgres-restart", "postgres-crash", "bus-killed", "bus-frozen", "clock-jumps", "clock-ahead-at-start",
    ),
    "sqlite": ("kill", "freeze", "terminate", "second-process", "full-disk"),
}  # fmt: skip
# The faults that each defence protects from. A run without it draws these kinds every second time.
AGAINST: Mapping[str, Sequence[str]] = {
    "fence": ("freeze",),
    "batch": ("lost-answers",),
    "lease": ("freeze",),
    "silent-network": ("silence",),
    "cancellation": ("terminate-in-silence",),
    "claim-in-flight": ("terminate-while-claiming",),
    "one-by-one": ("lost-claim-and-log",),
    "database-wait": ("postgres-restart", "away"),
    "clock-check": ("clock-ahead-at-start",),
}
FIRST_SECONDS = 2.0  # for the first runs to be at work
GAP: Mapping[DatabaseKind, tuple[float, float]] = {"postgres": (0.3, 2.5), "sqlite": (0.6, 3.5)}


@dataclass(frozen=True)
class Fault:
    at: float  # seconds after the start
    kind: str
    pod: int  # the place that it hits
    everywhere: bool  # a fault of the network hits all pods, not one
    strength: float  # 0..1: how long it lasts, or how often it strikes


def schedule(database: DatabaseKind, seconds: float, seed: int, without: str = "") -> list[Fault]:
    """Return the faults of a run in order. Equal arguments give equal faults. `without`: the missing defence."""
    random = Random(f"{database} {seed}")
    faults: list[Fault] = []
    bag: list[str] = []
    at = FIRST_SECONDS
    while at < seconds:
        if not bag:
            bag = list(KINDS[database])
            random.shuffle(bag)
            if without:
                bag = [kind for drawn in bag for kind in (drawn, random.choice(AGAINST[without]))]
        place, everywhere, strength = random.randrange(PODS[database]), random.random() < 0.3, random.random()
        faults.append(Fault(at, bag.pop(), place, everywhere, strength))
        at += random.uniform(*GAP[database])
    return faults
