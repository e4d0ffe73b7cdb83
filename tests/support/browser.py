"""Debian's Chromium, driven by Playwright, for the tests of the page.

`python -m tests.support.browser` says which program would be used. A machine without one cannot run those tests: they
fail and are never skipped, because a page that nobody has looked at does not count as tested.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, async_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# No sandbox: tests may be run by root, and what is opened is our own. No GPU, and /dev/shm of containers is small.
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")


class BrowserMissingError(Exception):
    """No Chromium was found; run `make browser-for-tests`, or install it (Debian, Ubuntu: apt install chromium)."""

    def __str__(self) -> str:
        return str(self.__doc__)


def find() -> Path:
    for program in PROGRAMS:
        if found := shutil.which(program):
            return Path(found)
    raise BrowserMissingError


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=find(), args=list(ARGUMENTS))
        try:
            yield launched
        finally:
            await launched.close()


def main() -> int:
    try:
        found = find()
    except BrowserMissingError as error:
        print(error, file=sys.stderr)
        return 1
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{said} ({found})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
