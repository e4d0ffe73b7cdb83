"""The context of a model is read from the store in a few calls, however many runs it has."""

from typing import Any

import pytest

from runyard.domain.conversations.thread import Thread
from runyard.domain.events import RunQueued
from runyard.domain.runs.run import Run
from runyard.engine.log import snapshots as module
from runyard.engine.log.snapshots import Snapshots
from runyard.engine.running.earlier_runs import TOGETHER, earlier_conversations, runs_since_summary
from runyard.stores.memory import MemoryStore
from tests.store.factories import Writer, a_post, a_thread, clock, running, token, written


class CountedStore(MemoryStore):
    """Counts the calls from outside by their names."""

    def __init__(self) -> None:
        super().__init__(clock)
        self.calls: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name in ("ancestors", "get_messages", "get_run", "read", "read_logs", "snapshot"):
            self.calls.append(name)
        return super().__getattribute__(name)


async def talked(store: CountedStore, thread: Thread, exchanges: int, tokens: int = 3) -> Run:
    """Return the run of the last message of a thread with so many exchanges before it."""
    for n in range(exchanges):
        run = await running(store, a_post(thread, f"{n}?"))
        writer = Writer(run)
        await written(store, writer.part(*[token("word ") for _ in range(tokens)]))
        await written(store, writer.finish())
    last = await running(store, a_post(thread, "last?"))
    store.calls.clear()
    return last


def said(conversations: list[list[dict[str, Any]]]) -> list[str]:
    return [message["content"] for conversation in conversations for message in conversation]


@pytest.mark.parametrize("exchanges", [1, TOGETHER, 200])
async def test_the_runs_that_a_model_reads_are_three_calls(exchanges: int) -> None:
    store = CountedStore()
    last = await talked(store, await store.create_thread(a_thread()), exchanges)
    found = [each async for each in earlier_conversations(store, Snapshots(store), last, TOGETHER)]
    assert said(found)[:2] == [f"{exchanges - 1}?", "the answer"]
    assert len(found) == min(exchanges, TOGETHER)
    assert store.calls == ["ancestors", "get_messages", "read_logs"]


async def test_runs_beyond_a_group_are_read_only_if_they_are_wanted() -> None:
    store = CountedStore()
    last = await talked(store, await store.create_thread(a_thread()), 2 * TOGETHER + 1)
    memory = await runs_since_summary(store, Snapshots(store), last, None)
    assert [run.back for run in memory.runs] == list(range(1, 2 * TOGETHER + 2))
    assert store.calls.count("read_logs") == 3


async def test_a_long_log_is_read_when_it_is_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_END", 5)
    store = CountedStore()
    last = await talked(store, await store.create_thread(a_thread()), 3, tokens=10)
    found = earlier_conversations(store, Snapshots(store), last, TOGETHER)
    newest = await anext(found)
    assert [message["content"] for message in newest] == ["2?", "the answer"]
    assert (store.calls.count("read"), store.calls.count("read_logs")) == (1, 0)
    assert len([each async for each in found]) == 2
    assert store.calls.count("read") == 3


async def test_a_state_has_the_events_that_its_run_had_when_it_was_looked_up() -> None:
    store = CountedStore()
    last = await talked(store, await store.create_thread(a_thread()), 0)
    await written(store, Writer(last).part(token("later ")))
    [state] = [state async for state in Snapshots(store).states([last])]
    assert last.last_seq == 1
    assert state.text == ""
    assert isinstance((await store.read(last.id, 0, 1))[0].payload, RunQueued)
