"""`make chaos`: a bounded run of faults that are combined at random by seed, under load, on both databases.

Prints what was injected and found. Exits with 1 if anything that must hold did not."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

from tests.flow.chaos.chaos import run
from tests.flow.chaos.report import Report
from tests.flow.chaos.schedule import KINDS
from tests.support.faults.defences import REMOVE


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.flow.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="How long faults are injected, per database.")
    parser.add_argument("--seed", type=int, default=1, help="The same seed gives the same faults at the same times.")
    parser.add_argument("--database", choices=[*KINDS, "both"], default="both")
    parser.add_argument(
        "--without", choices=["", *REMOVE], default="", help="Remove a defence; the run must then fail."
    )
    parser.add_argument("--keep", action="store_true", help="Keep the folder with the logs of all processes.")
    options = parser.parse_args()
    os.environ["PATH"] = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    violations = 0
    for database in KINDS if options.database == "both" else [options.database]:
        folder = Path(tempfile.mkdtemp(prefix=f"runyard-chaos-{database}-"))
        report: Report = asyncio.run(run(database, options.seconds, options.seed, folder, options.without))
        print(report.text(), flush=True)
        if options.keep:
            print(f"  logs        {folder}")
        else:
            shutil.rmtree(folder)
        violations += len(report.violations)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
