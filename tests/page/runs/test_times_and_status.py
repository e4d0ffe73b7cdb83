"""A run has one status and one set of times: in the list, in the inspector, in a comparison, while its log loads."""

from __future__ import annotations

import re

from playwright.async_api import Locator, Route, expect

from tests.page.conftest import Site
from tests.page.page_tab import Tab, ended

NONE = "\u2013"
LOG = re.compile(r"/api/runs/[^/]+/log")


async def hold(route: Route) -> None:
    """Never answer."""


async def test_a_run_that_has_ended_is_not_in_the_queue_while_its_log_loads(tab: Tab) -> None:
    page = tab.page
    run = await tab.begin("rememberer", "All is said")
    await ended(run)
    run_id = str(await run.get_attribute("data-run"))
    await page.route(LOG, hold)
    await page.reload()
    await expect(run.get_by_test_id("question")).to_have_text("All is said")
    await expect(run.get_by_role("status")).to_have_count(0)
    assert await run.get_attribute("data-status") is None

    await tab.open(f"runs/{run_id}")
    await page.reload()
    head, facts = page.get_by_role("main").locator("header"), page.get_by_role("region", name="Facts")
    await expect(head).to_contain_text("done")
    await expect(head.get_by_role("button", name="Retry")).to_be_visible()
    await expect(head.get_by_role("button", name="Stop")).to_have_count(0)
    await expect(facts).to_contain_text("took")
    await expect(facts).not_to_contain_text("still")

    await tab.open(f"compare/{run_id}/{run_id}")
    await page.reload()
    status = page.get_by_role("table", name="Comparison").get_by_role("row", name="status")
    await expect(status.get_by_role("cell")).to_have_text(["done", "done"])
    await page.unroute(LOG)
    await page.reload()
    await expect(page.get_by_role("note", name="Difference of the texts")).to_have_text("nothing")


async def shows_alike(tab: Tab, run_id: str, status: str) -> Locator:
    """The list, the inspector and a comparison show the same status and times. Leads to the inspector."""
    page = tab.page
    await tab.open("runs")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=run_id[-8:], exact=True))
    await expect(row).to_contain_text(status)
    waited, took = [str(await row.get_by_role("cell").nth(place).text_content()) for place in (5, 6)]
    assert waited
    await tab.open(f"compare/{run_id}/{run_id}")
    table = page.get_by_role("table", name="Comparison")
    for name, time in (("in the queue", waited), ("took", took)):
        await expect(table.get_by_role("row", name=name).get_by_role("cell")).to_have_text([time or NONE] * 2)
    await tab.open(f"runs/{run_id}")
    facts = page.get_by_role("region", name="Facts")
    await expect(facts).to_contain_text(f"in the queue{waited}")
    if took:
        await expect(facts).to_contain_text(f"took{took}")
    else:
        await expect(facts).not_to_contain_text("took")
    return page.get_by_role("region", name="Waterfall").get_by_role("button", name="queue in the queue")


async def test_a_run_that_was_canceled_in_the_queue_has_the_same_times_everywhere(tab: Tab, any_site: Site) -> None:
    api = any_site.api
    thread = await api.thread(agent="words")
    first, second = [await api.post("words", text, thread) for text in ("it goes on", "it waits")]
    await api.http.post(f"/api/runs/{second}/cancel")
    await api.http.post(f"/api/runs/{first}/cancel")
    await api.ended(second)
    bar = await shows_alike(tab, second, "canceled")
    waited = await tab.page.get_by_text("in the queue", exact=True).locator("+ dd").text_content()
    await expect(bar).to_contain_text(str(waited))


async def test_the_copy_that_a_fork_makes_took_no_time(tab: Tab, any_site: Site) -> None:
    api = any_site.api
    thread = await api.thread(agent="rememberer")
    await api.ended(run_id := await api.post("rememberer", "to be forked", thread))
    last = (await api.http.get("/api/runs", params={"thread_id": thread})).json()["runs"][0]["last_seq"]
    body = {"run_id": run_id, "at_seq": last - 2}
    fork = (await api.http.post(f"/api/threads/{thread}/fork", json=body)).json()["thread_id"]
    copy = (await api.http.get("/api/runs", params={"thread_id": fork})).json()["runs"][0]
    assert copy["started_at"] is None
    await shows_alike(tab, copy["run_id"], "canceled")
