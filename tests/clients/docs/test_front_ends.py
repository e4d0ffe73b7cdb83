"""The pages in docs/clients are front ends that run: built unchanged, and used in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.clients.docs.front_end import bundled, opened
from tests.flow.pods.test_docs_say_what_works import blocks
from tests.support.eventually import PATIENCE

AI_SDK = """
import { createRoot } from 'react-dom/client'
import Page from './page'

createRoot(document.getElementById('root')!).render(<Page chat="c1" agentKey="none" />)
"""

AG_UI = AI_SDK.replace('chat="c1"', 'thread="t1"')


async def test_the_page_with_use_chat_shows_answers_asks_and_survives_a_reload(url: str, tmp_path: Path) -> None:
    expect.set_options(timeout=1000 * PATIENCE)
    async with opened(url, await _use_chat(tmp_path)) as tab:
        await _say(tab, "hello")
        await expect(tab.get_by_text("Hello, dear guest.")).to_be_visible()
        await expect(tab.locator("input")).to_be_enabled()
        await _say(tab, "refund")
        await expect(tab.get_by_role("button", name="Approve")).to_be_visible()
        await expect(tab.get_by_role("button", name="Stop")).to_have_count(0)
        await expect(tab.locator("input")).to_be_disabled()
        await tab.get_by_role("button", name="Approve").click()
        await expect(tab.get_by_text("So: A-1 is refunded.")).to_be_visible()
        await expect(tab.locator("input")).to_be_enabled()
        await expect(tab.get_by_role("alert")).to_have_count(0)
        await tab.reload()
        await expect(tab.get_by_text("So: A-1 is refunded.")).to_be_visible()


async def test_the_page_with_use_chat_goes_on_after_an_error(url: str, tmp_path: Path) -> None:
    expect.set_options(timeout=1000 * PATIENCE)
    async with opened(url, await _use_chat(tmp_path)) as tab:
        await tab.route("**/api/ai/helper", lambda route: route.fulfill(status=503, body="Try again later."), times=1)
        await _say(tab, "look")
        await expect(tab.get_by_role("alert")).to_have_text("Try again later.")
        await _say(tab, "hello")
        await expect(tab.get_by_text("Hello, dear guest.")).to_be_visible()
        await expect(tab.get_by_role("alert")).to_have_count(0)


async def _say(tab: Page, text: str) -> None:
    await tab.fill("input", text)
    await tab.press("input", "Enter")


async def _use_chat(folder: Path) -> str:
    [page, *_] = blocks("clients/ai-sdk.md", "tsx")
    return await bundled(folder, main=AI_SDK, page=page.replace("/api/ai/support", "/api/ai/helper"))


async def test_the_page_with_ag_ui_shows_answers_and_asks(url: str, tmp_path: Path) -> None:
    expect.set_options(timeout=1000 * PATIENCE)
    async with opened(url, await _ag_ui(tmp_path)) as tab:
        await _say(tab, "hello")
        await expect(tab.get_by_text("Hello, dear guest.")).to_be_visible()
        await _say(tab, "refund")
        await tab.get_by_role("button", name="Approve").click()
        await expect(tab.get_by_text("So: A-1 is refunded.")).to_be_visible()
        await expect(tab.get_by_role("button")).to_have_count(0)
        await expect(tab.get_by_role("alert")).to_have_count(0)


async def test_the_page_with_ag_ui_shows_errors_and_finds_interrupts_after_a_reload(url: str, tmp_path: Path) -> None:
    expect.set_options(timeout=1000 * PATIENCE)
    async with opened(url, await _ag_ui(tmp_path)) as tab:
        await _say(tab, "fail")
        await expect(tab.get_by_role("alert")).to_be_visible()
        await _say(tab, "refund")
        await expect(tab.get_by_role("button", name="Approve")).to_be_visible()
        await expect(tab.get_by_role("alert")).to_have_count(0)
        await tab.reload()
        await _say(tab, "hello")
        await expect(tab.get_by_role("alert")).to_contain_text("The agent waits for an answer.")
        await tab.get_by_role("button", name="Approve").click()
        await expect(tab.get_by_text("So: A-1 is refunded.")).to_be_visible()
        await expect(tab.get_by_role("alert")).to_have_count(0)


async def _ag_ui(folder: Path) -> str:
    [page] = blocks("clients/ag-ui.md", "tsx")
    return await bundled(folder, main=AG_UI, page=page.replace("/api/ag-ui/support", "/api/ag-ui/helper"))


LANGGRAPH = AI_SDK.replace('chat="c1" ', "")
FIRST_GENERATION = (
    ("'@langchain/react'", "'@langchain/langgraph-sdk/react'"),
    ("threadId,\n", "threadId,\n    fetchStateHistory: true,\n"),
    ("message.text", "String(message.content)"),
    ("actionRequests", "action_requests"),
    ("stream.respond({ decisions", "stream.submit(undefined, { command: { resume: { decisions"),
    ("[{ type }] })", "[{ type }] } } })"),
)


@pytest.mark.parametrize("generation", ["thread stream", "runs"])
async def test_the_page_with_use_stream_shows_answers_asks_and_survives_a_reload(
    url: str, tmp_path: Path, generation: str
) -> None:
    expect.set_options(timeout=1000 * PATIENCE)
    [page] = blocks("clients/langgraph.md", "tsx")
    page = page.replace("'support'", "'helper'")
    for old, new in FIRST_GENERATION if generation == "runs" else ():
        assert old in page
        page = page.replace(old, new)
    async with opened(url, await bundled(tmp_path, main=LANGGRAPH, page=page)) as tab:
        await _say(tab, "hello")
        await expect(tab.get_by_text("Hello, dear guest.")).to_be_visible()
        await expect(tab.locator("input")).to_be_enabled()
        await _say(tab, "refund")
        await expect(tab.get_by_role("button", name="Approve")).to_be_visible()
        await tab.reload()
        await tab.get_by_role("button", name="Approve").click()
        await expect(tab.get_by_text("So: A-1 is refunded.")).to_be_visible()
        await expect(tab.locator("input")).to_be_enabled()
        await tab.reload()
        await expect(tab.get_by_text("So: A-1 is refunded.")).to_be_visible()
        await expect(tab.get_by_text("Hello, dear guest.")).to_have_count(1)
        await expect(tab.get_by_role("alert")).to_have_count(0)
        await expect(tab.get_by_role("button")).to_have_count(0)
