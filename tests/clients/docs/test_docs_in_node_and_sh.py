"""The short blocks of docs/clients run: scripts for Node, commands of curl, and EventSource in a browser."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from playwright.async_api import expect

from tests.clients.client_app import COUNT
from tests.clients.docs.front_end import opened, printed
from tests.flow.pods.test_docs_say_what_works import blocks, shell
from tests.support.eventually import PATIENCE, eventually
from tests.support.fakes.push_receiver import PushReceiver
from tests.support.faults.cutting_proxy import CuttingProxy
from tests.support.scenario.flow import Flow

KNOWS = "I know the weather everywhere . "
REFUNDED = "So: A-1 is refunded."


async def test_the_script_for_node_of_the_page_on_openai(sqlite_flow: Flow, tmp_path: Path) -> None:
    app, *_ = blocks("clients/openai.md", "python")
    [script] = blocks("clients/openai.md", "js")
    path = sqlite_flow.folder / "guide.py"
    path.write_text(app, encoding="utf-8")
    pod = await sqlite_flow.start("serve", app=path)
    keyed = script.replace("new OpenAI()", f"new OpenAI({{ baseURL: '{pod.url}/v1', apiKey: 'any' }})")
    assert await printed(tmp_path, main=keyed) == f"{KNOWS}\n{KNOWS}completed\n"


async def test_the_script_for_node_of_the_page_on_mcp(url: str, tmp_path: Path) -> None:
    [script] = blocks("clients/mcp.md", "js")
    here = script.replace("http://localhost:8000", url).replace("'airline'", "'helper'")
    said = await printed(tmp_path, main=here.replace("A seat, please.", "look"))
    assert said == "Calling look_up\nlook_up returned\nSo: A-1 is paid.\n"


async def test_the_script_of_the_page_on_ag_ui(url: str, tmp_path: Path) -> None:
    script, _ = blocks("clients/ag-ui.md", "ts")
    here = script.replace("http://localhost:8000/api/ag-ui/support", f"{url}/api/ag-ui/helper")
    said = await printed(tmp_path, main=here.replace("I want my money back for A-1001", "refund"))
    assert "Call refund?" in said
    assert REFUNDED in said


FOLLOW = """
import { HttpAgent } from '@ag-ui/client'
import { runToEnd } from './runToEnd.mjs'

process.on('unhandledRejection', () => {})
const agent = new HttpAgent({ url: 'URL/api/ag-ui/helper', threadId: 't' })
agent.addMessage({ id: 'm1', role: 'user', content: 'refund' })
await runToEnd(agent)
const answer = { status: 'resolved' as const, payload: { approved: true } }
await runToEnd(agent, agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, ...answer })))
console.log(agent.messages.at(-1).content)
process.exit(0)
"""


async def test_the_loop_of_the_page_on_ag_ui_ends_wherever_connections_break(url: str, tmp_path: Path) -> None:
    """Also after the last event of a part, which the client then has."""
    _, loop = blocks("clients/ag-ui.md", "ts")
    async with CuttingProxy(lambda: [url], numbers=count(1)) as proxy:
        assert await printed(tmp_path, main=FOLLOW.replace("URL", proxy.url), runToEnd=loop) == f"{REFUNDED}\n"
    assert proxy.cuts > 5


READ = """
const parts = [{ type: 'text', text: 'count' }]
const messages = [{ id: 'm1', role: 'user', parts }]
let text = ''
for await (const chunk of await transport.sendMessages({ chatId: chat, messages, trigger: 'submit-message' } as any)) {
  if (chunk.type === 'text-delta') text += chunk.delta
}
console.log(text)
process.exit(0)
"""


async def test_the_transport_of_the_page_on_the_ai_sdk_resumes(url: str, tmp_path: Path) -> None:
    [block] = blocks("clients/ai-sdk.md", "ts")
    async with CuttingProxy(lambda: [url], 1) as proxy:
        here = block.replace("/api/ai/support", f"{proxy.url}/api/ai/helper")
        here = here.replace("new WorkflowChatTransport", "const transport = new WorkflowChatTransport")
        said = await printed(tmp_path, main=f"const chat = 'c1', key = 'none'\n{here}{READ}")
    assert said == "".join(COUNT) + "\n"
    assert proxy.cuts > len(COUNT)


async def test_the_commands_of_the_page_on_a2a(sqlite_flow: Flow) -> None:
    app, _ = blocks("clients/a2a.md", "python")
    send, push = blocks("clients/a2a.md", "sh")
    path = sqlite_flow.folder / "travel.py"
    path.write_text(app, encoding="utf-8")
    await sqlite_flow.start("serve", app=path, push_allow="127.0.0.1")
    said = await shell(sqlite_flow, send, RUNYARD_API_KEY="none")
    assert "TASK_STATE_INPUT_REQUIRED" in said
    assert "Which seat?" in said
    async with PushReceiver() as receiver:
        again = push.replace("https://example.com/hook", receiver.url).replace('"m1"', '"m2"')
        assert "TASK_STATE_SUBMITTED" in await shell(sqlite_flow, again, RUNYARD_API_KEY="none")
        await eventually("it is told of the question", lambda: receiver.states[-1:] == ["INPUT_REQUIRED"])


async def test_the_event_source_of_the_page_on_curl(url: str, sqlite_flow: Flow) -> None:
    expect.set_options(timeout=1000 * PATIENCE)
    [block] = blocks("clients/curl.md", "js")
    thread = (await sqlite_flow.request("POST", "/api/threads")).json()["thread_id"]
    body = {"content": "hello", "agent": "helper"}
    run = (await sqlite_flow.request("POST", f"/api/threads/{thread}/messages", json=body)).json()["run_id"]
    show = "const show = ({ text }) => document.getElementById('root').append(text ?? '')"
    async with opened(url, f"const run = '{run}'\n{show}\n{block}\nwindow.events = events") as tab:
        await expect(tab.locator("#root")).to_have_text("Hello, dear guest.")
        await tab.wait_for_function("window.events.readyState === EventSource.CLOSED")
