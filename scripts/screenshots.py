"""docs/images: the main views of the page, light and dark, with the demo and the office at work.

`make screenshots` serves both on loopback, does what a visitor would do, and takes a picture of every view. Nothing
tests these files; take them again when the page has changed, and look at them.
"""

import asyncio
import logging
import runpy
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Browser, Page, expect

import runyard
import runyard.demo
from runyard.agents.declared.loading import App, app_of, load
from runyard.settings import Settings
from tests.page.page_tab import Tab, a_tab, ended
from tests.support.browser import browser
from tests.support.in_process.live_server import Server, served

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
OFFICE = ROOT / "examples" / "office"
MOST_BYTES = 160_000
SCHEMES = ("light", "dark")
REFUND, REFUNDED = "I want my money back for A-1001", "Please refund A-1001, the lid is broken"
WIDTH, HEIGHT = 1280, {"chat": 880, "inspector": 780, "overview": 1180}


async def main() -> int:
    IMAGES.mkdir(exist_ok=True)
    logging.disable()
    with tempfile.TemporaryDirectory() as folder:
        async with (
            browser() as found,
            served(_settings(Path(folder), "demo"), _with_costs(app_of(runyard.demo))) as demo,
            served(_settings(Path(folder), "office"), load(OFFICE)) as office,
        ):
            await _history(demo)
            await asyncio.to_thread(runpy.run_path(str(OFFICE / "move_in.py"))["move_in"], _url(office))
            for scheme in SCHEMES:
                for name, (server, scene) in _scenes(demo, office).items():
                    await _take(found, server, scheme, name, scene)
    return 1 if _too_large() else 0


def _settings(folder: Path, name: str) -> Settings:
    return Settings(
        database_url=f"sqlite:///{folder}/{name}.db",
        workspaces=folder / "workspaces",
        checkpoint_folder=folder / "checkpoints",
        group_pause_min_seconds=0,
        group_pause_max_seconds=0,
        log_level="error",
    )


def _url(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}"


def _with_costs(app: App) -> App:
    """The demo, and two agents that give the overview something to count: one whose model costs money, one that
    fails."""
    usage = {"input_tokens": 1_840, "output_tokens": 260, "usd": 0.012}
    turns = [{"text": "Three orders are late: A-1003, A-1007 and A-1010.", "usage": usage}]
    reporter = runyard.Agent("reporter", model="scripted", turns=turns, chat=False)

    @runyard.agent(chat=False)
    async def courier(ctx: runyard.Context) -> None:
        """Ask the delivery service for a place."""
        raise ConnectionError("The delivery service does not answer.")

    return App({**app.agents, "reporter": reporter, "courier": courier}, app.collections, app.default)


async def _history(demo: Server) -> None:
    """Write the conversations that a visitor finds."""
    for agent, text in (
        ("device", "Run the plan"),
        ("slow", "Take your time"),
        ("cv-screener", "Who speaks Portuguese?"),
        ("reporter", "Which orders are late?"),
        ("courier", "Where is the parcel of A-1003?"),
        ("reporter", "And which were late last week?"),
        ("assistant", "Where is my desk lamp, A-1002?"),
        ("cv-screener", "Who knows Postgres and Kubernetes?"),
    ):
        await demo.ended(await demo.post(agent, text, await demo.thread(agent=agent)))
    for text in (REFUNDED, "What is the average price of your goods?", REFUND):
        approval_id = await demo.waiting(await demo.post("assistant", text, await demo.thread(agent="assistant")))
        if text == REFUNDED:
            await demo.http.post(f"/api/approvals/{approval_id}", json={"decision": "approve"})


Scene = Callable[[Tab], Awaitable[None]]


def _scenes(demo: Server, office: Server) -> dict[str, tuple[Server, Scene]]:
    return {
        "new-chat": (demo, _new_chat),
        "chat": (demo, _chat),
        "sources": (demo, _sources),
        "inspector": (demo, _inspector),
        "runs": (demo, _runs),
        "overview": (demo, _overview),
        "approvals": (demo, _approvals),
        "channels": (office, _channels),
    }


async def _new_chat(tab: Tab) -> None:
    await tab.open()
    await tab.page.get_by_role("radio", name="assistant").wait_for()


async def _chat(tab: Tab) -> None:
    await _open_chat(tab, REFUND)
    await tab.approval("refund").get_by_role("button", name="Approve").wait_for()
    await tab.page.locator("details.thinking summary").first.click()
    await _to_the_top(tab)


async def _sources(tab: Tab) -> None:
    await _open_chat(tab, "Who knows Postgres and Kubernetes?")
    await ended(tab.runs.last)
    await _to_the_top(tab)


async def _inspector(tab: Tab) -> None:
    await _open_chat(tab, REFUNDED)
    await ended(tab.runs.last)
    await tab.runs.last.get_by_role("link", name="Inspect run").click()
    slider = tab.page.get_by_role("slider", name="Event")
    await slider.wait_for()
    await slider.fill("52")


async def _runs(tab: Tab) -> None:
    await tab.open("runs")
    await tab.page.get_by_role("table", name="Runs").get_by_role("link").first.wait_for()


async def _overview(tab: Tab) -> None:
    await tab.open("overview")
    await tab.page.get_by_role("table", name="By agent").wait_for()


async def _approvals(tab: Tab) -> None:
    await tab.open("approvals")
    await tab.page.get_by_role("list", name="Waiting").get_by_role("listitem").first.wait_for()


async def _channels(tab: Tab) -> None:
    await tab.open("channels")
    await tab.page.get_by_role("link", name="# pier").click()
    await tab.page.get_by_role("log", name="Messages").get_by_role("article").first.wait_for()


async def _open_chat(tab: Tab, title: str) -> None:
    await tab.open()
    await tab.page.get_by_role("navigation", name="Chats").get_by_role("link", name=title).first.click()
    await tab.runs.first.wait_for()


async def _to_the_top(tab: Tab) -> None:
    await tab.page.locator(".scroll").last.evaluate("box => (box.scrollTop = 0)")


async def _take(found: Browser, server: Server, scheme: str, name: str, scene: Scene) -> None:
    size = {"width": WIDTH, "height": HEIGHT.get(name, 800)}
    tab = await a_tab(found, _url(server), color_scheme=scheme, reduced_motion="reduce", viewport=size)
    await scene(tab)
    await _settle(tab.page)
    await tab.page.screenshot(path=IMAGES / f"{name}-{scheme}.png", animations="disabled", caret="hide")
    await tab.page.context.close()


async def _settle(page: Page) -> None:
    """Until the numbers in the bar and the titles of all chats are there; nothing has the mouse over it."""
    await page.mouse.move(WIDTH - 1, 799)
    await page.get_by_role("status", name="Overview").get_by_text("queued").wait_for()
    chats = page.get_by_role("navigation", name="Chats").get_by_role("listitem")
    await expect(chats.filter(has_text="New chat")).to_have_count(0)


def _too_large() -> bool:
    sizes = {path.name: path.stat().st_size for path in sorted(IMAGES.glob("*.png"))}
    for name, size in sizes.items():
        print(f"{name}: {size / 1000:.0f} KB" + (" (too large)" if size > MOST_BYTES else ""))
    return any(size > MOST_BYTES for size in sizes.values())


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
