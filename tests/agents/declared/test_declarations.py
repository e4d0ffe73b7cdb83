"""Agents and tools are checked when they are declared: a mistake raises one clear sentence."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Annotated, Any, Literal

import msgspec
import pytest

from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.documents import Documents
from runyard.agents.declared.kinds import agent, plan, scripted
from runyard.agents.declared.nodes import Node
from runyard.agents.tools.tool import Tool, tool
from runyard.errors import Invalid
from runyard.store import Document
from tests.agents.fake_execution import FakeExecution


async def nothing(ctx: Context) -> None:
    """An agent that says nothing."""


def test_the_decorator_works_bare_and_with_options() -> None:
    bare, named = agent(nothing), agent(name="x.y-z_1", while_waiting="yield", max_seconds=5)(nothing)

    assert (bare.name, bare.kind, bare.while_waiting, bare.on_unknown, bare.on_code_change) == (
        "nothing",
        "python",
        "hold",
        "ask",
        "continue",
    )
    assert (named.name, named.while_waiting, named.max_seconds) == ("x.y-z_1", "yield", 5)


def sync(ctx: Context) -> None: ...
async def none() -> None: ...
async def two(ctx: Context, other: int) -> None: ...
async def generator(ctx: Context) -> Any:
    yield 1


@pytest.mark.parametrize(
    ("fn", "says"),
    [
        (sync, "sync is not async; an agent is an `async def f(ctx)`."),
        (none, "none must take exactly one argument, the context: async def none(ctx)."),
        (two, "two must take exactly one argument, the context: async def two(ctx)."),
        (generator, "generator yields; an agent writes with `await ctx.token(...)` and returns its output."),
        (3, "A python agent needs a function: async def f(ctx)."),
    ],
)
def test_an_invalid_agent_function_is_refused(fn: Any, says: str) -> None:
    with pytest.raises(Invalid) as caught:
        agent(fn)
    assert caught.value.message == says


@pytest.mark.parametrize("name", ["", "a b", "ä", "x" * 65, "a/b", "a\n", None, 3])
def test_a_bad_name_is_refused(name: Any) -> None:
    with pytest.raises(Invalid, match="name"):
        plan(name, [Node("a", nothing)])
    if name is not None:
        with pytest.raises(Invalid, match="name"):
            agent(name=name)(nothing)
        with pytest.raises(Invalid, match="name"):
            Tool(print, name=name)
    if isinstance(name, str):
        with pytest.raises(Invalid, match="name"):
            Documents(name, [])


@pytest.mark.parametrize(
    "options",
    [
        {"while_waiting": "maybe"},
        {"on_unknown": "guess"},
        {"on_code_change": "ignore"},
        {"max_seconds": 0},
        {"tools": [print]},
        {"tools": [Tool(sync), Tool(sync)]},
        {"task_type": "a b"},
    ],
    ids=str,
)
def test_a_bad_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        agent(name="a", **options)(nothing)


@pytest.mark.parametrize("made", [lambda: plan("a", []), lambda: scripted("a", [])])
def test_a_plan_without_nodes_and_a_script_without_entries_are_refused(made: Callable[[], Agent]) -> None:
    with pytest.raises(Invalid, match="at least one"):
        made()


@pytest.mark.parametrize("option", ["kind", "fn", "script", "plan", "turn"])
def test_an_option_of_another_kind_is_refused(option: str) -> None:
    options: dict[str, Any] = {option: None}
    with pytest.raises(TypeError, match=option):
        Agent("a", model="openai/gpt-5-mini", **options)


def test_the_version_changes_with_the_source_and_with_nothing_else() -> None:
    def declared(source: str) -> str:
        names: dict[str, Any] = {}
        exec(source, names)
        return agent(name="a")(names["f"]).version

    one, same, other = (declared(f"async def f(ctx): return {text!r}") for text in ("1", "1", "2"))
    assert one == same != other
    assert agent(nothing).version == agent(name="other")(nothing).version != one


def test_the_version_of_a_script_changes_with_the_script() -> None:
    one, same, other = (scripted("a", [{"token": text}]).version for text in "aab")
    assert one == same != other


# --- plans -----------------------------------------------------------------------------------------------------------


def test_a_plan_is_an_agent_of_nodes() -> None:
    made = plan("device", [Node("A", nothing), Node("b.c-d_1", nothing, timeout=2)], on_unknown="fail", max_seconds=9)

    assert repr(made) == "Agent('device', kind='plan')"
    assert repr(made.plan) == "(Node('A'), Node('b.c-d_1'))"
    assert [node.timeout for node in made.plan] == [10.0, 2.0]
    assert (made.on_unknown, made.max_seconds) == ("fail", 9)
    assert made.plan == plan("x", made.plan).plan


NAME = "A node's name has 1 to 64 letters, digits or any of - _ . and nothing else."
TIMEOUT = "Node a: timeout must be a number of seconds, more than 0."


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        (("", nothing), {}, NAME),
        (("a b", nothing), {}, NAME),
        (("x" * 65, nothing), {}, NAME),
        ((3, nothing), {}, NAME),
        (("a", 3), {}, "A node needs a function: async def f(ctx)."),
        (("a", sync), {}, "sync is not async; a node is an `async def f(ctx)`."),
        (("a", generator), {}, "generator yields; a node returns its result."),
        (("a", two), {}, "two must take exactly one argument, the context: async def two(ctx)."),
        (("a", nothing), {"timeout": 0}, TIMEOUT),
        (("a", nothing), {"timeout": float("inf")}, TIMEOUT),
        (("a", nothing), {"timeout": float("nan")}, TIMEOUT),
        (("a", nothing), {"timeout": None}, TIMEOUT),
        (("a", nothing), {"timeout": "10"}, TIMEOUT),
        (("a", nothing), {"effects": "some"}, "Node a: effects must be one of none, idempotent, once."),
    ],
)
def test_a_bad_node_is_refused(arguments: Any, options: Any, says: str) -> None:
    with pytest.raises(Invalid) as caught:
        Node(*arguments, **options)
    assert caught.value.message == says


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        ([], "Agent p: a plan has at least one node."),
        ([nothing], "Entry 0 of the plan is not a runyard.Node."),
        ("nodes", "The plan is not a list of nodes. Pass [runyard.Node(...), ...]."),
        (None, "The plan is not a list of nodes. Pass [runyard.Node(...), ...]."),
        ([Node("a", nothing), Node("b", nothing), Node("a", nothing)], "Two nodes of the plan are named a."),
    ],
)
def test_a_bad_plan_is_refused(nodes: Any, says: str) -> None:
    with pytest.raises(Invalid) as caught:
        plan("p", nodes)
    assert caught.value.message == says


def test_the_version_of_a_plan_changes_with_its_nodes() -> None:
    async def other(ctx: Context) -> None: ...

    a, b = Node("a", nothing), Node("b", nothing)
    versions = [
        plan("p", nodes).version
        for nodes in ([a, b], [b, a], [a], [a, Node("b", other)], [a, Node("b", nothing, timeout=1)])
    ]
    assert len(set(versions)) == len(versions)
    assert plan("other", [Node("a", nothing), Node("b", nothing)]).version == versions[0]


# --- tools -----------------------------------------------------------------------------------------------------------


class Place(msgspec.Struct):
    city: str


@tool(name="book-room", effects="idempotent", timeout=3)
def book(
    place: Place,
    nights: Annotated[int, msgspec.Meta(ge=1)],
    ctx: Context,
    idempotency_key: str,
    kind: Literal["single", "double"] = "single",
    extras: list[str] = [],  # noqa: B006
) -> list[Any]:
    """Book a room."""
    return [place.city, nights, kind, extras, ctx, idempotency_key]


def test_the_schema_comes_from_the_signature_and_hides_what_is_filled_in() -> None:
    assert book.schema["description"] == "Book a room."
    assert set(book.schema["properties"]) == {"place", "nights", "kind", "extras"}
    assert book.schema["required"] == ["place", "nights"]
    assert book.schema["properties"]["nights"] == {"type": "integer", "minimum": 1}
    assert book.schema["properties"]["kind"] == {"enum": ["double", "single"], "default": "single"}
    assert book.schema["$defs"]["Place"]["properties"] == {"city": {"type": "string"}}
    assert book.schema["additionalProperties"] is False


def test_a_tool_stays_a_function() -> None:
    assert tool(visit)("2026-01-01") is None
    assert getattr(book, "__name__", None) == "book"
    assert book.__doc__ == "Book a room."


async def test_a_tool_gets_typed_arguments_and_what_is_filled_in() -> None:
    execution = FakeExecution()
    result = await book.run({"place": {"city": "Oslo"}, "nights": 2}, execution, "key")

    assert result == ["Oslo", 2, "single", [], execution, "key"]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"place": {"city": "SECRET"}, "nights": "SECRET"},
        {"place": {"city": "SECRET"}, "nights": 0},
        {"place": "SECRET", "nights": 1},
        {"place": {"city": "Oslo"}, "nights": 1, "SECRET": 1},
        {"place": {"city": "Oslo"}, "nights": 1, "kind": "SECRET"},
        {"place": {"city": "Oslo"}, "nights": 1, "ctx": "SECRET"},
        {"place": {"city": "Oslo"}, "nights": 1, "idempotency_key": "SECRET"},
    ],
    ids=str,
)
def test_arguments_that_do_not_fit_are_refused_without_repeating_them(given: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as caught:
        book.check(given)
    assert caught.value.message.startswith("The arguments of book-room do not fit: ")
    assert "SECRET" not in caught.value.message


def by_position(a: int, /) -> None: ...
def by_star(*a: int) -> None: ...
def by_name(**a: int) -> None: ...
def by_socket(a: type[Context]) -> None: ...
def by_ghost(a: "Ghost") -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize("fn", [by_position, by_star, by_name, by_socket, by_ghost])
def test_a_signature_that_has_no_schema_is_refused(fn: Any) -> None:
    with pytest.raises(Invalid, match=f"Tool {fn.__name__}: "):
        tool(fn)


@pytest.mark.parametrize("options", [{"effects": "some"}, {"approval": "maybe"}, {"timeout": 0}], ids=str)
def test_a_bad_tool_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Tool(sync, **options)


def test_a_rule_says_whether_a_person_is_asked() -> None:
    def on_friday(given: Mapping[str, Any]) -> bool:
        return date.fromisoformat(given["day"]).weekday() == 4

    ask = tool(approval=on_friday)(visit)

    assert ask.needs_approval({"day": "2026-01-02"})
    assert not ask.needs_approval({"day": "2026-01-01"})


def visit(day: str) -> None: ...


# --- documents -------------------------------------------------------------------------------------------------------


def test_documents_come_as_objects_as_dicts_or_from_a_file(tmp_path: Any) -> None:
    file = tmp_path / "docs.json"
    file.write_text('[{"id": "a", "title": "A", "text": "aa", "more": 1}]')
    expected = (Document("a", "A", "aa"),)

    assert Documents("d", [Document("a", "A", "aa")]).documents == expected
    assert Documents("d", [{"id": "a", "title": "A", "text": "aa"}]).documents == expected
    assert Documents("d", file).documents == Documents("d", str(file)).documents == expected


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('[{"id": "a"}]', "entry 0 needs an id, a title and a text"),
        ("[3]", "entry 0 needs"),
        ("{}", "is not a JSON list"),
        ("[", "is not a JSON list"),
        ('[{"id":"a","title":"","text":""},{"id":"a","title":"","text":""}]', "two documents have the same id"),
        (None, "cannot be read"),
    ],
)
def test_documents_that_cannot_be_used_are_refused(tmp_path: Any, content: str | None, says: str) -> None:
    file = tmp_path / "docs.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(Invalid, match=says):
        Documents("d", file)
