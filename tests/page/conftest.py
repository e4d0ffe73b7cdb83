"""One browser per test process, one server per module and database, a separate context for every test.

`site` is a server on SQLite; `any_site` is that, and also two pods on Postgres behind nginx with the shipped
configuration. A tab that asked another server for something, or whose scripts failed, fails its test."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from runyard.settings import Settings
from runyard.web import page
from tests.faces.channels.conftest import AT_ONCE
from tests.page.page_agents import Gates, app
from tests.page.page_tab import Tab, a_tab
from tests.support.browser import browser as launched
from tests.support.eventually import PATIENCE
from tests.support.in_process.live_server import QUICK, Server, served
from tests.support.servers.nginx_server import PrivateNginx
from tests.support.servers.postgres_server import PostgresServer

expect.set_options(timeout=1000 * PATIENCE)
POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)
NewTab = Callable[..., Awaitable[Tab]]


@dataclass
class Site:
    url: str
    gates: Gates
    pods: list[Server]

    @property
    def api(self) -> Server:
        return self.pods[0]


@pytest.fixture(scope="package")
async def browser() -> AsyncIterator[Browser]:
    assert (page.BUILT / "index.html").is_file(), page.MISSING
    async with launched() as found:
        yield found


@pytest.fixture(scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    gates = Gates()
    async with served(settings(folder, f"sqlite:///{folder}/runyard.db"), app(gates)) as pod:
        yield Site(f"http://127.0.0.1:{pod.port}", gates, [pod])


@pytest.fixture(scope="module", params=["sqlite", POSTGRES])
def new_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], str]]:
    """Makes empty databases and returns their addresses."""
    if request.param == "sqlite":
        yield lambda: f"sqlite:///{tmp_path_factory.mktemp('database')}/runyard.db"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    made: list[str] = []

    def new() -> str:
        made.append(f"page_{uuid.uuid4().hex}")
        return server.create_database(made[-1])

    yield new
    for name in made:
        server.drop_database(name)


@pytest.fixture(scope="module")
async def any_site(new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    gates = Gates()
    url = new_database()
    chosen = settings(folder, url)
    if url.startswith("sqlite:"):
        async with served(chosen, app(gates)) as pod:
            yield Site(f"http://127.0.0.1:{pod.port}", gates, [pod])
        return
    async with AsyncExitStack() as stack:
        pods = [await stack.enter_async_context(served(chosen, app(gates))) for _ in range(2)]
        with ExitStack() as daemons:
            nginx = daemons.enter_context(PrivateNginx(folder, [pod.port for pod in pods]))
            yield Site(nginx.url, gates, pods)


@pytest.fixture(scope="module")
async def locked(new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """A server that needs keys."""
    chosen = settings(tmp_path_factory.mktemp("locked"), new_database(), share_links=True)
    async with served(chosen, app(Gates()), keys=True) as pod:
        yield pod


def settings(folder: Path, database_url: str, **more: Any) -> Settings:
    files: dict[str, Any] = {"checkpoint_folder": folder / "checkpoints", "workspaces": folder / "workspaces"}
    return Settings(database_url=database_url, **{**QUICK, **AT_ONCE, **files, **more})


@pytest.fixture
async def new_tab(browser: Browser) -> AsyncIterator[NewTab]:
    """Opens tabs of one site, each in a separate browser profile."""
    tabs: list[Tab] = []

    async def new(url: str, **options: Any) -> Tab:
        tabs.append(await a_tab(browser, url, **options))
        return tabs[-1]

    yield new
    seen = [each for tab in tabs for each in (*tab.strays, *tab.errors)]
    for tab in tabs:
        await tab.page.context.close()
    assert seen == []


@pytest.fixture
async def tab(new_tab: NewTab, any_site: Site) -> Tab:
    return await new_tab(any_site.url)
