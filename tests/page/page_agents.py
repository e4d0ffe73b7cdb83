"""The agents that the tests of the page talk to. What they wait for, a test opens by name."""

import asyncio
import base64
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.models.test import TestModel

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.agent import Agent, Output
from runyard.agents.declared.kinds import scripted
from runyard.agents.declared.loading import App
from runyard.errors import Rejected
from runyard.models.model import Conversation
from runyard.store import Document

FIRST, SECOND = ("one ", "two ", "three "), ("four ", "five ", "six")
STREAMED = "".join((*FIRST, *SECOND))
MANY = 20_000
OUT = "http://attacker.invalid"
# What a model, a tool or the name of a file could say, and must remain words.
HOSTILE = [
    "<script>window.owned = 1</script>",
    f'<img src="{OUT}/a.png" onerror="window.owned = 2">',
    f"![tracked]({OUT}/b.png)",
    "[click me](javascript:window.owned=3)",
    '<a href="javascript:window.owned=4" onclick="window.owned=5">and me</a>',
    f'<iframe src="{OUT}/c"></iframe><link rel="stylesheet" href="{OUT}/d.css"><base href="{OUT}">',
    f"<style>body {{ background: url({OUT}/e.png) }}</style>",
    f'<svg onload="window.owned=6"><image href="{OUT}/f.png"/></svg>',
    f'<form action="{OUT}/g"><button>send</button></form><meta http-equiv="refresh" content="0;url={OUT}/h">',
    f"[data](data:text/html,<script>window.owned=7</script>) <video poster='{OUT}/i.png' src='{OUT}/j.mp4'></video>",
    rf"\(\href{{javascript:window.owned=9}}{{x}} \includegraphics{{{OUT}/k.png}} \htmlStyle{{color: red}}{{y}}\)",
    rf"$$\text{{<img src='{OUT}/l.png' onerror='window.owned = 10'>}} \color{{red}} \fbox{{z}}$$",
]

# A picture of one pixel.
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)

PAPER = Document("paper-7", HOSTILE[1], "\n\n".join(HOSTILE))


SEAT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "row": {"type": "integer", "maximum": 30, "description": "Counted from the front."},
        "side": {"enum": ["left", "right"]},
        "vegan": {"type": "boolean"},
        "bags": {"type": "array", "items": {"type": "string"}},
        "guest": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
    "required": ["row", "side"],
}


@runyard.agent(tools=[runyard.client_tool("locate", "Return the position of the user.")])
async def booker(ctx: Context) -> str:
    """Asks a person for a seat, then the client for a position."""
    seat = await ctx.ask(f"Which seat for {ctx.message.text}?", SEAT)
    place = await ctx.call("locate", why="to find the gate")
    return f"Booked {seat} from {place}."


@runyard.agent
async def parent(ctx: Context) -> str:
    """Lets a booker work, and takes a nap of an hour."""
    found = await ctx.run("booker", "a child")
    await ctx.sleep(hours=1)
    return found.text


def reckoner(gates: "Gates") -> Agent:
    @runyard.agent
    async def reckoner(ctx: Context) -> str:
        """Writes formulas, and waits in the middle of one."""
        await ctx.token(HALF)
        await gates.wait(ctx.message.text)
        await ctx.token(REST)
        return ctx.written()

    return reckoner


def listener(gates: "Gates") -> Agent:
    @runyard.agent
    async def listener(ctx: Context) -> str:
        """Waits at its gate, then repeats what came meanwhile."""
        await gates.wait("listener")
        said = [message.text for message in await ctx.new_messages()]
        return f"Meanwhile: {said}"

    return listener


@runyard.agent
async def sleeper(ctx: Context) -> str:
    await ctx.sleep(days=2)
    return "awake"


MARKDOWN = """| what | kg |
|:-----|---:|
| bag  | 12 |

```python
def weigh(bag):  # in kg
    return 12
```
"""


@runyard.agent(samples=["Weigh my bag", "How heavy is a bag that has nothing in it?"])
async def weigher(ctx: Context) -> str:
    """Weighs what it is given.

    Answers with a table and with code."""
    return MARKDOWN + "\n\n".join(f"Line {n}" for n in range(60))


HALF, REST = "Given \\(a_1 * b_2 *", " c^2\\), $x = 1$ costs $5:\n\n$$\n\\frac{1}{2} + \\sqrt{x}\n$$\n\n$$\\wrong{$$\n"


@runyard.tool(approval="always", effects="once")
async def transfer(because: str, to: str, amount: int) -> str:
    return f"sent {amount} to {to}"


@runyard.agent(tools=[transfer])
async def payer(ctx: Context) -> str:
    """Pays whom the message names first."""
    return str(await ctx.call(transfer, amount=3, to=ctx.message.text.split()[0], because="It was late."))


async def ping(ctx: runyard.NodeContext) -> dict[str, bool]:
    return {"alive": True}


@runyard.agent(task_type="SORT")
async def sorter(ctx: Context) -> str:
    """Sorts the bags of a task."""
    return "sorted"


NOWHERE = "http://127.0.0.1:9"
OTHERS = [
    runyard.pydantic_ai(PydanticAgent(TestModel(custom_output_text="Paris."), name="geographer")),
    sleeper,
    payer,
    sorter,
    runyard.plan("check_in", [runyard.Node("Ping", ping)], description="Checks a bag in."),
    runyard.remote("customs", url=NOWHERE, task_type="CUSTOMS", allow=["127.0.0.1"], description="Opens a bag."),
    runyard.remote(
        "lounge",
        url=NOWHERE,
        task_type="LOUNGE",
        allow=["127.0.0.1"],
        description="Finds a seat in a lounge.",
        samples=["A quiet seat"],
        chat=True,
    ),
]


