"""The whole ids of runs, threads and waits are found by their beginning or end, among all that their owner has."""

from runyard.base.ids import IdKind
from runyard.store import Store
from tests.store.factories import ANN, BOB, MANY, a_post, a_thread, decide, post, waiting


async def test_a_run_a_thread_and_a_decided_wait_are_found_by_their_owner_only(store: Store) -> None:
    thread = await store.create_thread(a_thread())
    run, approval = await waiting(store, a_post(thread))
    await decide(store, approval)
    other, of_bob = await post(store), await post(store, a_post(owner=BOB))

    async def found(kind: IdKind, part: str, owner: str = ANN, limit: int = MANY) -> list[str]:
        return list(await store.find_ids(owner, kind, part, limit))

    whole: list[tuple[IdKind, str]] = [("run", run.id), ("thread", thread.id), ("wait", approval.id)]
    for kind, each in whole:
        assert await found(kind, each[-12:]) == await found(kind, each) == [each]
        assert await found(kind, each[-12:], BOB) == []
        assert each in await found(kind, each[:8])
        assert await found(kind, "z" * 8) == await found(kind, "%" * 8) == []
    assert await found("wait", approval.id.partition("_")[2]) == [approval.id]
    assert await found("run", thread.id) == []
    assert await found("run", other[:4]) == [other, run.id]
    assert await found("run", other[:4], limit=1) == [other]
    assert await found("run", of_bob[:4], BOB) == [of_bob]
