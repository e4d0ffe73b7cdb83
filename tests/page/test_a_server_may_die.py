"""The server is killed while the page is open: the page shows that it is disconnected, reconnects, and shows what
happened once."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.flow.conftest import empty_file, nursery, postgres_database, template
from tests.page.conftest import NewTab
from tests.page.page_tab import Tab, answer, ended
from tests.support.scenario.databases import SqliteDatabase
from tests.support.scenario.flow import Flow
from tests.support.scenario.pods import Nursery, Pod
from tests.support.servers.nginx_server import PrivateNginx
from tests.support.servers.postgres_server import free_port

__all__ = ["empty_file", "nursery", "postgres_database", "template"]
pytestmark = pytest.mark.flow


@pytest.fixture
async def flow(nursery: Nursery, empty_file: Path, tmp_path: Path) -> AsyncIterator[Flow]:
    path = Path(shutil.copy(empty_file, tmp_path / "runyard.db"))
    flow = Flow(nursery, SqliteDatabase(path), tmp_path)
    yield flow
    await flow.close()


@pytest.fixture
async def pods(nursery: Nursery, postgres_database: Any, tmp_path: Path) -> AsyncIterator[Flow]:
    flow = Flow(nursery, postgres_database, tmp_path)
    yield flow
    await flow.close()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def any_flow(request: pytest.FixtureRequest) -> Flow:
    """The same scenario on both databases."""
    found: Flow = request.getfixturevalue("flow" if request.param == "sqlite" else "pods")
    return found


@pytest.fixture
def nginx(tmp_path: Path) -> Iterator[tuple[PrivateNginx, list[int]]]:
    ports = [free_port(), free_port()]
    with PrivateNginx(tmp_path, ports) as nginx:
        yield nginx, ports


async def begun(tab: Tab, *program: Any) -> Locator:
    """A run of the flow tests' player, from the page."""
    return await tab.begin("player", json.dumps(program))


async def cut(tab: Tab) -> None:
    await expect(tab.page.get_by_role("status", name="Connection")).to_have_text("Reconnecting…")


async def is_back(tab: Tab) -> None:
    await expect(tab.page.get_by_role("status", name="Connection")).to_have_text("")


async def test_in_the_middle_of_a_stream(new_tab: NewTab, flow: Flow) -> None:
    port = free_port()
    pod: Pod = await flow.start(port=port)
    tab = await new_tab(pod.url)
    run = await begun(tab, ["tokens", 3], ["step", "a"], ["tokens", 3], ["wait", "middle"], ["tokens", 3])
    await expect(answer(run).last).to_have_text("t0 t1 t2")
    await flow.at_gate("middle")
    await pod.kill()
    await cut(tab)
    flow.notes.open_gate("middle")
    await flow.start(port=port)
    await is_back(tab)
    await ended(run)
    await expect(run).to_contain_text("resumed as attempt 2")
    assert " ".join(await answer(run).all_inner_texts()).split() == ["t0", "t1", "t2"] * 3
    await expect(tab.runs).to_have_count(1)


async def test_in_the_middle_of_an_approval(new_tab: NewTab, flow: Flow) -> None:
    port = free_port()
    pod = await flow.start(port=port)
    tab = await new_tab(pod.url)
    run = await begun(tab, ["tokens", 2], ["call", "send"], ["tokens", 2])
    card = tab.approval("send")
    await card.get_by_role("button", name="Reject").click()
    await card.get_by_role("textbox", name="Reason").fill("half written")
    await pod.kill()
    await cut(tab)
    await card.get_by_role("button", name="Confirm rejection").click()
    await expect(card.get_by_role("alert")).to_contain_text("does not answer")
    await flow.start(port=port)
    await is_back(tab)
    await expect(card.get_by_role("textbox", name="Reason")).to_have_value("half written")
    await card.get_by_role("button", name="Back").click()
    await card.get_by_role("button", name="Approve").click()
    await ended(run)
    assert len(flow.effects("send")) == 1
    await expect(run.get_by_role("group", name="Tool call send")).to_have_attribute("data-state", "finished")


async def test_a_call_that_may_have_happened_is_approved_twice(new_tab: NewTab, any_flow: Flow) -> None:
    flow, port = any_flow, free_port()
    pod = await flow.start(fault="after.tool.started:1", port=port)
    run_id = await flow.post(["call", "pay"], ["tokens", 2])
    await pod.end()
    pod = await flow.start(port=port)
    await flow.approval(run_id, "unknown_outcome")
    tab = await new_tab(pod.url)
    page = tab.page
    await tab.open("approvals")
    item = page.get_by_role("list", name="Waiting").get_by_role("listitem")
    await expect(item).to_have_attribute("aria-current", "true")
    await expect(item).to_contain_text("Whether it took effect is unknown.")
    for _ in range(3):
        await page.keyboard.press("a")
    await expect(item.get_by_role("group", name="Confirm").get_by_role("button", name="Back")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(item.get_by_role("button", name="Approve")).to_be_visible()
    assert flow.effects("pay") == []
    await page.keyboard.press("a")
    await page.keyboard.press("y")
    await expect(item).to_have_count(0)
    await flow.reached(run_id, "done")
    assert flow.effects("pay") == [f"{run_id}:pay#1"]


@pytest.mark.postgres
async def test_a_pod_behind_a_proxy(new_tab: NewTab, pods: Flow, nginx: tuple[PrivateNginx, list[int]]) -> None:
    proxy, ports = nginx
    working = await pods.start("serve", port=ports[0])
    tab = await new_tab(proxy.url)
    run = await begun(tab, ["tokens", 3], ["wait", "middle"], ["tokens", 3])
    await expect(answer(run)).to_have_text("t0 t1 t2")
    await pods.at_gate("middle", working)
    await pods.start("serve", port=ports[1])
    pods.notes.open_gate("middle")
    await working.kill()
    await ended(run)
    await is_back(tab)
    assert " ".join(await answer(run).all_inner_texts()).split() == ["t0", "t1", "t2"] * 2
