"""deploy/prometheus: each alert fires on series that it is for, and not on series just below it.

Prometheus' own promtool evaluates the rules over 30 minutes of made-up series, one value a minute.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.deploy.queries import ALERTS, ALERTS_FILE
from tests.support.session.missing_programs import need

Series = dict[str, str]  # the labels besides `namespace`, and the values in promtool's notation


class Case(NamedTuple):
    fires: dict[str, Series]
    stays_quiet: dict[str, Series]


def buckets(fast: str, limit: int, above: int, slow: int) -> Series:
    """Observations per minute up to `limit`, and more up to `above`."""
    total = int(fast) + slow
    return {
        f'le="{limit / 2:g}"': "0x30",
        f'le="{limit}"': f"0+{fast}x30",
        f'le="{above}"': f"0+{total}x30",
        'le="+Inf"': f"0+{total}x30",
    }


NOTHING: dict[str, Series] = {}
JUMP = "0x10 1x20"
CASES = {
    "RunyardNotScraped": Case(NOTHING, {"runyard_queue_depth": {"": "0x30"}}),
    "RunyardNoWorkerExecutes": Case(
        {"runyard_queue_oldest_seconds": {"": "61x30"}, "runyard_runs_active": {'pod="a"': "0x30", 'pod="b"': "0x30"}},
        {"runyard_queue_oldest_seconds": {"": "61x30"}, "runyard_runs_active": {'pod="a"': "0x30", 'pod="b"': "1x30"}},
    ),
    "RunyardQueueWaits": Case(
        {"runyard_queue_oldest_seconds": {'pod="a"': "0x30", 'pod="b"': "31x30"}},
        {"runyard_queue_oldest_seconds": {"": "30x30"}},
    ),
    "RunyardPublicationLags": Case(
        {"runyard_outbox_lag_ms_bucket": buckets("98", 500, 1000, 2)},
        {"runyard_outbox_lag_ms_bucket": buckets("100", 500, 1000, 0)},
    ),
    "RunyardCommitsSlow": Case(
        {"runyard_journal_commit_ms_bucket": buckets("98", 100, 200, 2)},
        {"runyard_journal_commit_ms_bucket": buckets("100", 100, 200, 0)},
    ),
    "RunyardLeasesLost": Case(
        {"runyard_leases_lost_total": {"": JUMP}}, {"runyard_leases_lost_total": {"": "3x30"}}
    ),
    "RunyardWritesFenced": Case(
        {"runyard_writes_fenced_total": {"": JUMP}}, {"runyard_writes_fenced_total": {"": "3x30"}}
    ),
    "RunyardWorkersCrash": Case(
        {"runyard_runs_resumed_total": {'why="crash"': "0x10 9x20"}},
        {"runyard_runs_resumed_total": {'why="crash"': "0x10 4x20", 'why="drain"': "0x10 90x20"}},
    ),
    "RunyardRunsFail": Case(
        {"runyard_runs_finished_total": {'agent="a",status="error"': "0+3x30", 'agent="a",status="done"': "0+7x30"}},
        {"runyard_runs_finished_total": {'agent="a",status="error"': "0+1x30", 'agent="a",status="done"': "0+9x30"}},
    ),
    "RunyardToolsFail": Case(
        {"runyard_tool_calls_total": {'tool="t",outcome="timeout"': "0+6x30", 'tool="t",outcome="ok"': "0+4x30"}},
        {"runyard_tool_calls_total": {'tool="t",outcome="timeout"': "0+4x30", 'tool="t",outcome="ok"': "0+6x30"}},
    ),
    "RunyardRequestsRefused": Case(
        {"runyard_requests_refused_total": {'code="queue_full"': "0+120x30"}},
        {"runyard_requests_refused_total": {'code="queue_full"': "0+30x30", 'code="too_large"': "0+30x30"}},
    ),
    "RunyardStreamsLag": Case(
        {"runyard_sse_lag_events": {"": "10001x30"}}, {"runyard_sse_lag_events": {"": "10000x30"}}
    ),
}  # fmt: skip


def test_every_alert_has_a_case() -> None:
    assert set(CASES) == {rule["alert"] for rule in ALERTS}


@pytest.mark.parametrize("alert", CASES)
def test_an_alert_fires_when_it_should_and_only_then(alert: str, tmp_path: Path) -> None:
    case = CASES[alert]
    tests = [_test(alert, case.fires, 1), _test(alert, case.stays_quiet, 0)]
    file = tmp_path / "test.yaml"  # JSON is YAML
    file.write_text(json.dumps({"rule_files": [str(ALERTS_FILE)], "evaluation_interval": "1m", "tests": tests}))
    told = subprocess.run([need("promtool"), "test", "rules", file], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def _test(alert: str, series: dict[str, Series], firing: int) -> dict[str, object]:
    given = [
        {"series": f'{name}{{namespace="agents"{"," if labels else ""}{labels}}}', "values": values}
        for name, many in series.items()
        for labels, values in many.items()
    ]
    asked = f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)'
    wanted = {"expr": asked, "eval_time": "22m", "exp_samples": [{"labels": "{}", "value": firing}]}
    return {"interval": "1m", "input_series": given, "promql_expr_test": [wanted]}