class Gates:
    """Gates and notes that a test shares with the agents of a server in the same process."""

    def __init__(self) -> None:
        self.open: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.calls: Counter[str] = Counter()

    async def wait(self, name: str) -> None:
        await self.open[name].wait()


def app(gates: Gates) -> App:
    @runyard.agent
    async def words(ctx: Context) -> str:
        """Thinks, writes half of its words, waits until the gate of the message opens, writes the others."""
        await ctx.thinking("I shall count.")
        for word in FIRST:
            await ctx.token(word)
        await gates.wait(ctx.message.text)
        for word in SECOND:
            await ctx.token(word)
        return ctx.written()

    @runyard.tool(approval="always", effects="once")
    async def send_mail(to: str) -> str:
        gates.calls[f"mail {to}"] += 1
        return f"sent to {to}"

    @runyard.agent(tools=[send_mail])
    async def mailer(ctx: Context) -> str:
        """Sends a mail to whom the message names, if it may."""
        try:
            return str(await ctx.call(send_mail, to=ctx.message.text))
        except Rejected as refused:
            return f"Not sent: {refused.reason}"

    @runyard.agent
    async def filer(ctx: Context) -> str:
        """Names the files of the message, and attaches a picture."""
        await ctx.attach("copy.png", PIXEL, "image/png")
        return ", ".join(file.name for file in ctx.message.files)

    @runyard.agent
    async def rememberer(ctx: Context) -> str:
        """Repeats the earlier messages."""
        return " | ".join([message.text for message in await ctx.history(50)]) or "nothing"

    @runyard.tool(effects="none")
    async def fetch(path: str) -> dict[str, Any]:
        for said in HOSTILE:
            await runyard.stream_output(said + "\n")
        return {"hits": [{"id": said, "title": said, "text": said} for said in HOSTILE]}

    @runyard.agent(tools=[fetch])
    async def hostile(ctx: Context) -> Output:
        """Says, thinks, finds and quotes everything that should do nothing."""
        await ctx.thinking("\n\n".join(HOSTILE))
        await ctx.call(fetch, path=HOSTILE[0])
        for said in HOSTILE:
            await ctx.token(f"{said}\n\n")
        await ctx.token(f"```html\n{HOSTILE[0]}\n```\n")
        return Output(ctx.written(), sources=[PAPER.id, *HOSTILE, "javascript:window.owned=8", f"{OUT}/file.pdf"])

    @runyard.agent
    async def failing(ctx: Context) -> str:
        await ctx.token("I will ")
        raise ValueError("only the owner reads this")

    declared = [
        booker,
        parent,
        weigher,
        listener(gates),
        words,
        mailer,
        rememberer,
        filer,
        hostile,
        failing,
        _traveller(gates),
        _flood(),
        _porter(gates),
        _tireless(),
    ]
    return App({each.name: each for each in (reckoner(gates), *OTHERS, *declared)}, {"papers": [PAPER]}, "words")


def _traveller(gates: Gates) -> Agent:
    @runyard.tool(effects="once")
    async def book(what: str) -> str:
        gates.calls[f"book {what}"] += 1
        return f"booked the {what}"

    def think(conversation: Conversation) -> Mapping[str, Any]:
        asked = max(place for place, message in enumerate(conversation) if message["role"] == "user")
        if conversation[asked]["content"] != "to Rome":
            return {"text": f"I was told {len(conversation)} messages."}
        if any(message["role"] == "tool" for message in conversation[asked:]):
            return {
                "text": ["All ", "is ", "**booked**."],
                "usage": {"input_tokens": 20, "output_tokens": 5, "usd": 0.01},
            }
        return {"thinking": "A train, then.", "calls": [{"tool": "book", "input": {"what": "train"}}]}

    return Agent("traveller", model="scripted", turns=think, tools=[book])


def _tireless() -> Agent:
    """Has one turn, and would need more."""

    @runyard.tool(effects="none")
    async def ponder() -> str:
        return "pondered"

    return Agent(
        "tireless",
        model="scripted",
        turns=[{"calls": [{"tool": "ponder"}]}],
        tools=[ponder],
        max_turns=1,
        instructions="You never rest.",
    )


def _porter(gates: Gates) -> Agent:
    """Works in channels: ponders until its gate opens, remembers the message, and answers."""

    @runyard.tool(effects="none")
    async def ponder() -> str:
        await gates.wait("porter")
        return "pondered"

    def think(conversation: Conversation) -> Mapping[str, Any]:
        said = next(str(message["content"]) for message in conversation if message["role"] == "user")
        match sum(message["role"] == "tool" for message in conversation):
            case 0:
                return {"calls": [{"tool": "ponder"}]}
            case 1:
                note = {"label": "news", "content": f"Heard: {said}"}
                return {"calls": [{"tool": "update_memory", "input": note}]}
            case 2:
                answer = {"text": f"The porter heard **{said}**. {HOSTILE[1]}"}
                return {"calls": [{"tool": "send_message", "input": answer}]}
            case _:
                return {"text": "That is all."}

    return Agent("porter", model="scripted", turns=think, tools=[ponder], instructions="You carry bags.", chat=False)


def _flood() -> Agent:
    return scripted("flood", [{"tokens": [f"{n} " for n in range(MANY - 3)]}])
