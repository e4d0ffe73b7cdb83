"""A message to a run that is under way, sent on the page."""

from __future__ import annotations

from playwright.async_api import expect

from tests.page.conftest import NewTab, Site
from tests.page.page_tab import answer, ended


async def test_a_message_reaches_the_run_and_the_page_shows_that_it_was_read(new_tab: NewTab, any_site: Site) -> None:
    tab = await new_tab(any_site.url)
    run = await tab.begin("listener", "listen")
    composer = tab.page.get_by_label("Message", exact=True)
    await composer.fill("in red, please")
    await tab.page.get_by_role("button", name="Tell now").click()
    said = run.get_by_label("Message to this run")
    await expect(said).to_contain_text("in red, please")
    await expect(said).to_contain_text("Not read yet.")
    await expect(composer).to_have_value("")
    any_site.gates.open["listener"].set()
    await ended(run)
    await expect(answer(run)).to_contain_text("Meanwhile: ['in red, please']")
    await expect(said).to_contain_text("Read by the agent.")
    await expect(tab.page.get_by_role("button", name="Tell now")).to_have_count(0)
