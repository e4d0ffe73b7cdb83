"""The dashboard counts runs, failures, time and cost by day and by agent."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.page.conftest import NewTab, Site
from tests.page.page_tab import Tab
from tests.support.in_process.live_server import Server
from tests.web.access.every_route import bearer


async def test_the_dashboard_counts_runs_and_failures_by_day_and_agent(tab: Tab, any_site: Site) -> None:
    api, page = any_site.api, tab.page
    for agent, text in (("traveller", "to Rome"), ("traveller", "home"), ("failing", "try")):
        await api.ended(await api.post(agent, text, await api.thread(agent=agent)))
    any_site.gates.calls.clear()
    await tab.open("overview")
    table = page.get_by_role("table", name="By agent")
    await expect(table.get_by_role("row", name="traveller")).to_contain_text(re.compile(r"traveller2.*\$0\.01"))
    await expect(table.get_by_role("row", name="failing")).to_contain_text("agent_error 1")
    chart = page.get_by_role("img", name=re.compile("^Runs"))
    await expect(chart).to_have_accessible_name(re.compile(r"^Runs\. \d{4}-\d\d-\d\d: runs 3, failed 1\.$"))
    errors = page.get_by_role("img", name=re.compile("^Errors"))
    await expect(errors).to_have_accessible_name(re.compile(r"^Errors\. \d{4}-\d\d-\d\d: agent_error 1\.$"))
    await expect(page.locator("figure").filter(has=errors).locator(".legend")).to_have_text("agent_error")
    counts = page.get_by_role("status", name="Overview")
    await expect(counts).to_have_text(re.compile(r"^\d+ queued\s*\d+ running\s*\d+ waiting$"))
    names = await table.get_by_role("columnheader").all_text_contents()
    assert len(names) == len(set(names)) == 11
    await expect(page.get_by_role("main")).to_contain_text("Days are in UTC. Deleted runs are not counted.")
    first = page.get_by_role("img", name=re.compile("^First token"))
    await expect(first).to_have_accessible_name(re.compile(r"^First token\. \S+: p95 \d+(\.\d)? m?s, p50 \d+"))
    for name, values in {
        "Duration": r"p95 \d+(\.\d)? m?s, p50 \d+(\.\d)? m?s",
        "Queue age, p95": r"\D+ \d+(\.\d)? m?s",
        "Tokens": r"in and out 25, out 5",
        "Cost": r"\D+ \$0\.01",
    }.items():
        drawn = page.get_by_role("img", name=re.compile(f"^{name}"))
        await expect(drawn).to_have_accessible_name(re.compile(rf"^{name}\. \S+: {values}\.$"))
    await expect(page.get_by_text("No run waits in the queue.")).to_be_visible()
    await page.get_by_role("combobox", name="Agent").select_option("traveller")
    await expect(chart).to_have_accessible_name(re.compile(r": runs 2\.$"))
    await page.get_by_role("combobox", name="Days").select_option("7")
    await expect(chart.locator("rect")).to_have_count(14)
    await page.get_by_role("checkbox", name="All owners").check()
    await expect(page.get_by_text("Runs of all owners.")).to_be_visible()
    await expect(chart).to_have_accessible_name(re.compile(r": runs 2\.$"))


async def test_an_address_of_all_owners_reads_the_figures_of_all_at_once(tab: Tab) -> None:
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url))
    await tab.open("overview?owners=all")
    await expect(tab.page.get_by_role("checkbox", name="All owners")).to_be_checked()
    await expect(tab.page.get_by_role("img", name=re.compile("^Runs"))).to_be_visible()
    figures = [url for url in asked if "/api/statistics" in url]
    assert figures
    assert all("all=true" in url for url in figures)


async def test_only_a_key_that_operates_sees_the_runs_of_all_owners(new_tab: NewTab, locked: Server) -> None:
    keys = {
        "ann": await locked.key("ann", "read", "write"),
        "bob": await locked.key("bob", "read", "write"),
        "operator": await locked.key("operator", "read", "operate"),
    }
    for owner in ("ann", "bob", "bob"):
        headers = bearer(keys[owner])
        thread = (await locked.http.post("/api/threads", json={}, headers=headers)).json()["thread_id"]
        body = {"content": "hello", "agent": "rememberer"}
        posted = await locked.http.post(f"/api/threads/{thread}/messages", json=body, headers=headers)
        await (await locked.stream(f"/api/runs/{posted.json()['run_id']}/events", headers)).to_end()
    for owner, own in (("ann", "runs 1"), ("bob", "runs 2"), ("operator", None)):
        page = (await new_tab(f"http://127.0.0.1:{locked.port}")).page
        await page.goto(f"http://127.0.0.1:{locked.port}/#/overview")
        await page.get_by_role("textbox", name="API key").fill(keys[owner])
        await page.get_by_role("button", name="Sign in").click()
        everyone = page.get_by_role("checkbox", name="All owners")
        chart = page.get_by_role("img", name=re.compile("^Runs"))
        if own is not None:
            await expect(chart).to_have_accessible_name(re.compile(rf": {own}\.$"))
            await expect(everyone).to_have_count(0)
        else:
            await everyone.check()
            await expect(chart).to_have_accessible_name(re.compile(r": runs 3\.$"))
