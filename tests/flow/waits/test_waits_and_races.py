"""Answers, deadlines and cancels race; events come before, after and without a waiter; a cancel reaches children."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.support.eventually import eventually
from tests.support.scenario.flow import Flow


async def _output(flow: Flow, run_id: str) -> str:
    outputs = [json.loads(event["data"]) for event in await flow.log(run_id) if event["type"] == "run.output"]
    return str(outputs[-1]["text"]) if outputs else ""


async def _wait_of(flow: Flow, run_id: str) -> str:
    """The wait of a run, answered or not."""

    async def pending_wait() -> str | None:
        rows = await flow.database.rows("select id, run_id from waits")
        return next((row["id"] for row in rows if row["run_id"] == run_id), None)

    return str(await eventually(f"run {run_id} waits", pending_wait))


async def test_of_many_answers_at_once_the_first_wins(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve")
    for _ in range(3):
        run_id = await flow.post(["ask", "Which row?"])
        wait = await flow.open_wait(run_id, "question")
        answers = await asyncio.gather(*[flow.answer(wait, n) for n in range(8)])
        assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
        [won] = [n for n, answer in enumerate(answers) if answer.status_code == 200]
        await flow.reached(run_id, "done")
        assert await _output(flow, run_id) == f"[row {won}]"


async def test_an_answer_that_does_not_fit_decides_nothing(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve")
    run_id = await flow.post(["ask", "Which row?"])
    wait = await flow.open_wait(run_id, "question")
    refused = await flow.answer(wait, "the first one")
    assert refused.status_code == 422
    assert "integer" in refused.json()["detail"]
    assert (await flow.answer(wait, 3)).status_code == 200
    await flow.reached(run_id, "done")
    assert await _output(flow, run_id) == "[row 3]"


@pytest.mark.parametrize("default", [None, 5])
async def test_an_answer_and_a_deadline_race_and_one_of_them_wins(any_flow: Flow, default: int | None) -> None:
    flow = any_flow
    await flow.start("serve")
    runs = [await flow.post(["ask", "Which row?", 0.4, default]) for _ in range(6)]
    waits = [await _wait_of(flow, run_id) for run_id in runs]

    async def answer(n: int, wait: str) -> int:
        await asyncio.sleep(0.1 * n)  # waits on purpose: some answers come before the deadline, some after it
        return (await flow.answer(wait, 7)).status_code

    codes = await asyncio.gather(*[answer(n, wait) for n, wait in enumerate(waits)])
    for run_id, code in zip(runs, codes, strict=True):
        await flow.reached(run_id, "done", "error")
        late = "[row 5]" if default is not None else ""
        assert await _output(flow, run_id) == ("[row 7]" if code == 200 else late)
    assert set(codes) <= {200, 409}


async def test_an_answer_and_a_cancel_race_and_both_tell_the_truth(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve")
    for _ in range(5):
        run_id = await flow.post(["ask", "Which row?"])
        wait = await flow.open_wait(run_id, "question")
        answer, status = await asyncio.gather(flow.answer(wait, 1), flow.cancel(run_id))
        await flow.reached(run_id, "done", "canceled")
        ended = (await flow.run(run_id))["status"]
        assert answer.status_code in (200, 409)
        assert ended == "canceled" or answer.status_code == 200, status


@pytest.mark.parametrize("when", ["before", "after", "never"])
async def test_an_event_comes_before_after_or_without_a_waiter(any_flow: Flow, when: str) -> None:
    flow = any_flow
    await flow.start("serve")
    if when == "before":
        assert (await flow.deliver("e1", "paid", "A", {"n": 1})).json() == {"delivered": True}
        assert (await flow.deliver("e1", "paid", "A", {"n": 2})).json() == {"delivered": False}
    run_id = await flow.post(["event", "paid", "A", 30 if when != "never" else 0.3])
    if when == "after":
        await flow.open_wait(run_id, "event")
        assert (await flow.deliver("other", "paid", "B", {"n": 0})).json() == {"delivered": True}
        assert (await flow.deliver("e1", "paid", "A", {"n": 1})).json() == {"delivered": True}
    await flow.reached(run_id, "done")
    assert await _output(flow, run_id) == ("[no event]" if when == "never" else "[{'n': 1}]")
    if when == "before":
        second = await flow.post(["event", "paid", "A", 0.2])
        await flow.reached(second, "done")
        assert await _output(flow, second) == "[no event]", "a run has taken the event"


async def test_one_event_answers_every_run_that_waits_for_it_once(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve")
    runs = [await flow.post(["event", "start", "now"]) for _ in range(4)]
    for run_id in runs:
        await flow.open_wait(run_id, "event")
    await flow.deliver("go", "start", "now", "go")
    for run_id in runs:
        await flow.reached(run_id, "done")
        assert await _output(flow, run_id) == "[go]"


async def test_a_cancel_reaches_the_whole_tree(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve")
    deep: list[Any] = [["children", [["wait", "never"]], [["ask", "Which row?"]]]]
    run_id = await flow.post(["children", deep, [["sleep", 3600]]])

    async def grown() -> bool:
        return len(await flow.database.rows("select id from runs")) == 5

    await eventually("the tree has grown", grown)
    await flow.cancel(run_id)

    async def all_over() -> bool:
        rows = await flow.database.rows("select status from runs")
        return all(row["status"] == "canceled" for row in rows)

    await eventually("every run of the tree is canceled", all_over)


async def test_a_child_that_fails_is_an_error_that_its_parent_may_catch(any_flow: Flow) -> None:
    flow = any_flow
    await flow.start("serve")
    run_id = await flow.post(["children", [["leave", "exit", "here"]], [["tokens", 1]]])
    await flow.reached(run_id, "done")
    assert await _output(flow, run_id) == "[ChildFailed][t0 ]"


async def test_timers_that_were_due_while_no_server_ran_wake_in_the_order_of_their_times(any_flow: Flow) -> None:
    flow = any_flow
    server = await flow.start("serve")
    seconds = [3609.2, 3608.6, 3608.9, 3609.5, 3608.3]
    runs = {seconds: await flow.post(["sleep", seconds]) for seconds in seconds}
    for run_id in runs.values():
        await flow.reached(run_id, "waiting")
    await server.kill()
    await flow.database.change("update waits set expires_at = expires_at - 7200000")  # two hours pass
    await flow.start("serve", slots=1)
    for run_id in runs.values():
        await flow.reached(run_id, "done")
    woken = [words[0] for words in flow.notes.read("woke")]
    [due] = [[row["run_id"] for row in await flow.database.rows("select run_id from waits order by expires_at")]]
    assert woken == due
