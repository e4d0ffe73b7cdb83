"""Every view when it has nothing to show: while it loads, when it is empty, when the server fails or is unreachable,
and when
the address names nothing. Each state can be read by axe and by people with small or enlarged screens, and left with
keys."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import cycle
from typing import Literal

import pytest
from playwright.async_api import Page, Route, expect

from runyard.agents.declared.loading import App
from runyard.base.ids import new_id
from tests.page.conftest import NewTab, Site, settings
from tests.page.page_agents import Gates
from tests.page.page_tab import Tab
from tests.page.test_everybody_can_use_it import AXE, WIDEST, findings
from tests.support.in_process.live_server import served

API = re.compile(r"^https?://[^/]+/(api|chats)\b")
SIZES = {"320 px": (320, 640), "200 %": (640, 400)}
SCHEMES: Iterator[Literal["light", "dark"]] = cycle(("light", "dark"))
# The place of a view, and what stands there when it has something to show.
VIEWS = {
    "chats": "Talk to an agent",
    "chats/<thread>": "Chat",
    "channels": "Channels",
    "channels/<channel>": "# state",
    "dms/<dm>": "porter",
    "agents/porter": "porter",
    "messages/<message>": "# state",
    "runs": "Runs",
    "runs/<run>": "Run",
    "compare/<run>/<run>": "Compare runs",
    "overview": "Overview",
    "approvals": "Inbox",
}
MISSING = {
    "chats/<none>": "chat",
    "channels/<none>": "channel",
    "dms/<none>": "direct message",
    "agents/none": "agent",
    "messages/<none>": "message",
    "runs/<none>": "run",
    "compare/<run>/<none>": "run",
    "somewhere": "page",
    "chats/%": "page",
}
# All views say alike that they load, or that there is no such thing: axe judges one of each shape.
SAMPLE = {"chats/<thread>", "runs/<run>", "channels/<none>", "somewhere"}
EMPTY = {
    "chats": "No agent of this server answers messages",
    "channels": "There is no channel yet",
    "channels/<channel>": "No messages yet",
    "runs": "No runs yet",
    "overview": "No runs in these days",
    "approvals": "No run waits for you",
}
Fault = Callable[[Route], Awaitable[None]]


async def unavailable(route: Route) -> None:
    problem = {"code": "unavailable", "detail": "The database does not answer. Try again in a moment."}
    await route.fulfill(status=503, content_type="application/problem+json", body=json.dumps(problem))


async def broken(route: Route) -> None:
    await route.fulfill(status=500, content_type="text/html", body="<h1>Oops</h1>")


async def away(route: Route) -> None:
    await route.abort("connectionrefused")


FAULTS: tuple[tuple[Fault, str], ...] = (
    (unavailable, "The database does not answer."),
    (broken, "The server answered 500."),
    (away, "The server does not answer."),
)


@pytest.fixture(scope="module")
async def ids(site: Site) -> dict[str, str]:
    """One object of each kind."""
    http = site.api.http
    thread = (await http.post("/api/threads", json={"agent": "rememberer"})).json()["thread_id"]
    run = (await http.post(f"/api/threads/{thread}/messages", json={"content": "hi"})).json()["run_id"]
    channel = (await http.post("/api/channels", json={"name": "state"})).json()["id"]
    dm = (await http.post("/api/dms", json={"agentId": "porter"})).json()["id"]
    said = (await http.post("/api/messages", json={"channelId": channel, "text": "hello"})).json()["id"]
    return {"thread": thread, "run": run, "channel": channel, "dm": dm, "message": said, "none": new_id()}


@pytest.fixture(scope="module")
async def empty(
    new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Site, dict[str, str]]]:
    """A server without agents and without runs, with one empty channel."""
    async with served(settings(tmp_path_factory.mktemp("empty"), new_database()), App({}, {}, None)) as pod:
        yield Site(f"http://127.0.0.1:{pod.port}", Gates(), [pod]), {}


def placed(view: str, ids: dict[str, str]) -> str:
    return re.sub(r"<(\w+)>", lambda found: ids[found[1]], view)


async def afresh(tab: Tab, place: str) -> Page:
    """Load the page again at a place, so that it remembers nothing."""
    await tab.page.goto("about:blank")
    await tab.open(place)
    return tab.page


async def judged(tab: Tab, view: str, by_axe: bool = True) -> None:
    """No serious finding of axe, in light or in dark (they take turns), and nothing sticks out of a small or enlarged
    screen."""
    page, found = tab.page, []
    if by_axe:
        await page.emulate_media(color_scheme=next(SCHEMES), reduced_motion="reduce")
        await page.evaluate(AXE.read_text(encoding="utf-8"))
        found = await findings(tab)
    for name, (width, height) in SIZES.items():
        await page.set_viewport_size({"width": width, "height": height})
        widest = await page.evaluate(WIDEST)
        found += [f"{name}: {widest} wide"] if widest > width else []
    await page.set_viewport_size({"width": 1280, "height": 800})
    assert found == [], view


async def reached(page: Page, role: str, name: str) -> None:
    """Go to a control with the Tab key."""
    wanted = page.get_by_role("main").get_by_role(role, name=name).first  # type: ignore[arg-type]
    await page.evaluate("document.activeElement?.blur()")
    for _ in range(60):
        await page.keyboard.press("Tab")
        if await wanted.evaluate("it => it === document.activeElement"):
            return
    raise AssertionError(f"the Tab key does not reach {name!r}")


async def test_a_view_of_a_missing_object_says_so_and_has_a_link_back(
    new_tab: NewTab, site: Site, ids: dict[str, str]
) -> None:
    tab = await new_tab(site.url, bypass_csp=True)
    for view, what in MISSING.items():
        page = await afresh(tab, placed(view, ids))
        await expect(page.get_by_role("heading", name=f"There is no such {what}")).to_be_visible()
        await judged(tab, view, view in SAMPLE)
        link = page.get_by_role("main").get_by_role("link").first
        await reached(page, "link", str(await link.text_content()))
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="There is no such")).to_have_count(0)


async def test_a_server_that_fails_is_named_and_asked_again(new_tab: NewTab, site: Site, ids: dict[str, str]) -> None:
    tab = await new_tab(site.url, bypass_csp=True)
    for (view, heading), (fault, told) in zip(VIEWS.items(), cycle(FAULTS), strict=False):
        await tab.page.route(API, fault)
        page = await afresh(tab, placed(view, ids))
        alert = page.get_by_role("alert").filter(has_text=told)
        await expect(alert.first).to_be_visible()
        await judged(tab, view)
        if view == "channels":  # its list is at the side
            await alert.get_by_role("button", name="Try again").focus()
        else:
            await reached(page, "button", "Try again")
        await page.unroute(API)
        await page.keyboard.press("Enter")  # unless it has asked again by itself
        await expect(page.get_by_role("heading", name=heading).first).to_be_attached()
        await expect(page.get_by_role("main").get_by_role("alert")).to_have_count(0)


async def test_a_view_that_cannot_be_drawn_says_so_and_is_left_or_drawn_again(new_tab: NewTab, site: Site) -> None:
    tab = await new_tab(site.url, bypass_csp=True)
    statistics = re.compile(r"/api/statistics")
    await tab.page.route(statistics, lambda route: route.fulfill(json={"days": None}))
    page = await afresh(tab, "overview")
    failed = page.get_by_role("heading", name="This view cannot be shown")
    await expect(failed).to_be_visible()
    await expect(page.get_by_role("main").get_by_role("alert")).to_contain_text("TypeError")
    await judged(tab, "overview")
    await page.get_by_role("main").get_by_role("link", name="New chat").click()
    await expect(page.get_by_role("heading", name="Talk to an agent")).to_be_visible()
    await page.go_back()
    await expect(failed).to_be_visible()
    await page.unroute(statistics)
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert tab.errors
    tab.errors.clear()


async def test_a_view_says_that_it_loads(new_tab: NewTab, site: Site, ids: dict[str, str]) -> None:
    tab = await new_tab(site.url, bypass_csp=True)
    held: list[Route] = []
    await tab.page.route(API, lambda route: held.append(route))
    for view in VIEWS:
        page = await afresh(tab, placed(view, ids))
        await expect(page.get_by_role("status", name="Loading").first).to_be_visible()
        await judged(tab, view, view in SAMPLE)
        for route in held:
            await route.abort()
        held.clear()


async def test_an_empty_view_says_what_to_do(new_tab: NewTab, empty: tuple[Site, dict[str, str]]) -> None:
    site, ids = empty
    tab = await new_tab(site.url, bypass_csp=True)
    for view, told in EMPTY.items():
        if view == "channels/<channel>":
            answer = await site.api.http.post("/api/channels", json={"name": "empty"})
            ids["channel"] = str(answer.json()["id"])
        page = await afresh(tab, placed(view, ids))
        await expect(page.get_by_role("main")).to_contain_text(told)
        await judged(tab, view)
