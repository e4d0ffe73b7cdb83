"""The first minute of a visitor, step by step, on SQLite and on two pods behind a proxy."""

import asyncio

from playwright.async_api import Route, expect

from tests.page.conftest import NewTab, Site
from tests.page.page_agents import STREAMED
from tests.page.page_tab import Tab, answer, ended


async def test_a_person_asks_and_watches_the_agent_think_and_write(tab: Tab, any_site: Site) -> None:
    run = await tab.begin("words", "watch")
    await expect(answer(run)).to_have_text("one two three")
    await expect(run).to_have_attribute("data-status", "running")
    await expect(run.get_by_text("I shall count.")).to_be_hidden()
    await run.get_by_text("Thinking").click()
    await expect(run.get_by_text("I shall count.")).to_be_visible()
    any_site.gates.open["watch"].set()
    await ended(run)
    await expect(answer(run)).to_have_text(STREAMED)
    await expect(tab.page.get_by_role("button", name="Stop")).to_have_count(0)
    await expect(tab.page.get_by_role("navigation", name="Chats").get_by_role("link", name="watch")).to_be_visible()


async def test_a_person_approves_edits_and_rejects(tab: Tab, any_site: Site) -> None:
    card = tab.approval("send_mail")
    first = await tab.begin("mailer", "ann")
    await expect(tab.page).to_have_title("(1) ann · Runyard")
    await card.get_by_role("button", name="Approve").click()
    await ended(first)
    await expect(answer(first)).to_have_text("sent to ann")

    await tab.say("bob")
    await card.get_by_role("button", name="Edit input").click()
    await card.get_by_role("textbox", name="Input as JSON").fill('{"to": 7}')
    await card.get_by_role("button", name="Approve with this input").click()
    await expect(card.get_by_role("alert")).to_contain_text("do not fit")
    await card.get_by_role("textbox", name="Input as JSON").fill('{"to": "carol"}')
    await card.get_by_role("button", name="Approve with this input").click()
    await ended(tab.run("bob"))
    await expect(answer(tab.run("bob"))).to_have_text("sent to carol")

    await tab.say("dave")
    await card.get_by_role("button", name="Reject").click()
    await card.get_by_role("textbox", name="Reason").fill("he is on holiday")
    await card.get_by_role("button", name="Confirm rejection").click()
    await ended(tab.run("dave"))
    await expect(answer(tab.run("dave"))).to_contain_text("he is on holiday")
    await expect(tab.page).to_have_title("ann · Runyard")
    calls = {name: count for name, count in any_site.gates.calls.items() if name.startswith("mail ")}
    assert calls == {"mail ann": 1, "mail carol": 1}
    any_site.gates.calls.clear()


async def test_the_button_stop_stops_the_run(tab: Tab) -> None:
    run = await tab.begin("words", "never opened")
    await expect(answer(run)).to_have_text("one two three")
    await tab.page.get_by_role("button", name="Stop").click()
    await ended(run, "canceled")
    await expect(answer(run)).to_have_text("one two three")
    await expect(run.get_by_text("Stopped.")).to_be_visible()
    await expect(tab.page.get_by_role("button", name="Stop")).to_have_count(0)


async def test_a_person_edits_an_earlier_message_and_looks_at_the_old_branch(tab: Tab) -> None:
    await ended(await tab.begin("rememberer", "first"))
    await tab.say("second")
    await ended(tab.run("second"))
    await expect(answer(tab.run("second"))).to_have_text("first | nothing")
    await tab.run("first").get_by_role("button", name="Edit message").click()
    await tab.page.get_by_role("textbox", name="Edited message").fill("better")
    await tab.page.get_by_role("button", name="Save and run").click()
    await ended(tab.run("better"))
    await expect(tab.runs).to_have_count(1)
    branches = tab.page.get_by_role("group", name="Branches")
    await expect(branches).to_contain_text("2/2")
    await branches.get_by_role("button", name="Earlier branch").click()
    await expect(tab.runs).to_have_count(2)
    await expect(answer(tab.run("second"))).to_have_text("first | nothing")
    await tab.page.get_by_role("group", name="Branches").get_by_role("button", name="Later branch").click()
    await expect(tab.run("better")).to_be_visible()
    await expect(tab.runs).to_have_count(1)


async def test_a_reload_and_a_second_tab_lose_nothing_and_show_nothing_twice(tab: Tab, any_site: Site) -> None:
    run = await tab.begin("words", "reloaded")
    await expect(answer(run)).to_have_text("one two three")
    await tab.page.reload()
    await expect(answer(tab.runs.last)).to_have_text("one two three")
    other = await tab.beside()
    await expect(answer(other.runs.last)).to_have_text("one two three")
    any_site.gates.open["reloaded"].set()
    for each in (tab, other):
        await ended(each.runs.last)
        await expect(each.runs).to_have_count(1)
        await expect(answer(each.runs.last)).to_have_text(STREAMED)
    assert (other.strays, other.errors) == ([], [])


