"""Answers are rated, conversations are shared by links that expire, and formulas are drawn."""

from __future__ import annotations

import re
import time
from functools import partial
from typing import Literal

from playwright.async_api import expect

from runyard.base.ids import new_id, new_secret
from runyard.domain.api_key import LOCAL, SECRET_LENGTH, digest_of
from runyard.domain.conversations.thread import Share
from tests.page.conftest import NewTab, Site
from tests.page.page_tab import Tab, answer, ended
from tests.support.eventually import eventually
from tests.support.in_process.live_server import Server
from tests.web.access.every_route import bearer


async def test_an_answer_is_judged_with_a_comment_and_it_can_be_taken_back(tab: Tab, any_site: Site) -> None:
    page = tab.page
    run = await tab.begin("traveller", "to Rome")
    await ended(run)
    good, bad = (run.get_by_role("button", name=name) for name in ("Good answer", "Bad answer"))
    await good.click()
    await expect(good).to_have_attribute("aria-pressed", "true")
    await bad.click()
    await expect(good).to_have_attribute("aria-pressed", "false")
    comment = run.get_by_role("textbox", name="Comment on the answer")
    await expect(comment).to_be_focused()
    await comment.fill("The train is too early.")
    await run.get_by_role("button", name="Save comment").click()
    await expect(comment).to_have_count(0)
    await page.reload()
    await expect(bad).to_have_attribute("aria-pressed", "true")
    await expect(run.get_by_text("The train is too early.")).to_be_visible()
    await tab.say("home")  # another turn does not hide it
    await expect(tab.runs).to_have_count(2)
    await ended(tab.runs.last)
    judged = tab.runs.first.get_by_role("button", name="Bad answer")  # `run` is the last one
    await expect(judged).to_have_attribute("aria-pressed", "true")
    inspect = tab.runs.first.get_by_role("link", name="Inspect run")
    await inspect.click()
    await expect(page.get_by_role("region", name="Facts")).to_contain_text("👎 The train is too early.")
    await page.go_back()
    await judged.click()
    await expect(tab.runs.first.get_by_text("The train is too early.")).to_have_count(0)
    rows = (await any_site.api.http.get("/api/runs", params={"limit": 2})).json()["runs"]
    assert [row["feedback"] for row in rows] == [None, None]


async def test_a_link_shows_nothing_after_it_has_expired(new_tab: NewTab, any_site: Site) -> None:
    api = any_site.api
    thread = await api.thread(agent="rememberer")
    await api.ended(await api.post("rememberer", "soon over", thread))
    [newest] = (await api.store.first_messages([thread])).values()
    for valid_ms, shown in ((60_000, "Conversation"), (1, "Not found or expired")):
        token = new_secret(SECRET_LENGTH)
        share = Share(id=new_id(), owner=LOCAL, thread_id=thread, digest=digest_of(token), upto=newest.id)
        expires_at = (await api.store.create_share(share, valid_ms, 9)).expires_at
        page = (await new_tab(any_site.url)).page
        if valid_ms == 1:
            await eventually("the link has expired", partial(_is_past, expires_at))
        await page.goto(f"{any_site.url}/#/shared/{token}")
        role: Literal["region", "heading"] = "region" if valid_ms > 1 else "heading"
        await expect(page.get_by_role(role, name=shown)).to_be_visible()
        await expect(page.get_by_text("soon over").first).to_be_visible(visible=valid_ms > 1)


async def _is_past(ms: int) -> bool:
    return time.time() * 1000 > ms


async def test_a_link_shows_the_conversation_until_it_is_revoked(tab: Tab, new_tab: NewTab, any_site: Site) -> None:
    page = tab.page
    run = await tab.begin("traveller", "to Rome")
    await ended(run)
    await page.get_by_role("button", name="Share").click()
    dialog = page.get_by_role("dialog", name="Share this chat")
    await dialog.get_by_role("combobox", name="Valid for").select_option("1 day")
    await dialog.get_by_role("button", name="Create link").click()
    link = await dialog.get_by_role("textbox", name="Link (shown once)").input_value()
    links = dialog.get_by_role("list", name="Links to this chat").get_by_role("listitem")
    await expect(links).to_have_count(1)

    reader = (await new_tab(any_site.url)).page
    asked: list[str] = []
    reader.on("request", lambda request: asked.append(request.url))
    await reader.goto(link)
    said = reader.get_by_role("region", name="Conversation").get_by_role("article")
    await expect(said).to_have_text(["to Rome", "All is booked."])
    await expect(reader.get_by_role("heading", name="to Rome")).to_be_visible()
    await expect(reader).to_have_title("to Rome · Runyard")
    for absent in (reader.get_by_role("textbox"), reader.get_by_role("navigation"), reader.get_by_role("link")):
        await expect(absent).to_have_count(0)
    assert {url.partition("/api/")[2] for url in asked if "/api/" in url} == {"shared"}
    token = link.rpartition("/")[2]
    assert not any(token in url for url in asked)

    await links.get_by_role("button", name="Revoke").click()
    await expect(links).to_have_count(0)
    await reader.reload()
    await expect(reader.get_by_role("heading", name="Not found or expired")).to_be_visible()
    await expect(reader.get_by_text("to Rome")).to_have_count(0)


async def test_a_reader_of_a_link_is_asked_for_no_key(new_tab: NewTab, locked: Server) -> None:
    key = bearer(await locked.key("ann"))
    thread = (await locked.http.post("/api/threads", json={"agent": "rememberer"}, headers=key)).json()["thread_id"]
    await locked.http.post(f"/api/threads/{thread}/messages", json={"content": "only for readers"}, headers=key)
    made = await locked.http.post(f"/api/threads/{thread}/shares", headers=key)
    tab = await new_tab(f"http://127.0.0.1:{locked.port}")
    await tab.page.goto(tab.url + made.json()["path"])
    await expect(tab.page.get_by_role("article", name="Message")).to_have_text("only for readers")
    await expect(tab.page.get_by_role("dialog")).to_have_count(0)
    await tab.page.goto(f"{tab.url}/#/chats/{thread}")  # the rest of the page still needs one
    await expect(tab.page.get_by_role("dialog", name="Sign in")).to_be_visible()


async def test_formulas_are_drawn_when_they_have_an_end(tab: Tab, any_site: Site) -> None:
    loaded: list[str] = []
    tab.page.on("request", lambda request: loaded.append(request.url))
    run = await tab.begin("reckoner", "formulas")
    half = answer(run).locator("code")
    await expect(half).to_have_text("\\(a_1 * b_2 *")  # as it is written: no emphasis, no bracket that goes away
    await expect(answer(run).locator("em")).to_have_count(0)
    assert not any("/assets/tex-" in url for url in loaded)
    any_site.gates.open["formulas"].set()
    await ended(run)
    formulas = answer(run).locator("math")
    await expect(formulas).to_have_count(3)
    await expect(formulas.locator("mfrac")).to_have_count(1)
    await expect(answer(run)).to_contain_text("costs $5:")
    await expect(answer(run).locator("code")).to_have_text("$$\\wrong{$$")  # cannot be drawn
    assert await formulas.nth(2).get_attribute("display") == "block"
    [box, whole] = [await each.bounding_box() for each in (formulas.nth(2), formulas.first)]
    assert box is not None
    assert whole is not None
    assert box["height"] > whole["height"] > 5  # the browser has drawn them
    assert sum(bool(re.search("/assets/tex-", url)) for url in loaded) == 1
