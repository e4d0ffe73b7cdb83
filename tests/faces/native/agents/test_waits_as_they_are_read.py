"""A wait shows the whole message that led to it and the input in the order in which its tool declares it, on every
database: Postgres stores the fields of a JSON value in its own order."""

from typing import Any

import runyard
from runyard.agents.context.context import Context
from runyard.agents.declared.loading import App
from tests.support.in_process.live_server import Serve

ORDER = ["because", "to", "amount"]


@runyard.tool(approval="always", effects="once")
async def transfer(because: str, to: str, amount: int) -> str:
    return f"sent {amount} to {to}"


@runyard.agent(tools=[transfer])
async def payer(ctx: Context) -> str:
    return str(await ctx.call(transfer, amount=3, to="bob", because="late"))


APP = App({"payer": payer}, default="payer")


async def test_an_input_is_in_the_order_of_its_tool_wherever_it_is_read(serve: Serve) -> None:
    server = await serve(APP)
    wait_id = await server.waiting(run_id := await server.post("payer", "pay"))

    async def rows(path: str, name: str) -> list[Any]:
        return list((await server.http.get(path)).json()[name])

    [wait], [approval] = await rows("/api/waits", "waits"), await rows("/api/approvals", "approvals")
    one = (await server.http.get(f"/api/waits/{wait_id}")).json()
    decided = (await server.http.post(f"/api/approvals/{wait_id}", json={"decision": "approve"})).json()
    await server.ended(run_id)
    logged = [event["data"]["input"] for event in await server.log(run_id) if event["type"] == "tool.requested"]
    assert [list(each["input"]) for each in (wait, approval, one, decided)] == [ORDER] * 4
    assert [list(each) for each in logged] == [ORDER]


async def test_a_list_says_that_a_message_is_cut_and_the_wait_has_all_of_it(serve: Serve) -> None:
    server = await serve(APP)
    for text, listed in (("pay", ("pay", False)), ("x" * 301, ("x" * 300 + "\u2026", True))):
        wait_id = await server.waiting(run_id := await server.post("payer", text))
        [row] = (await server.http.get("/api/waits", params={"run_id": run_id})).json()["waits"]
        one = (await server.http.get(f"/api/waits/{wait_id}")).json()
        assert (row["question"], row["question_cut"]) == listed
        assert (one["question"], one["question_cut"]) == (text, False)
