"""Debian's Chromium, driven by Playwright, for the tests of the page.

Playwright's driver is run by the Node that builds the page, where there is one: the Node that Playwright brings needs a
library (libatomic) that a minimal Debian does not have.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

from scripts.setup import node
from tests.support.session.missing_programs import need

# No sandbox: tests may be run by root, and what is opened is our own. No GPU, and /dev/shm of containers is small.
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    if ours := node.find():
        os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", str(ours))
    program = need("chromium")
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        try:
            yield launched
        finally:
            await launched.close()
