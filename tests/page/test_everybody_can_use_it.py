"""Accessibility: no serious finding of axe in any view, light or dark; narrow screens; keys for everything; and a first
load that a slow line can carry."""

from __future__ import annotations

import gzip
import re
import sysconfig
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.async_api import ViewportSize, expect

from runyard.base.ids import new_id
from tests.page.conftest import NewTab, Site
from tests.page.page_tab import Tab, answer, ended

AXE = Path(sysconfig.get_path("data")) / "axe" / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")
MOST_BYTES = 200_000
NARROW: tuple[ViewportSize, ...] = ({"width": 320, "height": 640}, {"width": 640, "height": 400})  # also 200 %
COLOURS = {"runOnly": ["color-contrast"]}
# The widest of the boxes in which a view scrolls down. Tables and code scroll sideways in separate boxes.
WIDEST = """() => Math.max(...[document.scrollingElement, ...document.querySelectorAll('main, .scroll')].map(
  each => each.scrollWidth))"""


async def findings(tab: Tab, rules: dict[str, Any] | None = None) -> list[str]:
    """The serious findings of axe. Its script is allowed, because this test is not about the policy."""
    await tab.page.evaluate("document.getAnimations().forEach(animation => animation.cancel())")
    found: dict[str, Any] = await tab.page.evaluate(
        "options => axe.run({resultTypes: ['violations'], ...options})", rules or {}
    )
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found["violations"]
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]


async def a_conversation(tab: Tab, site: Site, name: str) -> None:
    """A channel or a DM with messages, a reply and a reaction, or the agent that remembers them."""
    http, page = site.api.http, tab.page
    site.gates.open["porter"].set()
    body = {"name": f"pier-{new_id()}", "agents": ["porter"]}
    channel = (await http.post("/api/channels", json=body)).json()["id"]
    dm = (await http.post("/api/dms", json={"agentId": "porter"})).json()["id"]
    first = (await http.post("/api/messages", json={"channelId": channel, "text": "A **ferry** is late"})).json()["id"]
    await http.post("/api/messages", json={"channelId": channel, "text": "how late?", "parentMessageId": first})
    await http.post("/api/messages", json={"dmConversationId": dm, "text": "carry this"})
    await tab.open({"dm": f"dms/{dm}", "memory": "agents/porter"}.get(name, f"channels/{channel}"))
    if name == "memory":
        await expect(page.get_by_role("region", name="Memory")).to_contain_text("news")
        return
    messages = page.get_by_role("log", name="Messages")
    await expect(messages.get_by_role("article", name="Message of porter").first).to_be_visible()
    if name == "settings":
        await page.get_by_role("button", name="Settings").click()
        await expect(page.get_by_role("dialog", name="Channel settings")).to_be_visible()
    if name == "thread":
        mine = messages.get_by_role("article", name="Message of local").first
        await mine.hover()
        await mine.get_by_role("button", name="Add reaction").click()
        await mine.get_by_role("button", name="React with 👍").click()
        await expect(mine.get_by_role("group", name="Reactions")).to_be_visible()
        await mine.get_by_role("button", name=re.compile("repl")).first.click()
        await expect(page.get_by_role("complementary", name="Thread")).to_be_visible()


async def a_run(tab: Tab, name: str) -> None:
    """A run in the inspector, or two that are compared."""
    page = tab.page
    match name:
        case "inspector":
            run = await tab.begin("traveller", "to Rome")
            await ended(run)
            await run.get_by_role("link", name="Inspect run").click()
            await expect(page.get_by_role("region", name="Waterfall")).to_contain_text("book")
        case "request":
            run = await tab.begin("traveller", "to Rome")
            await ended(run)
            await run.get_by_role("link", name="Inspect run").click()
            await page.get_by_role("button", name="Rebuilt request of turn#2").click()
            await expect(page.get_by_role("region", name="Tools")).to_be_visible()
        case "compare":
            for text in ("to Rome", "elsewhere"):
                await ended(await tab.begin("traveller", text))
            await page.get_by_role("navigation", name="Main").get_by_role("link", name="Runs").click()
            for row in (2, 1):
                await page.get_by_role("table", name="Runs").get_by_role("row").nth(row).get_by_role("checkbox").check()
            await page.get_by_role("link", name="Compare", exact=True).click()
            await expect(page.get_by_role("note", name="Difference of the texts")).to_be_visible()
        case _:
            raise AssertionError(name)


