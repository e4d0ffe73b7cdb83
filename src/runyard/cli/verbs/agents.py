"""`runyard agents`: list, show and deactivate agents."""

from typing import TYPE_CHECKING, Annotated

from runyard.cli.clients.open_client import run_with_client
from runyard.cli.parsing.commands import Group, Option
from runyard.cli.parsing.options import AgentName, Json, Quiet
from runyard.cli.terminal.output import echo

if TYPE_CHECKING:
    from runyard.cli.clients.open_client import AnyClient

program = Group("List, show and deactivate agents.")


@program.command("list")
def list_agents(
    inactive: Annotated[bool, Option("--inactive", help="Include agents that no message wakes.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List agents by name."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import conversation_tables, results

        found = [agent async for agent in client.agents(inactive=inactive)]
        ids, table = (agent.id for agent in found), conversation_tables.agents_table(found)
        results.print_list(found, ids, table, "No agents", json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)


@program.command()
def show(agent: AgentName, json: Json = False, quiet: Quiet = False) -> None:
    """Show an agent: its model, limits and prompt. With --quiet: its name."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal import conversation_tables, results

        found = await client.agent(agent)
        if json:
            results.print_json(found)
        elif quiet:
            echo(found.id)
        else:
            conversation_tables.print_agent(found)

    run_with_client(work, quiet=quiet)


@program.command()
def delete(agent: AgentName, json: Json = False, quiet: Quiet = False) -> None:
    """Deactivate an agent: messages no longer wake it. Its messages, runs and memory stay."""

    async def work(client: "AnyClient") -> None:
        from runyard.cli.terminal.results import print_done

        await client.deactivate_agent(agent)
        print_done({"agent": agent, "is_active": False}, f"{agent} is inactive.", json=json, quiet=quiet)

    run_with_client(work, quiet=quiet)
