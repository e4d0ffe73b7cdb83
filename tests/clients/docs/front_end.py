"""Front ends of docs/clients, built with third-party packages and opened in Chromium, at the origin of a server."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Page, Route

from tests.clients.conftest import ENVIRONMENT
from tests.support.browser import browser
from tests.support.eventually import PATIENCE

ESBUILD = Path(__file__).parents[3] / "ui" / "node_modules" / ".bin" / "esbuild"
HTML = "<!doctype html><title>Front end</title><div id=root></div><script type=module src=/front.js></script>"


async def bundled(folder: Path, **sources: str) -> str:
    """Bundle these sources, of which `main` begins. Return the code."""
    for name, source in sources.items():
        (folder / f"{name}.tsx").write_text(source, encoding="utf-8")
    options = (
        "--bundle",
        "--format=esm",
        "--jsx=automatic",
        "--log-level=error",
        '--define:process.env.NODE_ENV="production"',
    )
    process = await asyncio.create_subprocess_exec(
        str(ESBUILD),
        str(folder / "main.tsx"),
        *options,
        env={"PATH": os.environ["PATH"], "NODE_PATH": str(ENVIRONMENT / "node" / "node_modules")},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    code, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return code.decode()


async def printed(folder: Path, **sources: str) -> str:
    """Run these sources in Node, of which `main` begins. Return what they print."""
    for name, source in sources.items():
        (folder / f"{name}.ts").write_text(source, encoding="utf-8")
    await _output(
        str(ESBUILD), *(f"{name}.ts" for name in sources), "--outdir=.", "--out-extension:.js=.mjs", folder=folder
    )
    (folder / "node_modules").symlink_to(ENVIRONMENT / "node" / "node_modules")
    return await _output("node", "main.mjs", folder=folder)


async def _output(*command: str, folder: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env={"PATH": os.environ["PATH"]}, stdout=PIPE, stderr=PIPE
    )
    said, errors = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0, errors.decode()
    return said.decode()


@asynccontextmanager
async def opened(url: str, code: str) -> AsyncIterator[Page]:
    """Open the front end as if the server of the API served it."""

    async def front(route: Route) -> None:
        is_script = route.request.url.endswith(".js")
        await route.fulfill(
            body=code if is_script else HTML,
            content_type="text/javascript" if is_script else "text/html",
        )

    async with browser() as found:
        page = await found.new_page()
        await page.route("**/front*", front)
        await page.goto(f"{url}/front")
        yield page