async def a_dialog(tab: Tab, name: str) -> None:
    """A dialog."""
    page = tab.page
    match name:
        case "account":
            await tab.open()
            await page.get_by_role("button", name="Signed in as local").click()
            await expect(page.get_by_role("dialog", name="Account")).to_be_visible()
        case "new channel":
            await tab.open("channels")
            await page.get_by_role("button", name="New channel").click()
            await expect(page.get_by_role("dialog", name="New channel").get_by_role("checkbox").first).to_be_visible()
        case "palette":
            await tab.open()
            await page.keyboard.press("Control+k")
            await expect(page.get_by_role("option").first).to_be_visible()
        case "help":
            await tab.open()
            await page.get_by_role("button", name="Keyboard shortcuts").click()
            await expect(page.get_by_role("dialog")).to_be_visible()
        case _:
            raise AssertionError(name)


async def a_view(tab: Tab, site: Site, name: str) -> None:
    """A view with something in it."""
    page = tab.page
    match name:
        case "new chat":
            await tab.open()
            await tab.choose("weigher")
        case "chat":
            await ended(await tab.begin("traveller", "to Rome"))
            await tab.say("to Rome")
            await ended(tab.runs.last)
            await page.get_by_role("button", name="Edit message").first.click()
            await tab.runs.last.get_by_role("button", name="Bad answer").click()
            await expect(page.get_by_role("textbox", name="Comment on the answer")).to_be_visible()
        case "options":
            await ended(await tab.begin("traveller", "to Rome"))
            await page.get_by_role("searchbox", name="Search chats").fill("rome")
            await expect(page.get_by_role("list", name="Found").locator("mark").first).to_be_visible()
            await page.get_by_role("button", name="Options").click()
            await page.get_by_role("button", name="Delete chat").click()
        case "sharing" | "shared":
            await ended(await tab.begin("traveller", "to Rome"))
            await page.get_by_role("button", name="Share").click()
            await page.get_by_role("button", name="Create link").click()
            link = page.get_by_role("textbox", name="Link (shown once)")
            await expect(page.get_by_role("list", name="Links to this chat")).to_be_visible()
            if name == "shared":
                await page.goto(await link.input_value())
                await page.reload()
                await expect(page.get_by_role("region", name="Conversation")).to_be_visible()
        case "approval":
            await tab.begin("mailer", "ann")
            await tab.approval("send_mail").get_by_role("button", name="Edit input").click()
        case "error":
            await ended(await tab.begin("failing", "try"), "error")
        case "sources":
            await ended(await tab.begin("hostile", "quote"))
            await page.get_by_role("list", name="Sources").get_by_role("button").first.click()
            await expect(page.get_by_role("dialog")).to_be_visible()
        case "question":
            await tab.begin("booker", "my seat")
            await expect(page.get_by_role("group", name="Question Which seat for my seat?")).to_be_visible()
        case "channel" | "settings" | "thread" | "dm" | "memory":
            await a_conversation(tab, site, name)
        case "inspector" | "request" | "compare":
            await a_run(tab, name)
        case "palette" | "help" | "account" | "new channel":
            await a_dialog(tab, name)
        case _:
            await tab.open(name)
            await expect(page.get_by_role("main")).to_be_visible()


VIEWS = [
    *("new chat", "chat", "approval", "error", "sources", "inspector", "request", "palette", "help"),
    *("options", "sharing", "shared", "overview", "runs", "approvals", "channels"),
    *("question", "compare", "account", "new channel", "channel", "settings", "thread", "dm", "memory"),
]


