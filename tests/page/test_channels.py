"""Channels on the page: one opens a channel, agents type and answer, and one sees what they remember."""

from playwright.async_api import Locator, expect

from tests.page.conftest import NewTab, Site
from tests.page.page_tab import Tab


def said_by(where: Locator, who: str) -> Locator:
    return where.get_by_role("article", name=f"Message of {who}")


async def a_channel(tab: Tab, name: str) -> None:
    page = tab.page
    await tab.open("channels")
    await page.get_by_role("button", name="New channel").click()
    dialog = page.get_by_role("dialog", name="New channel")
    await dialog.get_by_role("textbox", name="Name").fill(name)
    await dialog.get_by_role("checkbox", name="porter").check()
    await dialog.get_by_role("button", name="Open channel").click()
    await expect(page.get_by_role("heading", name=f"# {name}")).to_be_visible()
    await expect(page.get_by_role("complementary", name="Members")).to_contain_text("porter")


async def test_agents_type_answer_are_answered_and_remember(new_tab: NewTab, site: Site) -> None:
    tab = await new_tab(site.url)
    page = tab.page
    await a_channel(tab, "pier")
    other = await tab.beside()
    messages = page.get_by_role("log", name="Messages")
    await tab.say("a ferry is late")
    await expect(page.get_by_role("status", name="Typing")).to_have_text("porter is typing")
    await expect(other.page.get_by_role("status", name="Typing")).to_have_text("porter is typing")
    site.gates.open["porter"].set()
    for each in (page, other.page):
        seen = said_by(each.get_by_role("log", name="Messages"), "porter")
        await expect(seen).to_contain_text("The porter heard")
        await expect(seen).to_have_count(1)
        await expect(each.get_by_role("status", name="Typing")).to_have_text("")
        assert await each.evaluate("() => window.owned") is None

    mine = said_by(messages, "local")
    await mine.hover()
    await mine.get_by_role("button", name="Add reaction").click()
    await mine.get_by_role("button", name="React with 👍").click()
    await expect(mine.get_by_role("group", name="Reactions")).to_contain_text("👍 1")
    await expect(other.page.get_by_role("group", name="Reactions")).to_contain_text("👍 1")

    its = said_by(messages, "porter").first
    await its.hover()
    await its.get_by_role("button", name="Reply in thread").click()
    thread = page.get_by_role("complementary", name="Thread")
    await thread.get_by_role("textbox", name="Message").fill("how late?")
    await thread.get_by_role("button", name="Send").click()
    await expect(said_by(thread, "local")).to_contain_text("how late?")
    await expect(said_by(thread, "porter").last).to_contain_text("how late?")
    await page.reload()
    await expect(its.get_by_role("button", name="2 replies")).to_be_visible()
    await expect(said_by(messages, "porter")).to_have_count(1)
    assert (other.strays, other.errors) == ([], [])

    await tab.open("agents/porter")
    await expect(page.get_by_role("region", name="Memory").get_by_role("textbox", name="news")).to_have_value(
        "Heard: how late?"
    )
    await expect(page.get_by_role("region", name="Prompt")).to_contain_text("You carry bags.")


async def test_a_direct_message_is_between_two(new_tab: NewTab, site: Site) -> None:
    site.gates.open["porter"].set()
    tab = await new_tab(site.url)
    await tab.open("channels")
    await tab.page.get_by_role("button", name="New direct message").click()
    await tab.page.get_by_role("dialog").get_by_role("button", name="porter").click()
    await expect(tab.page.get_by_role("heading", name="porter")).to_be_visible()
    await tab.say("just us")
    await expect(said_by(tab.page.get_by_role("log", name="Messages"), "porter")).to_contain_text("just us")
