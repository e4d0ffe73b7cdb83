"""The size of the measurements: `FULL` for real numbers, `TINY` for a test of a few seconds."""

from msgspec import Struct
from msgspec.structs import replace


class Size(Struct, frozen=True, kw_only=True):
    """Each measurement takes about `seconds` (a paced run takes two, one of the capacity
    as long as its tokens and a second); every round measures all servers."""

    rounds: int
    face_rounds: int
    seconds: float
    clients: tuple[int, ...]
    paced_clients: tuple[int, ...]
    tokens: int
    in_flight: int
    followers: int
    replayed: int
    crossings: int
    old_runs: int
    each: int
    conversation_tokens: int
    most_conversations: int

    def warm_up(self) -> "Size":
        """Return the size of a measurement whose result is dropped."""
        return replace(self, seconds=self.seconds / 4, conversation_tokens=self.conversation_tokens // 4)


FULL = Size(
    rounds=3,
    face_rounds=2,
    seconds=1.25,
    clients=(1, 10, 50),
    paced_clients=(10, 50),
    tokens=200,
    in_flight=64,
    followers=1_000,
    replayed=100_000,
    crossings=4,
    old_runs=1_000,
    each=100,
    conversation_tokens=125,
    most_conversations=2_000,
)
TINY = Size(
    rounds=1,
    face_rounds=1,
    seconds=0.1,
    clients=(2,),
    paced_clients=(2,),
    tokens=20,
    in_flight=8,
    followers=10,
    replayed=2_000,
    crossings=1,
    old_runs=300,
    each=10,
    conversation_tokens=5,
    most_conversations=40,
)
