"""The page is served without a key, under a policy that lets it load and run nothing but itself; without a build, one
sentence says how to get it."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from runyard.web import page
from tests.support.in_process.live_server import Serve
from tests.support.session.missing_programs import need_node
from tests.web.responses.test_problems import MEMORY, problem

ROOT = Path(__file__).parents[3]
UI = ROOT / "ui"


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which a build is looked for."""
    monkeypatch.setattr(page, "BUILT", tmp_path)
    return tmp_path


def _build(folder: Path) -> None:
    (folder / "assets").mkdir()
    (folder / "index.html").write_text("<!doctype html><script type=module src=/assets/page-1.js></script>")
    (folder / "assets" / "page-1.js").write_text("render()")
    (folder / "assets" / "page-1.css").write_text("body {}")


@MEMORY
async def test_without_a_build_one_sentence_says_how_to_get_the_page(built: Path, serve: Serve) -> None:
    server = await serve()
    answer = await server.http.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert "`make page`" in answer.text
    assert answer.text.count("\n") == 1
    assert (await server.http.get("/api/threads")).status_code == 200


@MEMORY
async def test_the_page_needs_no_key_and_what_it_asks_for_does(built: Path, serve: Serve) -> None:
    _build(built)
    server = await serve(keys=True)
    assert (await server.http.get("/")).status_code == 200
    assert (await server.http.get("/assets/page-1.js")).text == "render()"
    assert (await server.http.get("/api/threads")).status_code == 401


@MEMORY
async def test_the_page_is_asked_for_every_time_and_its_files_once(built: Path, serve: Serve) -> None:
    _build(built)
    server = await serve()
    index, script = await server.http.get("/"), await server.http.get("/assets/page-1.js")
    assert index.headers["cache-control"] == "no-cache"
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert index.headers["content-type"] == "text/html; charset=utf-8"
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert (await server.http.get("/assets/page-1.css")).headers["content-type"] == "text/css; charset=utf-8"


@MEMORY
async def test_the_policy_lets_the_page_run_and_reach_nothing_but_itself(built: Path, serve: Serve) -> None:
    _build(built)
    server = await serve()
    for path in ("/", "/assets/page-1.js"):
        headers = (await server.http.get(path)).headers
        rules = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
        assert rules["default-src"] == rules["base-uri"] == rules["frame-ancestors"] == rules["form-action"] == "'none'"
        assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
        assert rules["img-src"] == "'self' blob:", "pictures are read with the API key, and then shown"
        assert len(rules) == 8
        assert headers["x-content-type-options"] == "nosniff"


@MEMORY
@pytest.mark.parametrize("name", ["page-2.js", "..%2findex.html", "%2e%2e%2findex.html", "index.html"])
async def test_no_name_leads_out_of_the_assets(built: Path, serve: Serve, name: str) -> None:
    _build(built)
    server = await serve()
    problem(await server.http.get(f"/assets/{name}"), 404, "not_found")


def test_packages_of_the_page_are_pinned_by_hash_and_name_no_registry() -> None:
    text = (UI / "package-lock.json").read_text(encoding="utf-8")
    packages = {name: each for name, each in json.loads(text)["packages"].items() if name}
    assert all(each["integrity"].startswith("sha512-") and "resolved" not in each for each in packages.values())
    wanted = json.loads((UI / "package.json").read_text(encoding="utf-8"))
    versions = [*wanted["dependencies"].values(), *wanted["devDependencies"].values()]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)


def test_the_units_of_the_page_do_what_they_say() -> None:
    node = need_node()
    if not (UI / "node_modules" / ".installed").exists():
        subprocess.run(["make", "ui/node_modules/.installed"], cwd=ROOT, check=True, timeout=110)
    told = subprocess.run(
        [node.with_name("npm"), "--prefix", str(UI), "test"], capture_output=True, text=True, timeout=110, check=False
    )
    assert told.returncode == 0, told.stdout[-4000:] + told.stderr[-2000:]
    assert re.search(r"^# pass \d{2,}$", told.stdout, re.M), told.stdout[-2000:]