async def test_of_two_tabs_that_decide_one_counts_and_both_see_it(new_tab: NewTab, any_site: Site) -> None:
    one, other = await new_tab(any_site.url), await new_tab(any_site.url)
    await one.begin("mailer", "eve")
    await other.page.goto(one.page.url)
    held = asyncio.Event()

    async def hold(route: Route) -> None:
        held.set()
        await ended(one.runs.last)
        await route.continue_()

    await other.page.route("**/api/approvals/*", hold)
    await other.approval("send_mail").get_by_role("button", name="Reject").click()
    await other.approval("send_mail").get_by_role("button", name="Confirm rejection").click()
    await held.wait()
    async with other.page.expect_response("**/api/approvals/*") as refused:
        await one.approval("send_mail").get_by_role("button", name="Approve").click()
    assert (await refused.value).status == 409
    for each in (one, other):
        await ended(each.runs.last)
        await expect(answer(each.runs.last)).to_have_text("sent to eve")
        await expect(each.runs.last.get_by_text("Approved")).to_be_visible()
    assert any_site.gates.calls["mail eve"] == 1
    any_site.gates.calls.clear()


async def test_a_person_looks_into_a_run_travels_back_and_forks_there(tab: Tab, any_site: Site) -> None:
    page = tab.page
    run = await tab.begin("traveller", "to Rome")
    await ended(run)
    any_site.gates.calls.clear()
    await run.get_by_role("link", name="Inspect run").click()
    await expect(page.get_by_role("heading", name="Run")).to_be_visible()
    await expect(page.get_by_role("region", name="Facts")).to_contain_text("traveller")
    await expect(page.get_by_role("region", name="Waterfall")).to_contain_text("book")
    slider = page.get_by_role("slider", name="Event")
    last = int(await slider.input_value())
    then = page.get_by_role("log", name="Conversation at seq")
    await expect(then.get_by_test_id("answer")).to_have_text("All is booked.")
    row = page.get_by_role("list", name="Raw events").get_by_role("listitem").filter(has_text="tool.finished").first
    at = int(await row.get_attribute("data-seq") or "0")
    await row.get_by_role("button").click()
    await expect(slider).to_have_value(str(at))
    assert at < last
    await expect(then.get_by_test_id("answer")).to_have_count(0)
    await expect(then.get_by_role("group", name="Tool call book")).to_have_attribute("data-state", "finished")
    await slider.press("ArrowLeft")
    await expect(then.get_by_role("group", name="Tool call book")).to_have_attribute("data-state", "started")
    await slider.press("ArrowRight")
    await page.get_by_role("button", name="Fork from here").click()
    await expect(tab.run("to Rome")).to_have_attribute("data-status", "canceled")
    await tab.say("and now?")
    await ended(tab.run("and now?"))
    await expect(answer(tab.run("and now?"))).to_have_text("I was told 4 messages.")
    assert any_site.gates.calls["book train"] == 0, "what was done is not done again"


async def test_all_that_waits_is_in_one_inbox_that_keys_can_work_through(tab: Tab, any_site: Site) -> None:
    page = tab.page
    for name in ("gina", "hugo"):
        await tab.begin("mailer", name)
        await expect(tab.approval("send_mail")).to_be_visible()
    await page.get_by_role("navigation", name="Main").get_by_role("link", name="Inbox").click()
    waiting = page.get_by_role("list", name="Waiting").get_by_role("listitem")
    await expect(waiting).to_have_count(2)
    await expect(page).to_have_title("(2) Runyard")
    for key, place in (("k", 0), ("j", 1)):  # "k" stays at the first item, whether it was selected or not
        await page.keyboard.press(key)
        await expect(waiting.nth(place)).to_have_attribute("aria-current", "true")
    await page.keyboard.press("a")
    await expect(waiting).to_have_count(1)
    await page.keyboard.press("r")
    await expect(waiting.get_by_role("textbox")).to_be_focused()
    await page.keyboard.type("no")
    await page.keyboard.press("Enter")
    await expect(waiting).to_have_count(0)
    await expect(page).to_have_title("Runyard")
    assert sum(any_site.gates.calls.values()) == 1
    any_site.gates.calls.clear()


async def test_runs_are_listed_by_how_they_are(tab: Tab) -> None:
    page = tab.page
    run = await tab.begin("rememberer", "list me")
    await ended(run)
    await page.get_by_role("navigation", name="Main").get_by_role("link", name="Runs").click()
    await page.get_by_role("combobox", name="Status").select_option("done")
    table = page.get_by_role("table", name="Runs")
    await expect(table.get_by_role("row").nth(1)).to_contain_text("rememberer")
    await table.get_by_role("link").first.click()
    await expect(page.get_by_role("slider", name="Event")).to_be_visible()


async def test_a_failed_run_says_what_to_do(tab: Tab) -> None:
    run = await tab.begin("failing", "try")
    await ended(run, "error")
    await expect(run.get_by_role("alert")).to_contain_text("The agent failed with ValueError.")
    await expect(run.get_by_role("button", name="Try again")).to_be_visible()
    assert "only the owner reads this" not in await tab.page.content()


async def test_the_owner_of_a_run_sees_the_traceback_of_their_agent(tab: Tab) -> None:
    page = tab.page
    run = await tab.begin("failing", "break")
    await ended(run, "error")
    await expect(run).not_to_contain_text("Traceback")
    await run.get_by_role("link", name="Inspect run").click()
    tracebacks = page.get_by_role("region", name="Tracebacks")
    await expect(tracebacks).to_contain_text("ValueError: only the owner reads this")
    await expect(tracebacks).to_contain_text("in failing")
    await page.get_by_role("slider", name="Event").press("Home")
    await expect(tracebacks).to_have_count(0)


async def test_a_run_that_a_limit_stopped_says_which(tab: Tab) -> None:
    run = await tab.begin("tireless", "go on")
    await ended(run)
    await expect(run).to_contain_text("The agent stopped early: it has used all its turns (max_turns).")