@pytest.mark.parametrize("name", VIEWS)
async def test_axe_finds_nothing_serious_and_nothing_sticks_out(new_tab: NewTab, site: Site, name: str) -> None:
    tab = await new_tab(site.url, bypass_csp=True, color_scheme="light", reduced_motion="reduce")
    await a_view(tab, site, name)
    await tab.page.evaluate(AXE.read_text(encoding="utf-8"))
    light = await findings(tab)
    await tab.page.emulate_media(color_scheme="dark")
    dark = await findings(tab, COLOURS)
    assert (light, dark) == ([], [])
    for size in NARROW:
        await tab.page.set_viewport_size(size)
        widest = await tab.page.evaluate(WIDEST)
        assert widest <= size["width"], "one has to scroll sideways on a phone, or with 200 % zoom"


async def test_everything_can_be_done_with_keys(new_tab: NewTab, site: Site) -> None:
    tab = await new_tab(site.url)
    page = tab.page
    await tab.open()
    await expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    await page.get_by_role("textbox", name="Message").blur()
    for keys, heading in (("gr", "Runs"), ("ga", "Inbox"), ("gc", "Talk to an agent")):
        for key in keys:
            await page.keyboard.press(key)
        await expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        await page.evaluate("document.activeElement?.blur()")
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await tab.choose("rememberer")
    await page.get_by_role("textbox", name="Message").focus()
    await page.keyboard.type("by hand")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("and again")
    await page.keyboard.press("Enter")
    await ended(tab.runs.last)
    await expect(tab.page.get_by_test_id("question")).to_have_text("by hand\nand again")
    await expect(answer(tab.runs.last)).to_have_text("nothing")


async def test_every_control_can_be_reached_and_is_seen_to_be(new_tab: NewTab, site: Site) -> None:
    tab = await new_tab(site.url)
    await tab.begin("mailer", "ann")
    await expect(tab.approval("send_mail")).to_be_visible()
    await tab.page.evaluate("document.activeElement?.blur()")
    reached: set[str] = set()
    for _ in range(40):
        await tab.page.keyboard.press("Tab")
        named, outlined = await tab.page.evaluate(
            """() => {
                const at = document.activeElement, style = getComputedStyle(at);
                const box = getComputedStyle(at.closest('.box') ?? at);
                const ring = [style, box].some(s => s.outlineStyle !== 'none' || s.boxShadow !== 'none');
                return [at.getAttribute('aria-label') || at.textContent.trim(), ring || at === document.body];
            }"""
        )
        reached.add(named)
        assert outlined, f"the focus on {named!r} is invisible"
    assert {"Approve", "Edit input", "Reject", "Stop", "Message", "New chat", "Chats"} <= reached


async def test_the_theme_is_chosen_and_remembered(new_tab: NewTab, site: Site) -> None:
    tab = await new_tab(site.url, color_scheme="light")
    await tab.open()
    background = "() => getComputedStyle(document.body).backgroundColor"
    light = await tab.page.evaluate(background)
    theme = tab.page.get_by_role("button", name="Theme")
    for _ in range(3):
        await theme.click()
        if await tab.page.evaluate(background) != light:
            break
    dark = await tab.page.evaluate(background)
    assert dark != light
    await tab.page.reload()
    await expect(theme).to_be_visible()
    assert await tab.page.evaluate(background) == dark


def imported(script: str) -> set[str]:
    """The assets that a script needs before it runs. `import(...)` loads others when they are needed."""
    return set(re.findall(r"""\b(?:import|from)\s*["']/(assets/[\w.-]+)["']""", script))


def test_a_script_needs_what_it_imports_and_not_what_it_may_load_later() -> None:
    script = """import{a as b}from"/assets/chunk-A.js";import"/assets/chunk-B.js";c=()=>import("/assets/tex.js")"""
    assert imported(script) == {"assets/chunk-A.js", "assets/chunk-B.js"}


async def test_the_first_load_is_small(site: Site) -> None:
    async with httpx2.AsyncClient(base_url=site.url) as http:
        index = (await http.get("/")).text
        bodies = {"": index.encode()}
        wanted = set(re.findall(r"assets/[\w.-]+", index))
        assert wanted
        while wanted:
            name = wanted.pop()
            bodies[name] = (await http.get(f"/{name}")).content
            wanted |= imported(bodies[name].decode()) - set(bodies)
    assert sum(len(gzip.compress(body)) for body in bodies.values()) < MOST_BYTES
