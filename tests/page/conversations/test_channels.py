"""Channels on the page: a person opens a channel, agents type and answer, and their memory is shown."""

import re

from playwright.async_api import Locator, expect

from tests.page.conftest import NewTab, Site
from tests.page.page_tab import LOOK_NOW, Tab


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


async def test_agents_type_answer_are_answered_and_remember(new_tab: NewTab, any_site: Site) -> None:
    tab = await new_tab(any_site.url)
    page = tab.page
    await a_channel(tab, "pier")
    other = await tab.beside()
    messages = page.get_by_role("log", name="Messages")
    await tab.say("a ferry is late")
    await expect(page.get_by_role("status", name="Typing")).to_have_text("porter is typing")
    await expect(other.page.get_by_role("status", name="Typing")).to_have_text("porter is typing")
    any_site.gates.open["porter"].set()
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


async def test_a_direct_message_is_between_two(new_tab: NewTab, any_site: Site) -> None:
    any_site.gates.open["porter"].set()
    tab = await new_tab(any_site.url)
    await tab.open("channels")
    await tab.page.get_by_role("button", name="New direct message").click()
    await tab.page.get_by_role("dialog").get_by_role("button", name="porter").click()
    await expect(tab.page.get_by_role("heading", name="porter")).to_be_visible()
    await tab.say("just us")
    await expect(said_by(tab.page.get_by_role("log", name="Messages"), "porter")).to_contain_text("just us")


