"""The examples of docs/tools.md run, and its tables match the code."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import runyard
from runyard.agents.declared.agent import Agent, equipped
from runyard.agents.kinds.python.runner import run_python
from runyard.agents.sandbox.bubblewrap import Limits
from runyard.agents.tools.builtins import code
from runyard.agents.tools.workspace import FILE_BYTES, FOLDER_BYTES, FOLDER_FILES
from runyard.agents.user_code.current_call import set_current_execution
from runyard.errors import ToolError
from runyard.store import Hit
from tests.agents.fake_execution import FakeExecution, log_with_decision, run_until_parked
from tests.agents.tools.conftest import ready

PAGE = (Path(__file__).parents[3] / "docs" / "tools.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
MIB = 1024 * 1024


def example(number: int) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(EXAMPLES[number], "docs/tools.md", "exec", dont_inherit=True), names)
    return names


async def test_the_example_of_a_tool() -> None:
    names = example(0)
    execution = FakeExecution(text="Oslo")
    with set_current_execution(execution, Path("unused")):
        output = await run_python(names["forecaster"], execution)
        with pytest.raises(ToolError, match="There is no such city"):
            await names["weather"].run({"city": "Atlantis"}, None, "run-1:k")
    assert output.text == "Oslo: clear"
    assert "tool.output" in execution.types()
    properties = names["weather"].schema["properties"]
    assert properties["city"]["description"] == "its name, in any language"
    assert properties["days"]["description"] == "how far ahead"


async def test_the_example_of_the_built_in_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "SANDBOX", await ready())
    agent, hits = example(1)["calculator"], [Hit("1", "Leave", "Thirty days of leave.", 1.0)]
    first = FakeExecution(hits=hits)
    with set_current_execution(first, tmp_path):
        (asked,) = await run_until_parked(agent, first)
    second = FakeExecution(log_with_decision(first.log, asked), hits=hits)
    with set_current_execution(second, tmp_path):
        output = await run_python(agent, second)
    assert output.text == "Leave 42\n"


async def test_the_example_of_mcp_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = f"{sys.executable} {Path(__file__).parent / 'mcp_server_for_tests.py'} {tmp_path}"
    real = runyard.mcp

    def mcp(words: str, **options: Any) -> Any:
        return real(words.replace("python a_server.py", ours), **options)

    monkeypatch.setattr(runyard, "mcp", mcp)
    agent: Agent = example(2)["helper"]
    output = await run_python(await equipped(agent), FakeExecution())
    for source in agent.sources:
        await source.close()
    assert output.text == "{'result': 3}"


def test_the_numbers_are_those_of_the_code() -> None:
    limits = Limits()
    said = {
        f"at most {limits.processes};",
        f"{limits.memory_bytes // MIB} MiB for each process",
        f"{limits.file_bytes // MIB} MiB a file, {limits.folder_bytes // MIB} MiB of blocks",
        f"and {limits.folder_files} files in all",
        f"{limits.cpu_seconds} s of processor time for each process, {limits.seconds:g} s in all",
        f"{limits.output_bytes // 1024} KiB, streamed",
        f"A file may have {FILE_BYTES // MIB} MiB, a folder {FOLDER_BYTES // MIB} MiB and {FOLDER_FILES} files",
    }
    text = " ".join(PAGE.split())
    assert {sentence for sentence in said if sentence not in text} == set()
