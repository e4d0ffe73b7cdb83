"""`runyard check`: check whether services follow the agent contract."""

from typing import Annotated

import typer

from runyard.cli.options import Json


def check(
    targets: Annotated[
        list[str] | None,
        typer.Argument(help="http://host:8000=TASK_TYPE, any number.", metavar="URL=TASK_TYPE...", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Check whether services follow the agent contract.

    Without targets, those of AGENT_CONTRACT_TARGETS. Exit code 0 if all do, 1 if one does not, 2 if a target is
    invalid or none is given.
    """
    from runyard.contract import report

    reports = report.check(report.targets(targets or ()))
    typer.echo(report.to_json(reports) if json else report.table(reports))
    raise typer.Exit(report.exit_code(reports))
