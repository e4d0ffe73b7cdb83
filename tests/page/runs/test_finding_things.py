"""Chats are found by their words and titles, renamed, exported and deleted; runs are found by what is known of them."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

from playwright.async_api import Locator, Page, Route, expect

from tests.page.conftest import Site
from tests.page.page_tab import Tab, ended


async def saved(page: Page, format: str) -> tuple[str, str]:
    """The name and the content of the file that an export saves."""
    async with page.expect_download() as waiting:
        await page.get_by_role("dialog").get_by_role("button", name=format, exact=True).click()
    download = await waiting.value
    content = await asyncio.to_thread(Path(await download.path()).read_text, "utf-8")
    return download.suggested_filename, content


async def test_messages_of_all_chats_are_searched_on_the_server_with_the_words_marked(tab: Tab) -> None:
    page = tab.page
    await ended(await tab.begin("rememberer", "Where do the herons of Lisbon sleep?"))
    found = page.url
    await ended(await tab.begin("rememberer", "Something else"))
    chats = page.get_by_role("navigation", name="Chats")
    search = chats.get_by_role("searchbox", name="Search chats")
    await search.fill("lisb hero")
    hit = chats.get_by_role("list", name="Found").get_by_role("link")
    await expect(hit).to_have_count(1)
    await expect(hit.locator("mark")).to_have_text(["herons", "Lisbon"])
    await hit.click()
    await expect(page).to_have_url(re.compile(f"^{re.escape(found)}/"))
    await expect(tab.run("Where do the herons of Lisbon sleep?")).to_be_visible()
    await search.fill("no-such-word")
    await expect(chats.get_by_text("No message has these words.")).to_be_visible()
    await search.fill("")
    await expect(chats.get_by_role("link", name="Something else")).not_to_have_count(0)


async def test_a_hit_opens_the_chat_at_its_message_with_the_words_marked(tab: Tab, any_site: Site) -> None:
    api, page = any_site.api, tab.page
    thread = await api.thread(agent="words")
    texts = ["How many storks nest in Porto?\nThe STORKS of the old bridge.", *(f"line\n\n{n}" for n in range(9))]
    for name in texts:
        any_site.gates.open[name].set()
    run_ids = [await api.post("words", text, thread) for text in texts]
    await api.ended(run_ids[-1])
    await tab.open(f"chats/{thread}")
    first = tab.runs.first
    await expect(first).not_to_be_in_viewport()
    await page.get_by_role("searchbox", name="Search chats").fill("stork")
    await page.get_by_role("list", name="Found").get_by_role("link").click()
    await expect(first.get_by_test_id("question")).to_be_in_viewport(ratio=1)
    await expect(first).to_have_attribute("aria-current", "true")
    marked = "() => [...(CSS.highlights.get('found-words') ?? [])].map(String)"
    assert await page.evaluate(marked) == ["storks", "STORKS"]
    await expect(tab.runs.last).not_to_be_in_viewport()
    await page.reload()  # the address names the message
    await expect(first.get_by_test_id("question")).to_be_in_viewport(ratio=1)
    await page.get_by_role("button", name="Jump to newest").click()
    await expect(tab.runs.last.get_by_role("link", name="Inspect run")).to_be_in_viewport()


async def test_the_chat_with_the_last_message_is_the_first(tab: Tab) -> None:
    page = tab.page
    await ended(await tab.begin("rememberer", "an old heron"))
    old = page.url
    await ended(await tab.begin("rememberer", "a new heron"))
    rows = page.get_by_role("navigation", name="Chats").get_by_role("list").get_by_role("link")
    await expect(rows.nth(0)).to_contain_text("a new heron")
    await expect(rows.nth(1)).to_contain_text("an old heron")
    await page.goto(old)
    await tab.say("awake?")
    await ended(tab.run("awake?"))
    await expect(rows.nth(0)).to_contain_text("an old heron")
    await expect(rows.nth(0)).to_have_attribute("aria-current", "page")


async def test_a_chat_is_renamed_exported_and_deleted(tab: Tab, any_site: Site) -> None:
    page = tab.page
    await ended(await tab.begin("rememberer", "Plan my trip"))
    thread = page.url.rpartition("/")[2]
    await expect(page).to_have_title("Plan my trip · Runyard")
    await page.get_by_role("button", name="Options").click()
    dialog = page.get_by_role("dialog", name="Chat options")
    await expect(dialog.get_by_role("textbox", name="Title")).to_have_value("Plan my trip")
    await dialog.get_by_role("textbox", name="Title").fill("To the sea")
    await page.keyboard.press("Enter")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("heading", name="Chat: To the sea")).to_be_visible()
    rows = page.get_by_role("navigation", name="Chats").get_by_role("link")
    await expect(rows.filter(has_text="To the sea")).to_have_count(1)
    await page.reload()  # the server keeps it
    await expect(page).to_have_title("To the sea · Runyard")

    await page.get_by_role("button", name="Options").click()
    name, text = await saved(page, "Markdown")
    assert (name, text.splitlines()[0]) == ("to-the-sea.md", "# To the sea")
    assert "Plan my trip" in text
    name, text = await saved(page, "JSON")
    assert (name, json.loads(text)["thread_id"]) == ("to-the-sea.json", thread)

    await dialog.get_by_role("button", name="Delete chat").click()
    await dialog.get_by_role("button", name="Keep it").click()
    await dialog.get_by_role("button", name="Delete chat").click()
    await dialog.get_by_role("button", name="Delete for good").click()
    await expect(page.get_by_role("heading", name="Talk to an agent")).to_be_visible()
    await expect(rows.filter(has_text="To the sea")).to_have_count(0)
    assert (await any_site.api.http.get(f"/api/threads/{thread}")).status_code == 404


async def test_runs_are_filtered_by_all_that_is_known_of_them(tab: Tab, any_site: Site) -> None:
    api, page = any_site.api, tab.page
    cheap, dear, broken = [
        await api.post(agent, "to Rome", await api.thread(agent=agent))
        for agent in ("rememberer", "traveller", "failing")
    ]
    for run_id in (cheap, dear, broken):
        await api.ended(run_id)
    any_site.gates.calls.clear()
    await tab.open("runs")
    table = page.get_by_role("table", name="Runs")

    def row(run_id: str) -> Locator:
        return table.get_by_role("link", name=run_id[-8:], exact=True)

    async def shows(*wanted: str) -> None:
        for run_id in (cheap, dear, broken):
            await expect(row(run_id)).to_have_count(1 if run_id in wanted else 0)

    async def chosen(name: str, value: str, *wanted: str) -> None:
        await page.get_by_role("combobox", name=name, exact=True).select_option(value)
        await shows(*wanted)
        await page.get_by_role("combobox", name=name, exact=True).select_option("all")

    await shows(cheap, dear, broken)
    await chosen("Status", "error", broken)
    await chosen("Agent", "traveller", dear)
    await chosen("Age", "last hour", cheap, dear, broken)
    await chosen("Cost", "$0.01 or more", dear)
    await chosen("Cost", "$10 or more")
    await page.get_by_role("searchbox", name="Error code").fill("agent_error")
    await shows(broken)
    await page.get_by_role("searchbox", name="Error code").fill("")
    await page.get_by_role("searchbox", name="Run id").fill(cheap[-8:].upper())
    await shows(cheap)
    await page.get_by_role("searchbox", name="Run id").fill("0000ffff")
    await expect(page.get_by_text("No run fits.")).to_be_visible()
    await page.get_by_role("searchbox", name="Run id").fill(dear)
    await shows(dear)
    await table.get_by_role("row").nth(1).get_by_role("cell").last.click(force=True)  # a row is a link
    await expect(page).to_have_url(f"{any_site.url}/#/runs/{dear}")
    await expect(page.get_by_role("slider", name="Event")).to_be_visible()


async def test_a_list_of_all_pages_says_that_older_runs_need_a_filter(tab: Tab, any_site: Site) -> None:
    run_id = await any_site.api.post("rememberer", "one of many", await any_site.api.thread(agent="rememberer"))
    await any_site.api.ended(run_id)
    [row] = (await any_site.api.http.get("/api/runs", params={"limit": 1})).json()["runs"]
    asked: list[str] = []

    async def one(route: Route) -> None:
        asked.append(route.request.url)
        await route.fulfill(json={"runs": [{**row, "run_id": f"run-{len(asked)}"}], "next": "older"})

    await tab.page.route(re.compile(r"/api/runs\?.*limit=50"), one)
    await tab.open("runs?pages=40")
    await expect(tab.page.get_by_text("Older runs: use a filter.")).to_be_visible()
    await expect(tab.page.get_by_role("button", name="Earlier runs")).to_have_count(0)


async def test_a_filter_of_the_address_is_on_screen_or_dropped(tab: Tab) -> None:
    await tab.open("runs?status=ended&agent=of-old&age=constructor&cost=$2")
    for name, value in {"Status": "", "Agent": "of-old", "Age": "", "Cost": ""}.items():
        await expect(tab.page.get_by_role("combobox", name=name, exact=True)).to_have_value(value)
    await expect(tab.page.get_by_text("No run fits.")).to_be_visible()


async def test_filters_and_pages_stay_when_a_run_was_opened(tab: Tab, any_site: Site) -> None:
    api, page = any_site.api, tab.page
    run_id = await api.post("failing", "try", await api.thread(agent="failing"))
    await api.ended(run_id)
    await tab.open("runs")
    row = page.get_by_role("table", name="Runs").get_by_role("link", name=run_id[-8:], exact=True)
    await page.get_by_role("combobox", name="Status").select_option("error")
    await page.get_by_role("searchbox", name="Error code").fill("agent_error")
    await expect(page).to_have_url(f"{any_site.url}/#/runs?status=error&error=agent_error")
    await row.click()
    await expect(page.get_by_role("slider", name="Event")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("combobox", name="Status")).to_have_value("error")
    await expect(page.get_by_role("searchbox", name="Error code")).to_have_value("agent_error")
    await expect(row).to_be_visible()
    await tab.open("overview?days=7&agent=failing&owners=all")
    await expect(page.get_by_role("combobox", name="Days")).to_have_value("7")
    await expect(page.get_by_role("combobox", name="Agent")).to_have_value("failing")
    await expect(page.get_by_role("checkbox", name="All owners")).to_be_checked()
    await page.get_by_role("combobox", name="Days").select_option("30")
    await expect(page).to_have_url(f"{any_site.url}/#/overview?days=30&agent=failing&owners=all")


async def test_the_list_and_the_inspector_agree_on_a_run_that_has_started(tab: Tab, any_site: Site) -> None:
    page = tab.page
    run = await tab.begin("listener", "says nothing yet")
    await expect(run.get_by_role("status")).to_have_text("Working")
    run_id = str(await run.get_attribute("data-run"))
    await tab.open("runs")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=run_id[-8:]))
    await expect(row).to_contain_text("running")
    waited = await row.get_by_role("cell").nth(5).text_content()
    assert waited, "the list knows how long it was in the queue"
    await tab.open(f"runs/{run_id}")
    await expect(page.get_by_role("main").locator("header")).to_contain_text("running")
    facts = page.get_by_role("region", name="Facts")
    await expect(facts).to_contain_text(f"in the queue{waited}")
    await any_site.api.http.post(f"/api/runs/{run_id}/cancel")
    await expect(facts).to_contain_text("took")
    await tab.open("runs")
    await expect(row).to_contain_text("canceled")
    took = await row.get_by_role("cell").nth(6).text_content()
    await page.go_back()
    await expect(facts).to_contain_text(f"took{took}")
