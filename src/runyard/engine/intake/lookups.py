"""The lookups of the intake before it queues a run."""

from collections.abc import Sequence

from runyard.domain.events import RunQueued
from runyard.domain.runs.run import Run
from runyard.domain.runs.thread_head import ThreadHead
from runyard.errors import Invalid, NotFound
from runyard.store import LogStore, ThreadStore


async def has_no_name(store: ThreadStore, owner: str, thread_id: str, head: ThreadHead | None) -> bool:
    """Return whether the owner has a thread of this id without a name. With a `head`, nothing is read."""
    if head is not None:
        return head.thread is not None and head.thread.external_id is None
    try:
        return (await store.get_thread(owner, thread_id)).external_id is None
    except NotFound:
        return False


async def request_of(store: LogStore, run: Run) -> RunQueued | None:
    """Return the first event of a run, or None if it has nothing besides its message."""
    is_plain = run.trigger_message_id is not None and not run.has_client_tools
    first = [] if is_plain else await store.read(run.id, 0, 1)
    return next((event.payload for event in first if isinstance(event.payload, RunQueued)), None)


def checked_plan(plans: Sequence[str], plan: str | None) -> str:
    """Return the plan to start, the first one by default. Raises Invalid if the agent is not a plan."""
    if not plans:
        raise Invalid("This server has no plan. Declare one with runyard.plan.")
    if plan is not None and plan not in plans:
        names = ", ".join(plans)
        raise Invalid(f"The agent {plan} is not a plan. Post it a message in a thread, or start one of: {names}.")
    return plan or plans[0]
