"""`python -m bench` with tiny sizes, on SQLite: every part of it works, and its results are reported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.cases import tracing
from bench.report import __main__ as report
from bench.report.results import load

ROOT = Path(__file__).parents[2]


@pytest.mark.flow
@pytest.mark.timeout(600)
def test_a_tiny_benchmark_measures_every_case(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", "--tiny", "--servers", "bare", "sqlite", "--folder", str(tmp_path)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=560, check=False)
    assert done.returncode == 0, done.stderr
    results = load("latest", tmp_path)
    assert results is not None
    in_the_store = {f"{what}, {how}" for what in ("claim", "append") for how in ("quiet", "sweeping")}
    # a busy machine holds no conversation within 50 ms; tests/bench/test_capacity.py has the search itself
    assert {row.case for row in results.rows} - {"capacity"} == in_the_store | {
        "flat",
        "paced",
        "noop",
        "faces",
        "followers",
        "followers, decided",
        "replay",
        "replay, warm",
    } | ({"traced"} - tracing.MISSING.keys())
    for row in results.rows:
        assert row.runs > 0
        assert row.client_cpu is not None or row.case in in_the_store
    for server in ("bare", "sqlite"):
        assert (results.median("events_s", "flat", server) or 0) > 0
        assert (results.median("delay_ms_p50", "paced", server) or 0) > 0
    assert not {"hostname", "path"} & results.machine.keys()
    assert not any("/" in fact for fact in results.machine.values())
    assert len(report.rows(report.measured(tmp_path))) > 10


def test_docs_and_charts_are_made_from_the_results_that_are_kept() -> None:
    assert report.main(["--check"]) == 0
