"""The inbox decides only the item that its user reads: attempts to make a key approve another item."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Locator, Request, Route, expect

from tests.page.conftest import Site
from tests.page.page_tab import LOOK_NOW, Tab


class Inbox:
    """The inbox in a tab, and the ids that the tab asked the server to decide."""

    def __init__(self, tab: Tab, site: Site) -> None:
        self.page = tab.page
        self.site = site
        self.asked: list[str] = []
        self.page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if request.method == "POST" and "/api/approvals/" in request.url:
            self.asked.append(request.url.rsplit("/", 1)[1])

    @property
    def items(self) -> Locator:
        return self.page.get_by_role("list", name="Waiting").get_by_role("listitem")

    def item(self, name: str) -> Locator:
        return self.items.filter(has_text=f'"{name}"')

    async def arrive(self, *names: str) -> list[str]:
        """Let a mailer ask for each of these; the ids of the approvals."""
        return [await self.site.api.waiting(await self.site.api.post("mailer", name)) for name in names]

    async def poll(self) -> None:
        await self.page.evaluate(LOOK_NOW)

    async def is_current(self, name: str) -> None:
        await expect(self.item(name)).to_have_attribute("aria-current", "true")
        await expect(self.items.and_(self.page.locator("[aria-current=true]"))).to_have_count(1)

    async def pressed(self, *keys: str) -> None:
        """Press keys; when this returns, all that they asked the server for is in `asked`."""
        for key in keys:
            await self.page.keyboard.press(key)
        await self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")


@pytest.fixture
async def inbox(tab: Tab, any_site: Site) -> AsyncIterator[Inbox]:
    yield Inbox(tab, any_site)
    await tab.page.goto("about:blank")
    for row in (await any_site.api.http.get("/api/approvals", params={"limit": 200})).json()["approvals"]:
        await any_site.api.http.post(f"/api/runs/{row['run_id']}/cancel")
    any_site.gates.calls.clear()


async def opened(inbox: Inbox, *names: str) -> list[str]:
    ids = await inbox.arrive(*names)
    await inbox.page.goto(f"{inbox.site.url}/#/approvals")
    await expect(inbox.items).to_have_count(len(names))
    await inbox.is_current(names[0])
    return ids


async def test_a_new_arrival_does_not_take_the_selection(inbox: Inbox) -> None:
    [newsletter] = await opened(inbox, "newsletter")
    await inbox.arrive("deploy")
    await inbox.poll()
    await expect(inbox.items).to_have_count(2)
    await expect(inbox.items.nth(0)).to_contain_text("newsletter")
    await inbox.is_current("newsletter")
    await inbox.pressed("a")
    await expect(inbox.item("newsletter")).to_have_count(0)
    assert inbox.asked == [newsletter]


async def test_an_arrival_in_an_empty_inbox_is_shown_before_a_key_decides_it(inbox: Inbox) -> None:
    await opened(inbox, "last")
    await inbox.pressed("a")
    await expect(inbox.items).to_have_count(0)
    inbox.asked.clear()
    [late] = await inbox.arrive("late")
    await inbox.poll()
    await expect(inbox.items).to_have_count(1)
    await inbox.pressed("a")
    assert inbox.asked == []
    await inbox.is_current("late")
    await inbox.pressed("a")
    await expect(inbox.items).to_have_count(0)
    assert inbox.asked == [late]


async def test_a_held_key_decides_one_item(inbox: Inbox) -> None:
    ids = await opened(inbox, "one", "two", "three")
    for _ in range(3):
        await inbox.page.keyboard.down("a")
    await inbox.is_current("two")
    for _ in range(5):
        await inbox.page.keyboard.down("a")
    await inbox.page.keyboard.up("a")
    await inbox.pressed()
    assert inbox.asked == ids[:1]


async def test_an_item_off_screen_is_shown_and_not_decided(inbox: Inbox) -> None:
    ids = await opened(inbox, *(f"number {n}" for n in range(9)))
    await inbox.page.locator("main").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    await expect(inbox.item("number 0")).not_to_be_in_viewport()
    await inbox.pressed("a")
    await expect(inbox.item("number 0").get_by_role("group")).to_be_in_viewport(ratio=1)
    assert inbox.asked == []
    await inbox.pressed("a")
    await expect(inbox.item("number 0")).to_have_count(0)
    assert inbox.asked == ids[:1]


async def test_moving_brings_the_whole_item_into_view(inbox: Inbox) -> None:
    await opened(inbox, *(f"number {n}" for n in range(9)))
    await expect(inbox.item("number 8")).not_to_be_in_viewport()
    for n in range(1, 9):
        await inbox.pressed("j")
        await inbox.is_current(f"number {n}")
        await expect(inbox.item(f"number {n}").get_by_role("group")).to_be_in_viewport(ratio=1)
        await expect(inbox.item(f"number {n}").get_by_role("group")).to_be_focused()
    for n in reversed(range(8)):
        await inbox.pressed("k")
        await expect(inbox.item(f"number {n}").get_by_role("group")).to_be_in_viewport(ratio=1)


async def test_an_item_taller_than_the_screen_is_decided_at_its_end_only(inbox: Inbox) -> None:
    long = "\n".join(f"line {n}" for n in range(200))
    [first, _] = await inbox.arrive("before", long)
    await inbox.page.goto(f"{inbox.site.url}/#/approvals")
    await inbox.is_current("before")
    await inbox.pressed("j")
    await expect(inbox.page.locator("code").get_by_text("line 0")).to_be_in_viewport()
    await inbox.pressed("a")
    assert inbox.asked == []
    await expect(inbox.items.nth(1).get_by_role("button", name="Approve")).to_be_in_viewport()
    await inbox.pressed("a")
    await expect(inbox.items).to_have_count(1)
    assert len(inbox.asked) == 1
    assert inbox.asked != [first]


async def test_after_a_decision_the_next_item_in_place_is_selected(inbox: Inbox) -> None:
    ids = await opened(inbox, "one", "two", "three", "four")
    await inbox.pressed("j", "a")
    await expect(inbox.items).to_have_count(3)
    await inbox.is_current("three")
    await inbox.pressed("r")  # a click right after the list has moved is dropped
    await expect(inbox.item("three").get_by_role("textbox")).to_be_focused()
    await inbox.page.keyboard.type("no")
    await inbox.page.keyboard.press("Enter")
    await expect(inbox.items).to_have_count(2)
    await inbox.is_current("four")
    await inbox.pressed("a")
    await expect(inbox.items).to_have_count(1)
    await inbox.is_current("one")
    assert inbox.asked == ids[1:]


async def test_an_item_decided_elsewhere_keeps_the_selection_and_cannot_be_decided(inbox: Inbox) -> None:
    [read, _] = await opened(inbox, "read", "other")
    answer = await inbox.site.api.http.post(f"/api/approvals/{read}", json={"decision": "reject"})
    assert answer.status_code == 200
    await inbox.poll()
    await expect(inbox.item("read")).to_contain_text("No longer waiting")
    await inbox.is_current("read")
    await inbox.pressed("a", "e", "r")
    assert inbox.asked == []
    await inbox.pressed("j")
    await inbox.is_current("other")
    await expect(inbox.items).to_have_count(1)


async def test_keys_decide_nothing_while_the_focus_is_elsewhere(inbox: Inbox) -> None:
    [_, second] = await opened(inbox, "first", "second")
    await inbox.item("second").get_by_role("button", name="Edit input").focus()
    await inbox.is_current("second")
    await inbox.page.get_by_role("link", name="Chats").focus()
    await inbox.pressed("a")
    assert inbox.asked == []
    await inbox.is_current("second")
    await inbox.pressed("a")
    await expect(inbox.items).to_have_count(1)
    assert inbox.asked == [second]
    await inbox.page.get_by_role("button", name="Keyboard shortcuts").click()
    await inbox.pressed("a")
    assert inbox.asked == [second]


async def test_a_key_that_belongs_to_another_shortcut_decides_nothing(inbox: Inbox) -> None:
    await opened(inbox, "one")
    await inbox.pressed("g", "a")
    assert inbox.asked == []
    await expect(inbox.items).to_have_count(1)


async def test_while_an_edit_is_open_no_key_approves_the_original(inbox: Inbox) -> None:
    await opened(inbox, "original")
    await inbox.pressed("e")
    await expect(inbox.page.get_by_role("textbox", name="Input as JSON")).to_be_focused()
    await inbox.item("original").get_by_role("group").focus()
    await inbox.pressed("a")
    assert inbox.asked == []
    await inbox.page.get_by_role("textbox", name="Input as JSON").press("Escape")
    await expect(inbox.item("original").get_by_role("group")).to_be_focused()


async def test_the_second_click_of_two_does_not_decide_what_moved_under_the_pointer(inbox: Inbox) -> None:
    await inbox.page.add_init_script("performance.now = () => window.clock ?? 0")
    ids = await opened(inbox, "one", "two", "three")
    button = await inbox.item("one").get_by_role("button", name="Approve").bounding_box()
    assert button
    place = (button["x"] + button["width"] / 2, button["y"] + button["height"] / 2)
    await inbox.page.mouse.click(*place)
    await expect(inbox.items).to_have_count(2)
    await inbox.page.mouse.click(*place)
    await inbox.pressed()
    assert inbox.asked == ids[:1]
    await inbox.page.evaluate("window.clock = 500")
    await inbox.page.mouse.click(*place)
    await expect(inbox.items).to_have_count(1)
    assert inbox.asked == ids[:2]


async def test_a_key_that_comes_before_the_screen_is_drawn_meets_the_new_list(inbox: Inbox) -> None:
    """The next key is pressed in the moment in which the decided item leaves the list, before the browser draws."""
    ids = await opened(inbox, "one", "two")
    await inbox.pressed("j")
    await inbox.is_current("two")
    await inbox.page.evaluate(
        """() => {
            const down = new KeyboardEvent('keydown', {key: 'r', bubbles: true});
            new MutationObserver((_, watch) => {
                if (document.querySelectorAll('.inbox > li').length !== 1) return;
                watch.disconnect();
                document.activeElement.dispatchEvent(down);
            }).observe(document.querySelector('.inbox'), {childList: true});
        }"""
    )
    await inbox.pressed("a")
    await expect(inbox.item("one").get_by_role("textbox", name="Reason")).to_be_focused()
    assert inbox.asked == ids[1:]


async def test_an_arrival_and_a_decision_elsewhere_are_shown_without_polling(inbox: Inbox) -> None:
    await inbox.page.add_init_script("window.setInterval = () => 0")
    await opened(inbox, "first")
    [second] = await inbox.arrive("second")
    await expect(inbox.items).to_have_count(2)
    await inbox.is_current("first")
    answer = await inbox.site.api.http.post(f"/api/approvals/{second}", json={"decision": "reject"})
    assert answer.status_code == 200
    await expect(inbox.items).to_have_count(1)


async def test_an_item_says_who_asks_and_why_and_an_edit_shows_what_it_changes(inbox: Inbox) -> None:
    run_id = await inbox.site.api.post("mailer", "ann")
    await inbox.site.api.waiting(run_id)
    await inbox.page.goto(f"{inbox.site.url}/#/approvals")
    await inbox.is_current("ann")
    item = inbox.item("ann")
    await expect(item).to_contain_text("mailer")
    await expect(item.get_by_label("The message that led here")).to_have_text("ann")
    await inbox.pressed("e")
    field = inbox.page.get_by_role("textbox", name="Input as JSON")
    changed = item.get_by_role("note", name="Changes")
    await expect(changed).to_have_text("Nothing has changed.")
    await field.fill('{"to": "bob"}')
    await expect(changed.locator("del")).to_have_text('"ann"')
    await expect(changed.locator("ins")).to_have_text('"bob"')
    await inbox.page.get_by_role("button", name="Approve with this input").click()
    await expect(inbox.items).to_have_count(0)
    await inbox.site.api.ended(run_id)
    assert inbox.site.gates.calls == {"mail bob": 1}


async def test_other_views_read_no_more_than_a_page_of_what_waits(tab: Tab) -> None:
    asked: list[str] = []

    async def many(route: Route) -> None:
        asked.append(route.request.url)
        await route.fulfill(json={"waits": [{}] * 100, "next": "w"})

    await tab.page.route(re.compile(r"/api/waits\?"), many)
    await tab.open("runs")
    await expect(tab.page).to_have_title("(100+) Runyard")
    await expect(tab.page.get_by_role("link", name="Inbox")).to_have_text("Inbox100+")
    assert asked
    assert not any("before=" in url for url in asked)


async def test_a_filter_shows_some_and_keys_decide_only_what_is_shown(inbox: Inbox) -> None:
    run_id = await inbox.site.api.post("booker", "a filter")
    await inbox.site.api.waiting(run_id)
    [mail, _] = await inbox.arrive("one", "two")
    await inbox.page.goto(f"{inbox.site.url}/#/approvals")
    await expect(inbox.items).to_have_count(3)
    await inbox.page.get_by_role("combobox", name="Agent", exact=True).select_option("mailer")
    await expect(inbox.items).to_have_count(2)
    await inbox.page.get_by_role("combobox", name="Age", exact=True).select_option("older than a day")
    await expect(inbox.page.get_by_text("No item fits this filter.")).to_be_visible()
    await inbox.page.get_by_role("heading", name="Inbox").click()
    await inbox.pressed("a")
    assert inbox.asked == []
    await inbox.page.get_by_role("combobox", name="Age", exact=True).select_option("last hour")
    await inbox.page.get_by_role("combobox", name="Tool", exact=True).select_option("send_mail")
    await expect(inbox.items).to_have_count(2)
    await inbox.page.reload()  # the address has the filter
    await expect(inbox.page.get_by_role("combobox", name="Tool", exact=True)).to_have_value("send_mail")
    await expect(inbox.items).to_have_count(2)
    await inbox.item("one").get_by_role("button", name="Edit input").focus()
    await inbox.pressed("a")
    await expect(inbox.items).to_have_count(1)
    await inbox.is_current("two")
    assert inbox.asked == [mail]
    await inbox.site.api.http.post(f"/api/runs/{run_id}/cancel")
