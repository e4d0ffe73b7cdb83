"""Agents get the files of their messages, attach files to their answers, and give models what they can take."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import START, MessagesState, StateGraph

import runyard
from runyard.base.ids import new_id
from runyard.domain.content.parts import DataPart, File, as_json
from runyard.domain.redaction.redactor import Redactor
from runyard.errors import FilesNotSupported
from runyard.models.litellm import LitellmModel
from runyard.models.model import Request
from runyard.testing import ResultFile, run_agent_sync

PNG = b"\x89PNG\r\n\x1a\nabc"
IMAGE = ("a.png", PNG, "image/png")


def test_a_function_reads_the_files_of_its_message_and_attaches_others() -> None:
    @runyard.agent
    async def agent(ctx: runyard.Context) -> str:
        [file] = ctx.message.files
        await ctx.attach("twice.png", await file.read() * 2, "image/png")
        return f"{file.name} {file.type} {file.size}"

    result = run_agent_sync(agent, "look", files=[IMAGE])
    assert result.text == "a.png image/png 11"
    assert result.files == [ResultFile("twice.png", "image/png", PNG * 2)]
    assert [step.name for step in result.steps] == ["attach"]


def test_the_function_chooses_which_files_belong_to_the_answer() -> None:
    @runyard.agent
    async def agent(ctx: runyard.Context) -> runyard.Output:
        await ctx.attach("draft.txt", b"draft", "text/plain")
        return runyard.Output("done", files=[await ctx.attach("final.txt", b"final", "text/plain")])

    assert run_agent_sync(agent, "go").files == [ResultFile("final.txt", "text/plain", b"final")]


def test_wrong_data_and_wrong_files_are_errors() -> None:
    @runyard.agent
    async def text(ctx: runyard.Context) -> None:
        await ctx.attach("a.txt", "text")  # type: ignore[arg-type]

    @runyard.agent
    async def lies(ctx: runyard.Context) -> None:
        await ctx.attach("a.png", b"text", "image/png")

    @runyard.agent
    async def names(ctx: runyard.Context) -> runyard.Output:
        return runyard.Output("done", files=["a.txt"])  # type: ignore[list-item]

    @runyard.agent
    async def nothing(ctx: runyard.Context) -> None:
        await File(id="unknown", name="a", type="text/plain", size=1).read()

    for agent, message in (
        (text, "TypeError"),
        (lies, "not of the type"),
        (names, "files of an Output"),
        (nothing, "no file"),
    ):
        failed = run_agent_sync(agent, "go").error
        assert failed is not None
        assert message in failed.message
    with pytest.raises(runyard.AgentError, match="inside a run"):
        asyncio.run(File(id="unknown", name="a", type="text/plain", size=1).read())


def test_a_child_run_gets_the_parts_of_its_message() -> None:
    seen: list[Any] = []

    @runyard.agent
    async def reader(ctx: runyard.Context) -> str:
        seen.append(ctx.message.content)
        return " ".join([ctx.message.text, *[str(len(await file.read())) for file in ctx.message.files]])

    @runyard.agent
    async def parent(ctx: runyard.Context) -> str:
        made = await ctx.attach("made.txt", b"abcd", "text/plain")
        first = await ctx.run(reader, ctx.message)
        second = await ctx.run(reader, ["Read", made, DataPart({"n": 1}), *ctx.message.files])
        return f"{first.text}; {second.text}"

    result = run_agent_sync(parent, "Look", files=[IMAGE], agents=[reader])
    assert result.text == "Look 11; Read 4 11"
    assert [type(part).__name__ for part in seen[-1]] == ["TextPart", "File", "DataPart", "Image"]
    assert seen[-1][2] == DataPart({"n": 1})


def test_a_child_run_of_a_model_gets_the_image_itself() -> None:
    asked: list[Any] = []

    def turns(conversation: Any) -> dict[str, Any]:
        asked.append(conversation)
        return {"text": "A cat."}

    painter = runyard.Agent("painter", model="scripted", turns=turns)

    @runyard.agent
    async def parent(ctx: runyard.Context) -> str:
        return (await ctx.run(painter, ["What is it?", *ctx.message.files])).text

    assert run_agent_sync(parent, "Look", files=[IMAGE], agents=[painter]).text == "A cat."
    assert [block["type"] for block in asked[0][-1]["content"]] == ["text", "image_url"]


def test_a_child_run_gets_no_file_that_its_owner_does_not_have() -> None:
    @runyard.agent
    async def parent(ctx: runyard.Context) -> str:
        return (await ctx.run("reader", [File(id=new_id(), name="a", type="text/plain", size=1)])).text

    @runyard.agent
    async def reader(ctx: runyard.Context) -> str:
        return "read"

    failed = run_agent_sync(parent, "Look", agents=[reader]).error
    assert failed is not None
    assert "no file" in failed.message
    with pytest.raises(runyard.AgentError, match="texts, files and data"):
        as_json([1], str)  # type: ignore[list-item]


def test_a_plan_reads_the_files_of_its_message_and_a_script_plays_on() -> None:
    async def measure(ctx: runyard.NodeContext) -> str:
        assert ctx.message is not None
        return f"{len(await ctx.message.files[0].read())} bytes"

    plan = runyard.plan("measure", [runyard.Node("Measure", measure)])
    assert run_agent_sync(plan, "Look", files=[IMAGE]).text == "11 bytes"
    script = runyard.scripted("script", [{"token": "Hello"}])
    assert run_agent_sync(script, "Look", files=[IMAGE]).text == "Hello"


def test_a_graph_refuses_files_and_says_why() -> None:
    graph = StateGraph(MessagesState).add_node("node", lambda state: {"messages": []}).add_edge(START, "node").compile()
    failed = run_agent_sync(runyard.langgraph("graph", graph), "Look", files=[IMAGE]).error
    assert failed is not None
    assert (failed.code, "takes no files" in failed.message) == ("files_not_supported", True)


def test_redaction_keeps_references_to_files() -> None:
    file_id = "01a1edeb-4292-7534-8991-411111111111"  # its end looks like a card number
    reference = {"type": "image", "file_id": file_id, "name": "a.png", "media_type": "image/png", "size": 1}
    redactor = Redactor(["card", "email"])
    assert redactor.value({"chart": reference}) == {"chart": reference}
    assert redactor.value({"type": "image", "file_id": "ada@example.org"})["file_id"] != "ada@example.org"


@runyard.tool(effects="none")
async def draw(ctx: runyard.Context) -> dict[str, Any]:
    "Draw a chart."
    return {"title": "sales", "chart": await ctx.attach("chart.png", PNG, "image/png")}


def test_a_model_gets_images_files_and_text_and_the_files_of_tools() -> None:
    seen: list[Any] = []

    def turns(conversation: Any) -> dict[str, Any]:
        seen.append(conversation)
        return {"text": "Done."} if len(seen) > 1 else {"calls": [{"tool": "draw", "input": {}}]}

    model = runyard.Agent("painter", model="scripted", turns=turns, tools=[draw])
    files = [IMAGE, ("b.pdf", b"%PDF-1", "application/pdf"), ("c.csv", b"1,2", "text/csv")]
    result = run_agent_sync(model, "look", files=files)
    assert (result.status, result.text, result.files) == ("done", "Done.", [])
    [question] = seen[0]
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgphYmM="}}
    assert question["content"] == [
        {"type": "text", "text": "look"},
        picture,
        {"type": "file", "file": {"filename": "b.pdf", "file_data": "data:application/pdf;base64,JVBERi0x"}},
        {"type": "text", "text": "The file c.csv:\n1,2"},
    ]
    asked, returned = seen[1][-2:]
    assert asked["role"] == "tool"
    assert '"file_id"' in asked["content"]
    assert returned["role"] == "user"
    assert returned["content"][1] == picture
    assert not any(b"base64" in event.data for event in result.events)
    [call] = result.tool_calls
    assert call.output["chart"]["name"] == "chart.png"


def image_for(model: str) -> Request:
    content = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]
    return Request(model=model, messages=[{"role": "user", "content": content}], options={"api_key": "none"})


async def test_a_model_that_takes_no_images_says_so_before_it_is_asked() -> None:
    with pytest.raises(FilesNotSupported, match=r"openai/gpt-3\.5-turbo takes no images"):
        await anext(LitellmModel().stream(image_for("openai/gpt-3.5-turbo")))


def test_the_example_of_the_docs_runs() -> None:
    page = (Path(__file__).parents[3] / "docs" / "files.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, "docs/files.md", "exec", dont_inherit=True), names)
    result = run_agent_sync(names["archivist"], "Sort these", files=[("a.txt", b"hello", "text/plain"), IMAGE])
    assert result.text == "2 files"
    assert result.files == [ResultFile("index.txt", "text/plain", b"a.txt: 5 bytes\na.png: 11 bytes")]
