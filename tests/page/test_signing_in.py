"""If a server needs keys, the page asks for one, reports a rejected one, and keeps it for this tab only."""

from playwright.async_api import expect

from tests.page.conftest import NewTab
from tests.page.page_tab import answer, ended
from tests.support.in_process.live_server import Server


async def test_a_key_is_asked_for_and_kept_in_the_tab(new_tab: NewTab, locked: Server) -> None:
    tab = await new_tab(f"http://127.0.0.1:{locked.port}")
    page = tab.page
    await tab.open()
    dialog = page.get_by_role("dialog", name="Sign in")
    for key, taken in (("not-a-key", False), (await locked.key("ann", "read", "write"), True)):
        await dialog.get_by_role("textbox", name="API key").fill(key)
        await dialog.get_by_role("button", name="Sign in").click()
        if not taken:
            await expect(dialog.get_by_role("alert")).to_contain_text("does not take this key")
    await expect(dialog).to_have_count(0)
    run = await tab.begin("rememberer", "with a key")
    await ended(run)
    await expect(answer(run)).to_have_text("nothing")
    await page.reload()
    await expect(answer(tab.runs.last)).to_have_text("nothing")
    assert await page.evaluate("() => JSON.stringify(localStorage) + document.cookie") in ("{}", '{"theme":"auto"}')
    stranger = await new_tab(tab.url)
    await stranger.page.goto(page.url)
    await expect(stranger.page.get_by_role("dialog", name="Sign in")).to_be_visible()
    await expect(stranger.page.get_by_text("with a key")).to_have_count(0)
    await page.get_by_role("button", name="Signed in as ann").click()
    account = page.get_by_role("dialog", name="Account")
    await expect(account).to_contain_text("read, write")
    await account.get_by_role("link", name="Your runs and what they cost").click()
    await expect(page.get_by_role("table", name="By agent").get_by_role("row", name="rememberer")).to_contain_text("1")
    await page.get_by_role("button", name="Signed in as ann").click()
    await account.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("dialog", name="Sign in")).to_be_visible()
    await expect(page.get_by_text("with a key")).to_have_count(0)
    assert await page.evaluate("() => sessionStorage.length") == 0
