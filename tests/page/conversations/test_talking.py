"""Talking: agents introduce themselves, answers can be copied and made again, drafts stay, and Ctrl-K goes anywhere."""

from __future__ import annotations

import re

from playwright.async_api import Route, expect

from tests.page.conftest import Site
from tests.page.page_tab import Tab, answer, ended


async def test_agents_say_what_they_do_and_what_to_ask_and_drafts_survive(tab: Tab) -> None:
    page = tab.page
    await tab.open()
    agents = page.get_by_role("radiogroup", name="Agent")
    await expect(agents.get_by_role("radio", name="words", exact=True)).to_be_checked()
    await tab.choose("weigher")
    await expect(agents.locator("label").filter(has_text="weigher")).to_contain_text("Weighs what it is given.")
    await expect(agents).not_to_contain_text("Answers with a table")
    for name in ("porter", "sorter", "check_in", "customs"):  # an agent of channels, a task, a plan, a remote agent
        await expect(agents.get_by_role("radio", name=name)).to_have_count(0)
    await tab.choose("lounge")
    await expect(agents.locator("label").filter(has_text="lounge")).to_contain_text("Finds a seat in a lounge.")
    await expect(page.get_by_role("group", name="Examples").get_by_role("button")).to_have_text(["A quiet seat"])
    await tab.choose("weigher")
    examples = page.get_by_role("group", name="Examples").get_by_role("button")
    await expect(examples).to_have_text(["Weigh my bag", "How heavy is a bag that has nothing in it?"])
    await page.get_by_role("textbox", name="Message").fill("half a thought")
    await page.get_by_role("link", name="Runs").click()
    await expect(page.get_by_role("table", name="Runs")).to_be_visible()
    await page.get_by_role("link", name="Chats", exact=True).click()
    await expect(page.get_by_role("textbox", name="Message")).to_have_value("half a thought")
    await expect(agents.get_by_role("radio", name="weigher")).to_be_checked()
    await examples.first.click()
    await ended(tab.runs.last)
    await expect(page).to_have_title(re.compile(r"Weigh my bag · Runyard$"))
    await page.get_by_role("link", name="New chat", exact=True).click()  # the draft was not sent
    await expect(page.get_by_role("textbox", name="Message")).to_have_value("half a thought")
    await page.get_by_role("button", name="Send").click()
    await ended(tab.runs.last)
    await expect(page.get_by_role("textbox", name="Message")).to_have_value("")
    await page.get_by_role("link", name="New chat", exact=True).click()
    await expect(page.get_by_role("heading", name="Talk to an agent")).to_be_visible()
    await expect(page.get_by_role("textbox", name="Message")).to_have_value("")


async def test_a_message_whose_view_was_left_while_it_was_sent_is_no_draft(tab: Tab) -> None:
    page = tab.page
    await ended(await tab.begin("rememberer", "first"))
    held: list[Route] = []
    await page.route("**/messages", lambda route: held.append(route))
    async with page.expect_request("**/messages"):
        await tab.say("second")
    await page.get_by_role("link", name="Runs").click()
    await expect(page.get_by_role("table", name="Runs")).to_be_visible()
    async with page.expect_response("**/messages"):
        await held[0].continue_()
    await page.go_back()
    await ended(tab.run("second"))
    await expect(page.get_by_role("textbox", name="Message")).to_have_value("")


async def test_an_answer_has_tables_and_colours_and_can_be_copied_and_made_again(tab: Tab) -> None:
    page = tab.page
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await ended(await tab.begin("rememberer", "no code"))
    assert not any("/assets/highlight-" in url for url in asked), "colours are loaded when there is code"
    run = await tab.begin("weigher", "my bag")
    await ended(run)
    cell = answer(run).get_by_role("cell", name="12")
    assert await cell.evaluate("cell => getComputedStyle(cell).textAlign") == "right"
    await expect(answer(run).locator(".hl-keyword")).to_have_text(["def", "return"])
    await expect(answer(run).locator(".hl-comment")).to_have_text("# in kg")
    assert sum("/assets/highlight-" in url for url in asked) == 1
    await run.get_by_role("button", name="Copy answer").click()
    await expect(run.get_by_role("button", name="Copied")).to_be_visible()
    assert (await page.evaluate("navigator.clipboard.readText()")).startswith("| what | kg |")
    newest = page.get_by_role("button", name="Jump to newest")
    await page.locator(".chat .scroll").evaluate("box => box.scrollTo(0, 0)")
    await newest.click()
    await expect(newest).to_have_count(0)
    await run.get_by_role("button", name="Regenerate").click()
    await expect(page.get_by_role("group", name="Branches")).to_contain_text("2/2")
    await ended(tab.runs.last)


async def test_words_of_a_chat_and_a_part_of_the_id_of_a_run_go_there(tab: Tab, any_site: Site) -> None:
    page = tab.page
    await ended(await tab.begin("rememberer", "Where do the bitterns of Aveiro sleep?"))
    chat = page.url
    run_id = str(await tab.runs.last.get_attribute("data-run"))
    await ended(await tab.begin("rememberer", "a title that hides the words"))
    for wanted, option, url in (
        ("bitterns aveiro", "message in", re.escape(chat)),
        (run_id[-8:].upper(), run_id, f"#/runs/{run_id}$"),
        (run_id, run_id, f"#/runs/{run_id}$"),
    ):
        await page.keyboard.press("Control+k")
        await page.keyboard.type(wanted)
        await page.get_by_role("option").filter(has_text=option).first.click()
        await expect(page).to_have_url(re.compile(url))
        await tab.open("overview")


async def test_a_search_that_fails_hides_no_run_and_an_id_is_opened_without_the_server(
    tab: Tab, any_site: Site
) -> None:
    page = tab.page
    run_id = await any_site.api.post("rememberer", "a run", await any_site.api.thread(agent="rememberer"))
    await any_site.api.ended(run_id)
    await tab.open()
    held: list[Route] = []
    await page.route(re.compile(r"/api/search\?"), lambda route: held.append(route))
    await page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Go to")
    async with page.expect_request(re.compile(r"/api/search\?")):
        await page.keyboard.type("no such words")
    await expect(dialog.get_by_text("Searching…")).to_be_visible()
    await held[0].abort()
    await expect(dialog.get_by_role("alert")).to_contain_text("The server does not answer.")
    await expect(dialog.get_by_text("Nothing is called like that.")).to_have_count(0)
    await page.route("**/api/**", lambda route: route.abort())
    await dialog.get_by_role("searchbox").fill(run_id)
    await expect(dialog.get_by_role("option")).to_have_text([f"{run_id}run"])
    await page.unroute("**/api/**")
    await dialog.get_by_role("searchbox").fill(run_id[-8:])
    await expect(dialog.get_by_role("option")).to_have_text([f"{run_id}run"])
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(f"#/runs/{run_id}$"))


async def test_a_few_letters_go_anywhere(tab: Tab) -> None:
    page = tab.page
    await tab.open()
    await expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("searchbox", name="Command")).to_be_focused()
    await page.keyboard.type("inbox")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("talk weigh")
    await expect(page.get_by_role("option")).to_have_count(1)
    await page.keyboard.press("Enter")
    agents = page.get_by_role("radiogroup", name="Agent")
    await expect(agents.get_by_role("radio", name="weigher")).to_be_checked()
