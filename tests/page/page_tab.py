"""A tab of the page: finds elements by the names in `ui/README.md`, and records forbidden requests and script
errors."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, ConsoleMessage, Locator, Page, Request, expect

from tests.support.eventually import PATIENCE

QUIET = re.compile(r"Failed to load resource|net::ERR_")  # an answer of 4xx, or a server that is unreachable
# what the page hears when its tab comes to the front: it reads the counts again, without waiting for the next time
LOOK_NOW = "document.dispatchEvent(new Event('visibilitychange'))"
WIDE = {"width": 1280, "height": 800}


class Tab:
    """One tab of a separate browser. `strays`: requests to other servers; `errors`: of scripts, and what
    the policy of the page refused."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.strays: list[str] = []
        self.errors: list[str] = []
        page.on("request", self._note_request)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _note_request(self, request: Request) -> None:
        address = request.url.removeprefix("blob:")  # bytes that the page already has
        if urlsplit(address)[:2] != urlsplit(self.url)[:2]:
            self.strays.append(request.url)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not QUIET.search(message.text):
            self.errors.append(message.text)

    # --- where to go

    async def open(self, route: str = "") -> Tab:
        await self.page.goto(f"{self.url}/#/{route}")
        await expect(self.page.get_by_role("navigation", name="Main")).to_be_visible()
        return self

    async def beside(self) -> Tab:
        """A second tab of the same browser, at the same place. This one stays in front: browsers give little time to
        others."""
        other = Tab(await self.page.context.new_page(), self.url)
        await other.page.goto(self.page.url)
        await self.page.bring_to_front()
        return other

    # --- talking

    async def begin(self, agent: str, text: str) -> Locator:
        """A new chat with an agent; its first run."""
        await self.open()
        await self.choose(agent)
        await self.say(text)
        await expect(self.runs).to_have_count(1)
        return self.runs.last

    async def choose(self, agent: str) -> None:
        radios = self.page.get_by_role("radiogroup", name="Agent")
        await expect(radios.get_by_role("radio").first).to_be_visible()
        more = radios.get_by_role("button", name="more")
        if await more.count():
            await more.click()
        await radios.get_by_role("radio", name=agent, exact=True).check()

    async def say(self, text: str) -> None:
        await self.page.get_by_role("textbox", name="Message").fill(text)
        await self.page.get_by_role("button", name="Send").click()

    @property
    def runs(self) -> Locator:
        return self.page.get_by_role("log", name="Conversation", exact=True).get_by_role("article")

    def run(self, question: str) -> Locator:
        """The run on screen that answers this."""
        asked = self.page.get_by_test_id("question").get_by_text(question, exact=True)
        return self.runs.filter(has=asked)

    def approval(self, tool: str) -> Locator:
        return self.page.get_by_role("group", name=f"Approval {tool}")

    # --- what is there

    async def status(self, name: str) -> Locator:
        return self.page.get_by_role("status", name=name)


def answer(run: Locator) -> Locator:
    return run.get_by_test_id("answer")


async def ended(run: Locator, status: str = "done") -> None:
    await expect(run).to_have_attribute("data-status", status)


async def a_tab(browser: Browser, url: str, **options: Any) -> Tab:
    """A tab in a separate context: no cookies, no storage, nothing remembered. Nothing moves by itself: animations cost
    more than all else that a tab does while it waits."""
    context = await browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **options})
    context.set_default_timeout(1000 * PATIENCE)
    return Tab(await context.new_page(), url)
