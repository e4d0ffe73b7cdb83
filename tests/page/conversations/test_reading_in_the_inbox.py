"""The inbox shows what a decision is about: the whole message that led to it, and the input in its tool's order."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.page.conftest import Site
from tests.page.page_tab import Tab


async def test_a_long_message_is_read_to_its_end_and_its_input_is_in_the_order_of_the_tool(
    tab: Tab, any_site: Site
) -> None:
    message = "bob, " + "who was late. " * 80 + "THE END"
    wait = await any_site.api.waiting(run_id := await any_site.api.post("payer", message))
    page = tab.page
    await tab.open(f"approvals/{wait}")
    item = page.get_by_role("list", name="Waiting").get_by_role("listitem")
    led = item.get_by_label("The message that led here")
    await expect(led).to_contain_text("…")
    await expect(led).not_to_contain_text("THE END")
    await item.get_by_role("button", name="Show the whole message").click()
    await expect(led).to_have_text(message)
    await expect(led).to_be_focused()
    shown = await item.locator("pre").first.inner_text()
    assert shown.index("because") < shown.index("to") < shown.index("amount")
    await any_site.api.http.post(f"/api/runs/{run_id}/cancel")


async def test_invisible_characters_of_an_input_are_marked(tab: Tab, any_site: Site) -> None:
    wait = await any_site.api.waiting(run_id := await any_site.api.post("payer", "ann\u202ebob\u200b now"))
    await tab.open(f"approvals/{wait}")
    item = tab.page.get_by_role("list", name="Waiting").get_by_role("listitem")
    await expect(item.locator("pre")).to_contain_text(r"ann\u202ebob\u200b")
    await item.get_by_role("button", name="Edit input").click()
    written = item.get_by_role("textbox", name="Input as JSON")
    await expect(written).to_have_value(re.compile(r'"ann\\u202ebob\\u200b"'))
    await expect(item.get_by_role("note", name="Changes")).to_have_text("Nothing has changed.")
    await any_site.api.http.post(f"/api/runs/{run_id}/cancel")


async def test_a_message_of_many_lines_is_cut_with_a_sign(tab: Tab, any_site: Site) -> None:
    message = "\n".join(["bob", *(f"line {n}" for n in range(9))])
    wait = await any_site.api.waiting(run_id := await any_site.api.post("payer", message))
    await tab.open(f"approvals/{wait}")
    item = tab.page.get_by_role("list", name="Waiting").get_by_role("listitem")
    led = item.get_by_label("The message that led here")
    await expect(led).to_have_text("\n".join(message.split("\n")[:5]) + "…")
    await item.get_by_role("button", name="Show the whole message").click()
    await expect(led).to_have_text(message)
    await expect(item.get_by_role("button", name="Show the whole message")).to_have_count(0)
    await any_site.api.http.post(f"/api/runs/{run_id}/cancel")