async def a_room(site: Site, name: str, *agents: str) -> str:
    answer = await site.api.http.post("/api/channels", json={"name": name, "agents": list(agents)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def test_failed_and_waiting_runs_are_seen_in_the_channel_and_linked(new_tab: NewTab, any_site: Site) -> None:
    tab, other = await new_tab(any_site.url), await new_tab(any_site.url)
    any_site.gates.open["porter"].set()
    room = await a_room(any_site, "quay", "failing", "porter", "mailer")
    page = tab.page
    for each in (tab, other):
        await each.open(f"channels/{room}")
    await tab.say("ann")
    for each in (tab, other):
        await expect(each.page.get_by_role("note", name="Run of failing")).to_contain_text(
            "failing failed: agent_error"
        )
        waiting = each.page.get_by_role("list", name="Waiting runs")
        await expect(waiting).to_contain_text("mailer waits for you to approve a tool call")
        await expect(each.page.get_by_role("status", name="Typing")).to_have_text("")
    await page.reload()  # it is there later, too
    await page.get_by_role("link", name="Open in inbox").click()
    approval = tab.approval("send_mail")
    await expect(approval).to_be_focused()
    await approval.get_by_role("button", name="Approve").click()
    await expect(other.page.get_by_role("list", name="Waiting runs").get_by_role("listitem")).to_have_count(0)
    await page.reload()
    await expect(page.get_by_text("The item that the address names does not wait")).to_be_visible()

    # from the channel into a run, and back to its first message and to the one that it wrote
    await other.page.get_by_role("note", name="Run of failing").get_by_role("link").click()
    await expect(other.page.get_by_role("heading", name="Run")).to_be_visible()
    await other.page.get_by_role("link", name="started by a message in a channel").click()
    mine = said_by(other.page.get_by_role("log", name="Messages"), "local")
    await expect(mine).to_have_attribute("aria-current", "true")
    its = said_by(other.page.get_by_role("log", name="Messages"), "porter")
    await its.hover()
    await its.get_by_role("link", name="wrote this").click()
    await other.page.get_by_role("link", name="wrote a message").click()
    await expect(its).to_have_attribute("aria-current", "true")


async def test_all_browsers_of_a_person_agree_on_what_is_read(new_tab: NewTab, any_site: Site) -> None:
    tab, other = await new_tab(any_site.url), await new_tab(any_site.url)
    any_site.gates.open["porter"].set()
    room = await a_room(any_site, "harbour", "porter")
    await tab.open(f"channels/{room}")
    await tab.say("the first")
    await expect(said_by(tab.page.get_by_role("log", name="Messages"), "porter")).to_have_count(1)
    await expect(tab.page.get_by_role("heading", name="Today")).to_have_count(1)
    at = said_by(tab.page.get_by_role("log", name="Messages"), "local").get_by_role("time")
    assert re.search(r"\d{4}.*\d+:\d\d:\d\d", str(await at.get_attribute("title")))
    await tab.open("channels")
    said = {"channelId": room, "text": "the second"}
    assert (await any_site.api.http.post("/api/messages", json=said)).status_code == 201
    for each in (tab, other):
        await each.open("channels")
        await each.page.evaluate(LOOK_NOW)
        await expect(each.page.get_by_role("link", name="# harbour 1 unread")).to_be_visible()
        await expect(each.page.get_by_role("img", name="unread messages")).to_be_visible()
    await tab.page.get_by_role("link", name="# harbour").click()
    new = tab.page.get_by_role("separator", name="New messages")
    await expect(new).to_have_count(1)
    after = new.locator("xpath=following-sibling::article")
    await expect(after).to_have_count(1)
    await expect(after).to_contain_text("the second")
    for each in (tab, other):
        if each is other:
            await each.page.reload()
        await expect(each.page.get_by_role("link", name="# harbour")).not_to_contain_text("1")
        await expect(each.page.get_by_role("img", name="unread messages")).to_have_count(0)


async def test_messages_and_channels_are_changed_and_deleted_for_all_readers(new_tab: NewTab, any_site: Site) -> None:
    tab, other = await new_tab(any_site.url), await new_tab(any_site.url)
    room = await a_room(any_site, "dock")
    page = tab.page
    for each in (tab, other):
        await each.open(f"channels/{room}")
    await tab.say("fish today")
    mine = said_by(page.get_by_role("log", name="Messages"), "local")
    seen = said_by(other.page.get_by_role("log", name="Messages"), "local")
    await mine.hover()
    await mine.get_by_role("button", name="Edit message").click()
    field = page.get_by_role("textbox", name="Edited message")
    await expect(field).to_be_focused()
    await field.fill("fish tomorrow")
    await field.press("Enter")
    for card in (mine, seen):
        await expect(card).to_contain_text("fish tomorrow")
        await expect(card).to_contain_text("edited")
    await mine.hover()
    await mine.get_by_role("button", name="Delete message").click()
    await page.get_by_role("dialog", name="Delete message").get_by_role("button", name="Delete", exact=True).click()
    for card in (mine, seen):
        await expect(card.get_by_text("deleted", exact=True)).to_be_visible()
        await expect(card).not_to_contain_text("fish")
        await expect(card.get_by_role("button", name="Edit message")).to_have_count(0)

    await page.get_by_role("button", name="Settings").click()
    settings = page.get_by_role("dialog", name="Channel settings")
    await settings.get_by_role("textbox", name="Name").fill("drydock")
    await settings.get_by_role("textbox", name="Topic").fill("repairs")
    await settings.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", name="# drydock")).to_be_attached()
    await settings.get_by_role("combobox", name="Add an agent").select_option("porter")
    await expect(settings.get_by_role("button", name="Remove porter")).to_be_visible()
    await settings.get_by_role("button", name="Delete channel").click()
    await other.page.reload()
    await expect(other.page.get_by_role("main")).to_contain_text("repairs")
    await settings.get_by_role("button", name="Yes, delete # drydock").click()
    await expect(page.get_by_role("heading", name="Channels", exact=True, level=1)).to_be_visible()
    await other.page.reload()
    await expect(other.page.get_by_role("heading", name="There is no such channel")).to_be_visible()


async def test_a_search_finds_what_was_said_in_a_channel(tab: Tab) -> None:
    page = tab.page
    await a_channel(tab, "aviary")
    await tab.say("The pelican lost its hat")
    messages = page.get_by_role("log", name="Messages")
    await expect(said_by(messages, "local")).to_contain_text("pelican")
    await tab.open("chats")
    chats = page.get_by_role("navigation", name="Chats")
    await chats.get_by_role("searchbox", name="Search chats").fill("peli hat")
    hit = chats.get_by_role("list", name="Found").get_by_role("link").filter(has_text="#aviary").last
    await expect(hit.locator("mark")).to_have_text(["pelican", "hat"])
    await hit.click()
    await expect(page.get_by_role("heading", name="# aviary")).to_be_visible()
    await expect(said_by(messages, "local")).to_have_attribute("aria-current", "true")
