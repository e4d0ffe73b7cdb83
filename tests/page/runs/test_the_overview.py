"""The dashboard counts runs, failures, time and cost by day and by agent."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.page.conftest import Site
from tests.page.page_tab import Tab


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
    first = page.get_by_role("img", name=re.compile("^First token"))
    await expect(first).to_have_accessible_name(re.compile(r"^First token\. \S+: p95 \d+(\.\d)? m?s, p50 \d+"))
    await expect(page.get_by_text("No run waits in the queue.")).to_be_visible()
    await page.get_by_role("combobox", name="Agent").select_option("traveller")
    await expect(chart).to_have_accessible_name(re.compile(r": runs 2\.$"))
    await page.get_by_role("combobox", name="Days").select_option("7")
    await expect(chart.locator("rect")).to_have_count(14)
    await page.get_by_role("checkbox", name="All owners").check()
    await expect(page.get_by_text("Runs of all owners.")).to_be_visible()
    await expect(chart).to_have_accessible_name(re.compile(r": runs 2\.$"))
