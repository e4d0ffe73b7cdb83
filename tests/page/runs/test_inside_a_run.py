"""Inside a run: the requests to its model, its cost, its origin, and its actions."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.page.conftest import Site
from tests.page.page_tab import Tab, answer, ended
from tests.support.eventually import eventually

TIME = re.compile(r"^\d+(\.\d+)? m?s$")


async def test_each_step_shows_its_cost_and_request_and_the_run_continues_in_a_fork(tab: Tab, any_site: Site) -> None:
    page = tab.page
    run = await tab.begin("traveller", "to Rome")
    await ended(run)
    await run.get_by_role("link", name="Inspect run").click()
    rows = page.get_by_role("region", name="Model steps").get_by_role("row")
    await expect(rows).to_have_count(3)
    await expect(rows.nth(2)).to_have_text(re.compile(r"turn#2\s*scripted\s*20\s*5\s*\$0\.01"))
    await rows.nth(2).get_by_role("button", name="Rebuilt request of turn#2").click()
    sent = page.get_by_role("dialog", name="Rebuilt request of turn#2 to scripted")
    await expect(sent).to_contain_text("The log has no requests.")
    await expect(sent.get_by_role("region", name="Messages").locator("figcaption")).to_have_text(
        [re.compile(role) for role in ("^user", "^assistant", "^tool")]
    )
    await expect(sent.get_by_role("region", name="Messages")).to_contain_text("booked the train")
    await expect(sent.get_by_role("region", name="Tools")).to_contain_text("book")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("link", name="started by a message in a chat")).to_be_visible()
    await page.get_by_role("button", name="Continue from here").click()
    await page.get_by_role("textbox", name="What to say after event").fill("and now?")
    await page.get_by_role("button", name="Continue", exact=True).click()
    await ended(tab.run("and now?"))
    await expect(answer(tab.run("and now?"))).to_have_text("I was told 5 messages.")
    any_site.gates.calls.clear()


async def test_the_instructions_and_tools_of_a_step_are_shown_and_a_step_of_a_framework_is_explained(tab: Tab) -> None:
    page = tab.page
    sent = page.get_by_role("dialog")
    for agent, end in (("tireless", "done"), ("geographer", "done")):
        run = await tab.begin(agent, "go on")
        await ended(run, end)
        await run.get_by_role("link", name="Inspect run").click()
        await page.get_by_role("button", name="Rebuilt request of turn#1").click()
        if agent == "tireless":
            messages = sent.get_by_role("region", name="Messages")
            await expect(messages.locator("figcaption")).to_have_text([re.compile("^system"), re.compile("^user")])
            await expect(messages).to_contain_text("You never rest.")
            await expect(sent.get_by_role("region", name="Tools")).to_contain_text("ponder")
        else:
            await expect(sent).to_contain_text("pydantic-ai makes the requests of agent geographer.")
        await page.keyboard.press("Escape")


async def test_a_run_that_has_started_is_not_in_the_queue_and_can_be_stopped_and_retried(tab: Tab) -> None:
    page = tab.page
    run = await tab.begin("listener", "says nothing yet")
    await expect(run.get_by_role("status")).to_have_text("Working")
    await run.get_by_role("link", name="Inspect run").click()
    head = page.get_by_role("main").locator("header")
    await expect(head).to_contain_text("running")
    await expect(page.get_by_role("region", name="Facts")).not_to_contain_text("still")
    await head.get_by_role("button", name="Stop").click()
    await expect(head).to_contain_text("canceled")
    first = page.url
    await head.get_by_role("button", name="Retry").click()
    await expect(page).not_to_have_url(first)
    await expect(head).to_contain_text("running")
    await head.get_by_role("button", name="Stop").click()
    await expect(head).to_contain_text("canceled")


async def test_two_runs_are_compared_side_by_side(tab: Tab) -> None:
    page = tab.page
    await ended(await tab.begin("traveller", "to Rome"))
    await ended(await tab.begin("traveller", "elsewhere"))
    await page.get_by_role("navigation", name="Main").get_by_role("link", name="Runs").click()
    for row in (2, 1):
        await page.get_by_role("table", name="Runs").get_by_role("row").nth(row).get_by_role("checkbox").check()
    await page.get_by_role("link", name="Compare", exact=True).click()
    table = page.get_by_role("table", name="Comparison")
    await expect(table.get_by_role("row", name="tools")).to_contain_text("book")
    await expect(table.get_by_role("row", name="tools")).to_contain_text("none")
    await expect(table.get_by_role("row", name="cost")).to_contain_text("$0.01")
    for name in ("in the queue", "took"):
        await expect(table.get_by_role("row", name=name).get_by_role("cell")).to_have_text([TIME, TIME])
    texts = page.get_by_role("note", name="Difference of the texts")
    await expect(texts.locator("del")).to_have_text(re.compile(r"All is \*\*booked\*\*\."))
    await expect(texts.locator("ins")).to_have_text(re.compile("I was told 1 messages."))


async def test_a_run_links_to_the_message_in_a_channel_that_started_it(tab: Tab, any_site: Site) -> None:
    http = any_site.api.http
    any_site.gates.open["porter"].set()
    dm = (await http.post("/api/dms", json={"agentId": "porter"})).json()["id"]
    for text in ("first", "carry this"):
        await http.post("/api/messages", json={"dmConversationId": dm, "text": text})

    async def runs() -> list[dict[str, str]]:
        found = (await http.get("/api/agents/porter/runs")).json()["runs"]
        return found if len(found) == 2 and all(run["status"] == "completed" for run in found) else []

    newest = (await eventually("both runs have ended", runs))[0]
    await tab.open(f"runs/{newest['id']}")
    await tab.page.get_by_role("link", name="started by a message in a DM").click()
    marked = tab.page.locator("article[aria-current=true]")
    await expect(marked).to_contain_text("carry this")
    await expect(marked).to_be_in_viewport()
