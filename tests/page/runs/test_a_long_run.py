"""Twenty thousand events: the inspector shows any of them at once, and never more rows than can be seen."""

import pytest
from playwright.async_api import expect

from tests.page.conftest import NewTab, Site
from tests.page.page_agents import MANY
from tests.page.page_tab import Tab
from tests.support.eventually import eventually

MOST_ROWS = 200


@pytest.fixture(scope="module")
async def long_run(any_site: Site) -> str:
    run_id = await any_site.api.post("flood")
    await any_site.api.ended(run_id)
    return run_id


@pytest.fixture
async def inspector(new_tab: NewTab, any_site: Site, long_run: str) -> Tab:
    tab = await new_tab(any_site.url)
    await tab.open(f"runs/{long_run}")
    await expect(tab.page.get_by_role("slider", name="Event")).to_have_value(str(MANY))
    return tab


async def test_only_the_rows_that_can_be_seen_exist(inspector: Tab) -> None:
    page = inspector.page
    rows = page.get_by_role("list", name="Raw events")
    await expect(rows.locator(f"[data-seq='{MANY}']")).to_be_visible()
    for place in (0, 0.25, 0.5, 1):
        await rows.evaluate("(list, place) => (list.scrollTop = place * list.scrollHeight)", place)
        seq = max(1, round(place * MANY) - (1 if place == 1 else 0))
        await expect(rows.locator(f"[data-seq='{seq}']")).to_be_attached()
        assert await rows.get_by_role("listitem").count() <= MOST_ROWS
        assert await page.locator("*").count() < 3000


async def test_scrolling_through_all_of_it_does_not_stutter(inspector: Tab) -> None:
    rows = inspector.page.get_by_role("list", name="Raw events")
    slowest = await rows.evaluate(
        """async list => {
            let slowest = 0, last = performance.now();
            for (let step = 0; step <= 60; step++) {
                list.scrollTop = (step / 60) * list.scrollHeight;
                await new Promise(requestAnimationFrame);
                const now = performance.now();
                slowest = Math.max(slowest, now - last);
                last = now;
            }
            return slowest;
        }"""
    )
    assert slowest < 1000, "milliseconds between two frames; a machine that does other things is forgiven much"


async def test_the_slider_rebuilds_the_conversation_at_any_event(inspector: Tab) -> None:
    page = inspector.page
    slider = page.get_by_role("slider", name="Event")
    then = page.get_by_role("log", name="Conversation at seq")
    for seq in (2, 1000, 15_000):
        await slider.fill(str(seq))
        await expect(page.get_by_role("log", name=f"Conversation at seq {seq}", exact=True)).to_be_visible()
        words = (await then.get_by_test_id("answer").inner_text()).split() if seq > 2 else []
        if words:
            assert words == [str(n) for n in range(len(words))]
            assert abs(len(words) - seq) < 5
    await slider.press("Home")
    await expect(slider).to_have_value("1")
    await slider.press("ArrowRight")
    await expect(slider).to_have_value("2")
    await slider.press("End")
    await expect(page.get_by_role("checkbox", name="Follow live")).to_be_checked()


async def test_events_are_found_by_a_word_and_copied_as_json(inspector: Tab, long_run: str) -> None:
    page = inspector.page
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.get_by_role("searchbox", name="Filter events").fill("run.finished")
    rows = page.get_by_role("list", name="Raw events").get_by_role("listitem")
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="Copy as JSON").click()

    async def copied() -> list[dict[str, object]]:
        return list(await page.evaluate("async () => JSON.parse((await navigator.clipboard.readText()) || '[]')"))

    [event] = await eventually("something is copied", copied)
    assert (event["type"], event["seq"], event["run_id"]) == ("run.finished", MANY, long_run)
