"""`runyard check`: check whether services follow the agent contract."""

from typing import Annotated

from runyard.cli.parsing.commands import Argument, Exit, Option
from runyard.cli.parsing.options import Json
from runyard.cli.terminal.output import echo


def check(
    targets: Annotated[
        list[str] | None,
        Argument(help="http://host:8000=TASK_TYPE, any number.", metavar="URL=TASK_TYPE"),
    ] = None,
    json: Json = False,
    quiet: Annotated[bool, Option("--quiet", help="Print nothing; the exit code says it.")] = False,
) -> None:
    """Check whether services follow the agent contract.

    Without targets, those of AGENT_CONTRACT_TARGETS. Exit code 0 if all do, 1 if one does not, 2 if a target is
    invalid or none is given.
    """
    from runyard.contract import report

    reports = report.check(report.targets(targets or ()))
    if not quiet:
        echo(report.to_json(reports) if json else report.table(reports))
    raise Exit(report.exit_code(reports))
