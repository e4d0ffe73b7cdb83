"""Check agents and report the findings as a table or as JSON. Standard library only.

Exit codes: 0 if all clauses hold, 1 if some do not, 2 if no valid target was named. The report repeats nothing of an
agent's answers except names of keys.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

from runyard.contract import checks, probe
from runyard.contract.findings import Finding
from runyard.errors import StartupError

VARIABLE = "AGENT_CONTRACT_TARGETS"
KEY_VARIABLE = "AGENT_CONTRACT_KEY"  # sent as a bearer token, for services that need one
_WORDS = {"pass": "PASS", "fail": "FAIL", "skip": "skip"}


@dataclass(frozen=True)
class Target:
    url: str
    task_type: str


@dataclass(frozen=True)
class Report:
    target: Target
    findings: list[Finding]

    @property
    def passed(self) -> bool:
        return all(finding.outcome == "pass" for finding in self.findings)


def targets(given: Sequence[str] = ()) -> list[Target]:
    """Parse the targets of the command line, or of the environment: `url=TASK_TYPE`, separated by commas."""
    words = [word.strip() for one in (given or [os.environ.get(VARIABLE, "")]) for word in one.split(",")]
    found = [_target(word) for word in words if word]
    if not found:
        raise StartupError(f"No target given; pass http://host:8000=TASK_TYPE, or set {VARIABLE}.")
    return found


def _target(word: str) -> Target:
    url, _, task_type = word.rpartition("=")
    try:
        parts = urlsplit(url)
        right = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        right = False
    if not right or not task_type or parts.query or parts.fragment:
        raise StartupError("Invalid target; write an address and a task type: http://host:8000=TASK_TYPE.")
    return Target(url.rstrip("/"), task_type)


def check(found: Sequence[Target], patience: probe.Patience | None = None) -> list[Report]:
    """Check every target."""
    key = os.environ.get(KEY_VARIABLE) or None
    evidence = [
        probe.gather(target.url, target.task_type, f"contract-check-{n}", patience, key)
        for n, target in enumerate(found, 1)
    ]
    return [Report(target, checks.run(seen)) for target, seen in zip(found, evidence, strict=True)]


def table(reports: Sequence[Report]) -> str:
    """Return the report as text, one line per clause and target."""
    lines: list[str] = []
    for report in reports:
        width = max(len(finding.name) for finding in report.findings)
        lines.append(f"{report.target.url} {report.target.task_type}")
        for finding in report.findings:
            why = f"  {finding.why}" if finding.why else ""
            lines.append(f"  {_WORDS[finding.outcome]}  {finding.name.ljust(width if why else 0)}{why}")
        lines.append(f"  {'conforms' if report.passed else 'does not conform'}")
        lines.append("")
    return "\n".join(lines).rstrip()


def to_json(reports: Sequence[Report]) -> str:
    return json.dumps(
        [
            {
                "url": report.target.url,
                "task_type": report.target.task_type,
                "passed": report.passed,
                "checks": [asdict(finding) for finding in report.findings],
            }
            for report in reports
        ],
        indent=2,
    )


def exit_code(reports: Sequence[Report]) -> int:
    """Return 0 if all agents conform, otherwise 1."""
    return 0 if all(report.passed for report in reports) else 1
