"""Check whether services speak the agent contract. Needs Python 3.11 and nothing else: no package is installed.

    export AGENT_CONTRACT_TARGETS="http://localhost:8000=LIT_RETRIEVAL,http://localhost:8001=POLICY_REVIEW"
    python3 scripts/check-agent-contract.py [--json] [URL=TASK_TYPE ...]

Exit code 0 if all of them do, 1 if one does not, 2 if no valid target is given. `runyard check` is the same.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from runyard.contract import report
from runyard.errors import StartupError


def main() -> int:
    parser = argparse.ArgumentParser(description="Check whether services speak the agent contract.")
    parser.add_argument("targets", nargs="*", metavar="URL=TASK_TYPE", help="without any, AGENT_CONTRACT_TARGETS")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    try:
        reports = report.check(report.targets(given.targets))
    except StartupError as error:
        print(error.message, file=sys.stderr)
        return 2
    print(report.to_json(reports) if given.json else report.table(reports))
    return report.exit_code(reports)


if __name__ == "__main__":
    sys.exit(main())
