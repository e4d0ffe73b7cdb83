"""An assistant for docs/chats.md: it echoes, and deletes a file only after an approval.

runyard dev examples/chat.py
"""

import asyncio

import runyard


@runyard.tool(effects="none")
async def echo(text: str) -> str:
    return text


@runyard.tool(approval="always", effects="once")
async def delete_file(path: str) -> dict[str, str]:
    return {"deleted": path}


@runyard.agent(tools=[echo, delete_file])
async def assistant(ctx: runyard.Context) -> str:
    """`delete <path>` asks first, `wait` takes a minute, everything else is echoed."""
    word, _, rest = ctx.message.text.partition(" ")
    if word == "delete":
        await ctx.thinking("That cannot be undone, so a person has to agree.")
        try:
            done = await ctx.call("delete_file", path=rest)
        except runyard.Rejected as refused:
            return f"I left it alone. {refused.reason or ''}".strip()
        return f"Deleted {done['deleted']}."
    if word == "wait":
        await ctx.thinking("This takes a minute.")
        await asyncio.sleep(60)
    await ctx.thinking("Let me repeat that.")
    said = await ctx.call("echo", text=ctx.message.text)
    before = len(await ctx.history())
    return f"You said: {said} ({before} messages before)"
