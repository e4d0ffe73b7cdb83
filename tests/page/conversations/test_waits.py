"""Questions, tools of the client, children and timers on the page."""

from __future__ import annotations

import re
from typing import Any

from playwright.async_api import Locator, expect

from tests.page.conftest import NewTab, Site
from tests.page.page_tab import Tab, answer, ended
from tests.support.eventually import eventually


def question(tab: Tab, about: str) -> Locator:
    return tab.page.get_by_role("group", name=f"Question Which seat for {about}?")


async def answered(any_site: Site, run_id: str) -> list[Any]:
    log = await any_site.api.http.get(f"/api/runs/{run_id}/state")
    return [wait["value"] for wait in log.json()["waits"].values() if wait["state"] == "answered"]


async def test_a_question_is_a_form_in_the_chat_and_a_client_tool_another(new_tab: NewTab, any_site: Site) -> None:
    tab = await new_tab(any_site.url)
    run = await tab.begin("booker", "a chat")
    form = question(tab, "a chat")
    await form.get_by_role("button", name="Answer").click()
    await expect(form.get_by_label("row")).to_have_attribute("aria-invalid", "true")
    await expect(form.get_by_label("row")).to_be_focused()
    await form.get_by_label("row").fill("31")
    await form.get_by_label("side").select_option("right")
    await form.get_by_label("vegan").select_option("yes")
    await form.get_by_label("bags").fill("one, two")
    await form.get_by_label("name").fill("Ann")
    await form.get_by_role("button", name="Answer").click()
    await expect(form).to_contain_text("It must be at most 30.")
    await expect(form.get_by_label("row")).to_have_attribute("aria-invalid", "true")
    await form.get_by_label("row").fill("12")
    await form.get_by_label("row").press("Enter")

    tool = tab.page.get_by_role("group", name="Client tool locate")
    await tool.get_by_label("Answer").fill("not JSON")
    await tool.get_by_role("button", name="Send result").click()
    await expect(tool).to_contain_text("This is not JSON yet.")
    await tool.get_by_label("Answer").fill('"Oslo"')
    await tool.get_by_role("button", name="Send result").click()
    await ended(run)
    await expect(answer(run)).to_contain_text("from Oslo.")
    await expect(run).to_contain_text("Answered by local")
    run_id = await run.get_attribute("data-run") or ""
    seat = {"row": 12, "side": "right", "vegan": True, "bags": ["one", "two"], "guest": {"name": "Ann"}}
    assert await answered(any_site, run_id) == [seat, "Oslo"]


async def test_the_inbox_has_questions_and_client_tools_beside_approvals(new_tab: NewTab, any_site: Site) -> None:
    await any_site.api.waiting(await any_site.api.post("mailer", "before"))
    run_id = await any_site.api.post("booker", "the inbox")
    await any_site.api.waiting(run_id)
    tab = await new_tab(any_site.url)
    await tab.open("approvals")
    items = tab.page.get_by_role("list", name="Waiting").get_by_role("listitem")
    asked = items.filter(has_text="Which seat for the inbox?")
    await expect(asked).to_be_visible()
    for _ in range(await items.count()):
        if await asked.get_attribute("aria-current") == "true":
            break
        await tab.page.keyboard.press("j")
    await expect(asked).to_have_attribute("aria-current", "true")
    await tab.page.keyboard.press("a")  # approves nothing: it is a question
    await tab.page.keyboard.press("e")
    await expect(asked.get_by_label("row")).to_be_focused()
    await expect(asked.get_by_label("row")).to_have_value("")
    await asked.get_by_label("row").fill("7")
    await asked.get_by_label("side").select_option("left")
    await asked.get_by_role("button", name="Answer").click()
    await expect(asked).to_have_count(0)
    assert await answered(any_site, run_id) == [{"row": 7, "side": "left"}]
    await any_site.api.waiting(run_id, times=2)
    tool = items.filter(has_text="tool locate")
    report = tool.get_by_role("button", name="Report a failure")
    form = tool.get_by_role("textbox", name="What went wrong")

    async def opened() -> bool:  # a click right after the list has changed has no effect, on purpose
        if await report.is_visible():
            await report.click()
        return await form.is_visible()

    await eventually("the form is open", opened)
    await form.fill("no position")
    await tool.get_by_role("button", name="Confirm failure").click()
    await expect(tool).to_have_count(0)


async def test_the_inspector_links_children_draws_their_bars_and_counts_down(new_tab: NewTab, any_site: Site) -> None:
    run_id = await any_site.api.post("parent")
    await any_site.api.waiting(run_id)
    waits = (await any_site.api.http.get(f"/api/runs/{run_id}/state")).json()["waits"]
    [child] = [wait["child"] for wait in waits.values()]
    await any_site.api.waiting(child)
    tab = await new_tab(any_site.url)
    await tab.open(f"runs/{run_id}")
    chart = tab.page.get_by_role("region", name="Waterfall")
    await expect(chart.get_by_role("link", name="booker")).to_have_attribute("href", f"#/runs/{child}")
    nested = chart.locator("li[data-level='1']")
    await expect(nested.filter(has_text="Which seat for a child?")).to_be_visible()
    await chart.get_by_role("button", name=f"Bars of run {child[-8:]}").click()
    await expect(nested).to_have_count(0)
    [asked] = (await any_site.api.http.get(f"/api/waits?run_id={child}")).json()["waits"]
    answered = await any_site.api.http.post(
        f"/api/waits/{asked['wait_id']}", json={"value": {"row": 1, "side": "left"}}
    )
    assert answered.status_code == 200
    tool = await any_site.api.waiting(child, times=2)
    assert (await any_site.api.http.post(f"/api/waits/{tool}", json={"value": 1})).status_code == 200
    left = tab.page.locator("[data-state=pending] time.left")
    await expect(left).to_have_text(re.compile(r"^59:\d\d$"))
    before = await left.text_content() or ""
    await expect(left).not_to_have_text(before)
    await any_site.api.http.post(f"/api/runs/{run_id}/cancel")
    await expect(left).to_have_count(0)
