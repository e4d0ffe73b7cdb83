"""Files on the page: chosen, pasted and dropped; shown with the message, in the answer and in tool calls."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Locator, expect

from tests.page.conftest import NewTab, Site
from tests.page.page_agents import PIXEL
from tests.page.page_tab import Tab, answer, ended

# What a browser hands over when a person pastes or drops a picture.
HAND_OVER = """(area, [kind, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], `${kind}.png`, { type: "image/png" }));
  const event = kind === "paste"
    ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
    : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
  area.dispatchEvent(event);
}"""


def text_of(path: Path) -> str:
    return path.read_text()


def files(where: Locator) -> Locator:
    return where.get_by_role("list", name="Files").first


async def attach(tab: Tab, path: Path) -> Locator:
    await tab.page.get_by_test_id("files").set_input_files(path)
    attached = tab.page.get_by_role("list", name="Attached files")
    await expect(attached.get_by_text(path.name)).to_be_visible()
    return attached


async def is_drawn(picture: Locator) -> None:
    await expect(picture).to_be_visible()
    await expect(picture).to_have_js_property("naturalWidth", 1)


async def test_files_are_attached_previewed_sent_and_saved(new_tab: NewTab, any_site: Site, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PIXEL)
    (tmp_path / "notes.txt").write_text("turn left")
    tab = await new_tab(any_site.url)
    await tab.open()
    await tab.choose("filer")
    attached = await attach(tab, tmp_path / "a.png")
    await is_drawn(attached.get_by_role("img", name="a.png"))
    await attach(tab, tmp_path / "notes.txt")
    area = tab.page.get_by_role("textbox", name="Message")
    for kind in ("paste", "drop"):
        await area.evaluate(HAND_OVER, [kind, list(PIXEL)])
        await expect(attached.get_by_text(f"{kind}.png")).to_be_visible()
    await attached.get_by_role("button", name="Remove drop.png").click()
    await tab.say("look")
    run = tab.runs.last
    await ended(run)
    await expect(answer(run)).to_have_text("a.png, notes.txt, paste.png")
    sent = files(run)
    await is_drawn(sent.get_by_role("img", name="a.png"))
    await is_drawn(sent.get_by_role("img", name="paste.png"))
    await expect(sent.get_by_role("listitem")).to_have_count(3)
    made = run.get_by_role("list", name="Files").last
    await is_drawn(made.get_by_role("img", name="copy.png"))
    async with tab.page.expect_download() as saving:
        await sent.get_by_role("button", name="Save notes.txt").click()
    assert text_of(await (await saving.value).path()) == "turn left"
    await expect(tab.page.get_by_role("list", name="Attached files")).to_have_count(0)


async def test_a_file_that_the_server_refuses_is_explained(new_tab: NewTab, any_site: Site, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no picture")
    tab = await new_tab(any_site.url)
    await tab.open()
    await tab.page.get_by_test_id("files").set_input_files(tmp_path / "a.png")
    await expect(tab.page.get_by_role("alert")).to_contain_text("not of the type image/png")
    await expect(tab.page.get_by_role("button", name="Send")).to_be_disabled()
    await tab.page.get_by_role("link", name="Runs").click()
    await expect(tab.page.get_by_role("heading", name="Runs")).to_be_visible()
    await tab.page.get_by_role("link", name="Chats", exact=True).click()
    await expect(tab.page.get_by_role("textbox", name="Message")).to_be_visible()
    await expect(tab.page.get_by_role("alert")).to_have_count(0)
    await tab.page.get_by_test_id("files").set_input_files(tmp_path / "a.png")
    await expect(tab.page.get_by_role("alert")).to_contain_text("not of the type image/png")
    await tab.choose("rememberer")
    await tab.say("without the picture")
    await expect(tab.runs).to_have_count(1)
    await tab.page.get_by_role("link", name="New chat", exact=True).click()
    await expect(tab.page.get_by_role("heading", name="Talk to an agent")).to_be_visible()
    await expect(tab.page.get_by_role("alert")).to_have_count(0)


async def test_files_that_were_not_sent_yet_survive_a_change_of_the_view(tab: Tab, tmp_path: Path) -> None:
    page = tab.page
    (path := tmp_path / "list.txt").write_text("socks")
    await tab.open()
    await tab.choose("filer")
    attached = await attach(tab, path)
    await page.get_by_role("link", name="Runs").click()
    await expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    await page.get_by_role("link", name="Chats", exact=True).click()
    await expect(attached.get_by_text("list.txt")).to_be_visible()
    await tab.say("pack this")
    await ended(tab.runs.last)
    await expect(answer(tab.runs.last)).to_have_text("list.txt")
    await expect(attached).to_have_count(0)
