"""The scripts of docs/clients do what the pages say, with the unmodified libraries."""

from __future__ import annotations

import asyncio
import os
import sys

from tests.clients.conftest import ENVIRONMENT
from tests.flow.pods.test_docs_say_what_works import blocks, ids, shell
from tests.support.eventually import PATIENCE
from tests.support.scenario.flow import Flow

KNOWS = "I know the weather everywhere . "


async def _run(script: str, url: str, python: str = str(ENVIRONMENT / "bin" / "python"), **more: str) -> str:
    variables = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "any", "MCP_URL": f"{url}/mcp", **more}
    process = await asyncio.create_subprocess_exec(
        python,
        "-c",
        script,
        env={"PATH": os.environ["PATH"], **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, errors = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0, errors.decode()
    return said.decode()


async def test_the_scripts_of_the_page_on_openai(sqlite_flow: Flow) -> None:
    app, *scripts = blocks("clients/openai.md", "python")
    path = sqlite_flow.folder / "guide.py"
    path.write_text(app, encoding="utf-8")
    pod = await sqlite_flow.start("serve", app=path)
    said = [await _run(script, pod.url) for script in scripts]
    assert said == [
        f"{KNOWS}\n{KNOWS}completed\n",
        "In Kyoto there is rain.\n",
        f"{KNOWS}\n",
        "completed\ncompleted\n",
        f"{KNOWS}\n",
    ]


async def test_the_script_of_the_page_on_mcp(sqlite_flow: Flow) -> None:
    app, script = blocks("clients/mcp.md", "python")
    path = sqlite_flow.folder / "airline.py"
    path.write_text(app, encoding="utf-8")
    pod = await sqlite_flow.start("serve", app=path)
    said = await _run(script, pod.url, sys.executable)
    assert said == "['airline']\nWhich row?\nBuy the seat? {\"row\":12}\nRow 12 is yours. {'row': 12}\n"


async def test_the_script_of_the_page_on_a2a(sqlite_flow: Flow) -> None:
    app, script = blocks("clients/a2a.md", "python")
    path = sqlite_flow.folder / "travel.py"
    path.write_text(app, encoding="utf-8")
    pod = await sqlite_flow.start("serve", app=path)
    said = await _run(script, pod.url, A2A_URL=f"{pod.url}/a2a/travel")
    assert said == "Let me see. Which seat?\nTASK_STATE_COMPLETED Let me see. Row 12 is yours.\n"


async def test_the_script_of_the_page_on_langgraph(sqlite_flow: Flow) -> None:
    app, script = blocks("clients/langgraph.md", "python")
    path = sqlite_flow.folder / "travel.py"
    path.write_text(app, encoding="utf-8")
    pod = await sqlite_flow.start("serve", app=path)
    said = await _run(script, pod.url, LANGGRAPH_URL=f"{pod.url}/langgraph")
    assert said == "Let me see. Which row?\n{'row': 12}\nRow 12 is yours.\n"


async def test_the_commands_of_the_page_on_curl(any_flow: Flow) -> None:
    [app] = blocks("clients/curl.md", "python")
    path = any_flow.folder / "airline.py"
    path.write_text(app, encoding="utf-8")
    await any_flow.start("serve", app=path)
    said = await shell(any_flow, "\n".join(blocks("clients/curl.md", "sh")))
    assert said.count("Row 12 is yours.") == 2, "once in each stream"
    seen = ids(said)
    again = seen.index(seen[-1]) + 1
    assert seen[again:] == [seq for seq in seen[:again] if seq > 4], "the second stream is the rest of the first"
