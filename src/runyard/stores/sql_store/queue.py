"""Posts become runs, workers claim them, and people cancel or steer them."""

from collections.abc import Sequence

from runyard.errors import QueueFull, RunyardError, WriteRefused
from runyard.store import Accepted, Post, Room
from runyard.stores.operations import Transactions, query, statement, transaction
from runyard.stores.transactions.content import files
from runyard.stores.transactions.queue import claims, control, intake, steering

TRIES = 4  # of posts that create their threads, while other transactions delete these


class QueueOperations(Transactions):
    async def _accept_fast(self, posts: Sequence[Post], room: Room | None) -> Sequence[Accepted] | None:
        """Accept all posts if the database has a faster way for them. Otherwise write nothing and return None."""
        return None

    async def accept(self, posts: Sequence[Post], room: Room | None = None) -> Sequence[Accepted | RunyardError]:
        """Try the hot path first. The script accepts what it does not, and says what is wrong with which post."""
        accepted: Sequence[Accepted | RunyardError] | None = await self._accept_fast(posts, room) if posts else []
        return await self._accept_by_script(posts, room) if accepted is None else accepted

    async def _accept_by_script(self, posts: Sequence[Post], room: Room | None) -> Sequence[Accepted | RunyardError]:
        results: dict[int, Accepted | RunyardError] = {}
        left = list(range(len(posts)))
        tries = TRIES
        while left:
            try:
                accepted = await self._write("intake", intake.accept, [posts[n] for n in left], room)
            except intake.ThreadsMissing as missing:
                lost = [left[n] for n in missing.posts if posts[left[n]].thread is None]
                results |= {n: intake.not_found() for n in lost}
                if not lost:  # a post that creates its thread creates a deleted one again
                    tries -= 1
                    lost = [] if tries else [left[n] for n in missing.posts]
                    results |= {n: WriteRefused("The thread of this message could not be created.") for n in lost}
                left = [n for n in left if n not in lost]
            except files.FilesMissing as missing:
                lost = [n for n in left if posts[n].run_id in missing.runs]
                results |= {n: files.not_found() for n in lost}
                left = [n for n in left if n not in lost]
            except intake.LanesFull as full:
                lost = [left[n] for n in full.posts]
                results |= {n: QueueFull() for n in lost}
                left = [n for n in left if n not in lost]
            else:
                results |= dict(zip(left, accepted, strict=True))
                break
        return [results[n] for n in range(len(posts))]

    retry = transaction("intake", intake.retry)
    edit = transaction("intake", intake.edit)
    count_queued = query(intake.count_queued)
    forget_keys = transaction("other", intake.forget_keys)

    # --- steering

    steer = transaction("intake", steering.steer)
    interrupt = transaction("intake", steering.interrupt)
    accept_if_idle = transaction("intake", steering.accept_if_idle)
    new_messages = query(steering.new_messages)

    # --- workers and claims

    register = transaction("lease", claims.register)
    heartbeat = transaction("lease", claims.heartbeat)
    runs_to_cancel = query(claims.runs_to_cancel)
    list_workers = query(claims.list_workers)
    retire = transaction("lease", claims.retire)
    ready_runs = query(claims.ready_runs)
    claim = transaction("claims", claims.claim)
    reap = transaction("other", claims.reap)

    # --- cancel

    cancel = transaction("other", control.cancel)
    detach = statement("other", control.detach)
    attach = statement("other", control.attach)
    abandon = transaction("other", control.abandon)
