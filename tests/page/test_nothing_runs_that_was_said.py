"""Content of models, tools and files is shown as text: none of its scripts runs, no picture of theirs is loaded, and no
link of
theirs leads anywhere but to the web."""

import re

import pytest
from playwright.async_api import Locator, expect

from tests.page.conftest import NewTab, Site
from tests.page.page_agents import HOSTILE, OUT
from tests.page.page_tab import Tab, answer, ended

FORBIDDEN = (
    "script, img:not([src^='/assets/']), iframe, object, embed, video, style, form[action], svg:not(.up, .down), base,"
    " meta[http-equiv]"
)


async def is_harmless(tab: Tab) -> None:
    page = tab.page
    assert await page.evaluate("() => window.owned") is None
    inside = page.locator("#page")
    assert await inside.locator("header").count() > 0, "the page is drawn in there"
    assert await inside.locator(FORBIDDEN).count() == 0
    addresses = await page.eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))")
    assert [each for each in addresses if not re.match(r"#/|https?://|mailto:", each)] == []
    handlers = "all => all.flatMap(e => e.getAttributeNames()).filter(name => name.startsWith('on'))"
    assert await page.eval_on_selector_all("*", handlers) == []
    assert (tab.strays, tab.errors) == ([], [])


async def opened(where: Locator) -> None:
    """Everything that is folded."""
    await where.locator("details").evaluate_all("all => all.forEach(each => (each.open = true))")


async def test_in_a_chat(new_tab: NewTab, any_site: Site) -> None:
    tab = await new_tab(any_site.url)
    run = await tab.begin("hostile", HOSTILE[0])
    await ended(run)
    await opened(run)
    await expect(answer(run)).to_contain_text("window.owned = 1")
    await expect(run.get_by_role("group", name="Tool call fetch")).to_contain_text("window.owned = 2")
    await is_harmless(tab)
    chips = run.get_by_role("list", name="Sources")
    for chip in ("paper-7", HOSTILE[0]):  # a document of the server's, and what the log alone knows
        await chips.get_by_role("button", name=chip, exact=True).click()
        await expect(tab.page.get_by_role("dialog")).to_contain_text("window.owned")
        await is_harmless(tab)
        await tab.page.keyboard.press("Escape")
    link = chips.get_by_role("link", name="file.pdf")
    assert await link.get_attribute("href") == f"{OUT}/file.pdf"
    assert "noopener" in (await link.get_attribute("rel") or "")


async def test_in_the_inspector_the_inbox_and_the_lists(new_tab: NewTab, any_site: Site) -> None:
    tab = await new_tab(any_site.url)
    run = await tab.begin("hostile", HOSTILE[1])
    await ended(run)
    run_id = await run.get_attribute("data-run")
    await tab.open(f"runs/{run_id}")
    await expect(tab.page.get_by_role("list", name="Raw events").get_by_role("listitem").first).to_be_visible()
    for kind in ("tool.finished", "tool.output", "run.output"):
        await tab.page.get_by_role("searchbox", name="Filter events").fill(kind)
        await tab.page.get_by_role("list", name="Raw events").get_by_role("button").first.click()
        await opened(tab.page.locator("main"))
        await is_harmless(tab)
    await tab.begin("mailer", HOSTILE[1])
    await expect(tab.approval("send_mail")).to_be_visible()
    await is_harmless(tab)
    await tab.open("approvals")
    await expect(tab.approval("send_mail").first).to_contain_text("onerror")
    await is_harmless(tab)


async def test_an_element_that_is_forbidden_is_noticed_wherever_it_is_drawn(new_tab: NewTab, any_site: Site) -> None:
    tab = await new_tab(any_site.url)
    await tab.begin("rememberer", "hello")
    await ended(tab.runs.last)
    await is_harmless(tab)
    await tab.runs.last.evaluate("run => run.append(document.createElement('svg'))")
    with pytest.raises(AssertionError):
        await is_harmless(tab)


async def test_the_policy_stops_what_would_get_through(new_tab: NewTab, any_site: Site) -> None:
    """The second wall: were a tag left in by mistake, the browser would still refuse it."""
    tab = await new_tab(any_site.url)
    await tab.open()
    html = "".join(said for said in HOSTILE if "http-equiv" not in said)  # which no policy can stop
    await tab.page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", html)
    await tab.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert await tab.page.evaluate("() => window.owned") is None
    assert any("Content Security Policy" in error for error in tab.errors)
    answers = await any_site.api.http.get("/")
    assert "'unsafe" not in answers.headers["content-security-policy"]
    tab.errors.clear()
    tab.strays.clear()  # Chromium tells of requests that the policy then stops
