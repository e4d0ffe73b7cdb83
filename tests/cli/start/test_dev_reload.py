"""`runyard dev` starts again when its app changes: the same process and address, and runs continue with the new
code."""

import os
import re
import subprocess
import threading
from pathlib import Path

import httpx2
import pytest

from runyard.cli.serving.dev import banner
from runyard.cli.terminal.output import unstyled
from runyard.settings import Settings
from tests.cli.cli_process import RUNYARD, environment
from tests.support.eventually import PATIENCE

pytestmark = pytest.mark.flow

APP = """
import runyard
from words import WORD

@runyard.agent
async def speaker(ctx):
    await ctx.request_approval("Go on?")
    return WORD
"""


class Server:
    """`runyard dev` with everything that it prints."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [RUNYARD, "dev", "app.py", "--port", "0"],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._said = ""
        self._read = 0
        self._more = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._more:
                self._said += line
                self._more.notify_all()

    @property
    def said(self) -> str:
        with self._more:
            return self._said

    def until(self, pattern: str) -> re.Match[str]:
        """Wait until a line says this, past what was waited for before."""
        with self._more:
            assert self._more.wait_for(lambda: re.search(pattern, self._said[self._read :]), PATIENCE), self._said
            found = re.compile(pattern).search(self._said, self._read)
            assert found is not None
            self._read = found.end()
            return found


def change(file: Path, content: str) -> None:
    """Replace a file at once, as editors do, with a time that no clock is too coarse for."""
    before, new = file.stat().st_mtime, file.with_suffix(".new")
    new.write_text(content)
    os.utime(new, (before + 5, before + 5))
    new.replace(file)


def test_a_changed_app_goes_on_with_its_runs_and_a_broken_one_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    words = tmp_path / "words.py"
    words.write_text("WORD = 'old'\n")
    server = Server(tmp_path)
    try:
        url = server.until(r"is ready at (http://\S+)")[1]
        with httpx2.Client(base_url=url, timeout=PATIENCE) as http:
            thread = http.post("/api/threads").json()["thread_id"]
            run = http.post(f"/api/threads/{thread}/messages", json={"content": "hi"}).json()["run_id"]
            while not (approvals := http.get("/api/approvals").json()["approvals"]):
                pass  # it asks soon

            change(words, "WORD = (\n")
            server.until(r"words\.py changed, but the previous version still runs: .*words\.py, line 1: ")
            assert http.get(f"/api/runs/{run}").json()["status"] == "running", "the server is there"

            change(words, "WORD = 'new'\n")
            server.until(r"words\.py changed: starting again\.")
            server.until(r"Started again, with speaker\.")
        with httpx2.Client(base_url=url, timeout=PATIENCE) as http:
            http.post(f"/api/approvals/{approvals[0]['approval_id']}", json={"decision": "approve"})
            log = http.get(f"/api/runs/{run}/log").text
        assert '"text":"new"' in log
        assert server.process.poll() is None, "the same process"
    finally:
        server.process.terminate()
        assert server.process.wait(PATIENCE) == 0


READS = """
import os
from pathlib import Path

import runyard

here = Path(__file__).parent
for line in (here / ".env").read_text().split():
    os.environ.setdefault(*line.split("="))
word = (here / "prompts" / "words" / "one.md").read_text()

@runyard.agent
async def speaker(ctx):
    return f"{word} {os.environ['OTHER']}"
"""


def test_prompts_and_settings_are_read_again_and_wrong_settings_change_nothing(tmp_path: Path) -> None:
    prompt, variables, settings = (
        tmp_path / "prompts" / "words" / "one.md",
        tmp_path / ".env",
        tmp_path / "runyard.toml",
    )
    prompt.parent.mkdir(parents=True)
    prompt.write_text("old")
    variables.write_text("OTHER=old")
    (tmp_path / "app.py").write_text(READS)
    server = Server(tmp_path)
    try:
        url = server.until(r"is ready at (http://\S+)")[1]
        change(prompt, "new")
        server.until(r"one\.md changed: starting again\.")
        server.until(r"Started again, with speaker\.")
        for name in (".one.md.swp", "#one.md#", "one.md~"):
            (prompt.parent / name).write_text("an editor is open")
        other = prompt.with_name("two.md")
        other.write_text("more")
        server.until(r"two\.md changed: starting again\.")
        server.until(r"Started again, with speaker\.")
        other.unlink()
        server.until(r"two\.md changed: starting again\.")
        server.until(r"Started again, with speaker\.")
        change(variables, "OTHER=new")
        server.until(r"\.env changed: starting again\.")
        server.until(r"Started again, with speaker\.")
        settings.write_text("prot = 1\n")
        server.until(r"runyard\.toml changed, but the previous version still runs: prot in runyard\.toml is not a")
        change(settings, "max_message_chars = 5\n")
        server.until(r"runyard\.toml changed: starting again\.")
        server.until(r"Started again, with speaker\.")
        with httpx2.Client(base_url=url, timeout=PATIENCE) as http:
            thread = http.post("/api/threads").json()["thread_id"]
            post = f"/api/threads/{thread}/messages"
            assert http.post(post, json={"content": "too long"}).status_code == 413
            run = http.post(post, json={"content": "hi"}).json()["run_id"]
            assert '"text":"new new"' in http.get(f"/api/runs/{run}/log").text
        assert not re.search(r"\.swp|#|~", server.said), "files of editors start nothing"
    finally:
        server.process.terminate()
        assert server.process.wait(PATIENCE) == 0


def test_the_banner_fits_80_columns_and_names_the_page_first() -> None:
    from runyard import demo
    from runyard.agents.declared.loading import app_of

    deep = f"/{'folder/' * 20}runyard.db"
    for needs_key, database in ((False, "sqlite:///runyard.db"), (True, f"sqlite://{deep}")):
        settings = Settings(port=18000, database_url=database)
        shown = unstyled(banner(settings, app_of(demo), "http://127.0.0.1:18000", needs_key))
        lines = shown.splitlines()
        assert settings.database_label in "".join(line.strip() for line in lines), "no part of it is left out"
        assert max(map(len, lines)) <= 80
        assert "is ready at" in lines[1]
        assert "page      open" in lines[3]
        assert "RUNYARD_URL=http://127.0.0.1:18000 runyard chat" in lines[4]
