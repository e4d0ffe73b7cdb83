"""Code and file tools always need approval; programs run in the sandbox and their output is streamed."""

import os
from pathlib import Path
from typing import Any

import pytest

import runyard
from runyard.agents.context.context import Context
from runyard.agents.kinds.python.runner import run_python
from runyard.agents.sandbox.sandbox import Sandbox
from runyard.agents.tools.builtins import code
from runyard.agents.tools.tool import Tool
from runyard.agents.user_code.current_call import set_current_execution
from runyard.domain.events import ToolFinished, ToolOutput
from runyard.errors import ToolFailed
from runyard.store import Hit
from tests.agents.fake_execution import FakeExecution, log_with_decision, python_agent, run_until_parked
from tests.agents.tools.conftest import ready

DANGEROUS = [runyard.read_file, runyard.write_file, runyard.run_python]


@pytest.mark.req("S1.45")
@pytest.mark.parametrize("tool", DANGEROUS, ids=lambda tool: tool.name)
def test_approval_cannot_be_switched_off(tool: Tool[..., Any]) -> None:
    before = tool.approval
    try:
        policies: list[Any] = ["never", lambda given: False]
        for policy in policies:
            tool.approval = policy
            assert tool.needs_approval({})
    finally:
        tool.approval = before


@pytest.mark.req("S1.45", "S1.46", "S1.54")
async def test_code_runs_after_a_person_agreed_and_not_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "SANDBOX", await ready())
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "data.txt").write_text("21")
    program = "n = int(open('data.txt').read()); open('out.txt', 'w').write('x'); print(n * 2)"

    async def calculate(ctx: Context) -> str:
        return str(await ctx.call(runyard.run_python, code=program))

    agent, first = python_agent(calculate), FakeExecution()
    with set_current_execution(first, tmp_path):
        (asked,) = await run_until_parked(agent, first)
    assert "tool.started" not in first.types()
    assert not (tmp_path / "t" / "out.txt").exists()

    second = FakeExecution(log_with_decision(first.log, asked))
    with set_current_execution(second, tmp_path):
        output = await run_python(agent, second)
    assert output.text == "{'exit_code': 0, 'output': '42\\n'}"
    assert "".join(e.payload.text for e in second.events if isinstance(e.payload, ToolOutput)) == "42\n"
    assert (tmp_path / "t" / "out.txt").read_text() == "x"
    assert os.listdir(tmp_path) == ["t"]


@pytest.mark.req("S1.45")
async def test_rejected_code_is_not_run(tmp_path: Path) -> None:
    async def snoop(ctx: Context) -> None:
        await ctx.call(runyard.write_file, path="x", content="y")

    agent, first = python_agent(snoop), FakeExecution()
    with set_current_execution(first, tmp_path):
        (asked,) = await run_until_parked(agent, first)
    second = FakeExecution(log_with_decision(first.log, asked, "rejected"))
    with set_current_execution(second, tmp_path), pytest.raises(Exception, match="rejected"):
        await run_python(agent, second)
    assert os.listdir(tmp_path) == []


@pytest.mark.req("S1.46")
async def test_without_a_sandbox_only_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "SANDBOX", Sandbox(bwrap="no-such-bwrap"))

    async def try_it(ctx: Context) -> str:
        try:
            await ctx.call(runyard.run_python, code="print(1)")
        except ToolFailed as error:
            return f"{error} {error.__cause__}"
        return "it ran"

    agent, first = python_agent(try_it), FakeExecution()
    with set_current_execution(first, tmp_path):
        (asked,) = await run_until_parked(agent, first)
    second = FakeExecution(log_with_decision(first.log, asked))
    with set_current_execution(second, tmp_path):
        output = await run_python(agent, second)
        assert await runyard.write_file.run({"path": "x", "content": "y"}, None, "k") == "Wrote 1 bytes."
    assert "no working sandbox, so no code is run: bubblewrap is not installed" in output.text
    ends = [e.payload for e in second.events if isinstance(e.payload, ToolFinished)]
    assert [end.error for end in ends] == ["no_sandbox"]


async def test_a_program_that_is_stopped_changes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "SANDBOX", await ready(seconds=1))
    with set_current_execution(FakeExecution(), tmp_path):
        await runyard.write_file.run({"path": "x", "content": "before"}, None, "k")
        program = "import time; open('x', 'w').write('after'); print('hm', flush=True); time.sleep(30)"
        ended = await runyard.run_python.run({"code": program}, None, "k")
        assert await runyard.read_file.run({"path": "x"}, None, "k") == "before"
    assert ended == {"stopped": "it took too long; its files were not kept", "output": "hm\n"}


async def test_links_that_a_program_makes_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "SANDBOX", await ready())
    program = """
import os
os.symlink('/etc/passwd', 'link'); os.symlink('/', 'root'); os.mkfifo('pipe')
os.mkdir('d', 0o000); open('f', 'w').write('x'); os.chmod('f', 0o4777)
"""
    with set_current_execution(FakeExecution(), tmp_path):
        await runyard.run_python.run({"code": program}, None, "k")
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == ["d", "f"]
    assert (tmp_path / "t" / "f").stat().st_mode & 0o7777 == 0o600


async def test_documents_can_be_searched_without_asking() -> None:
    search = runyard.search_documents("handbook", about="how we work")
    hits = [Hit(str(n), f"title {n}", "text", 1.0) for n in range(9)]
    assert (search.effects, search.needs_approval({})) == ("none", False)
    assert search.description == "Search documents: how we work. Those that fit best come first."
    with set_current_execution(FakeExecution(hits=hits), Path("unused")):
        found = await search.run({"query": "leave"}, None, "k")
        assert len(await search.run({"query": "leave", "limit": 999}, None, "k")) == 9
    assert found[0] == {"id": "0", "title": "title 0", "text": "text"}
    assert len(found) == 5
