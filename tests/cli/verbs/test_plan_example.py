"""The example of a plan, as a user starts it."""

from pathlib import Path

import httpx2
import pytest

from tests.cli.cli_process import runyard, serving
from tests.support.eventually import PATIENCE

pytestmark = pytest.mark.flow

EXAMPLE = Path(__file__).parents[3] / "examples" / "device_plan.py"


@pytest.mark.req("S4.39", "S4.41")
def test_the_example_leaves_its_thirteen_events_and_is_told_on_a_terminal(tmp_path: Path) -> None:
    with serving(tmp_path, str(EXAMPLE)) as url, httpx2.Client(base_url=url, timeout=PATIENCE) as http:
        assert http.post("/agents/runs", json={"runId": "try-1"}).status_code == 201
        stream = http.get("/agents/runs/try-1/stream")
        assert [int(line[4:]) for line in stream.text.splitlines() if line.startswith("id: ")] == list(range(1, 14))
        run_id = http.get("/agents/runs/try-1").json()["serverRunId"]
        followed = runyard(tmp_path, "runs", "follow", run_id, env={"RUNYARD_URL": url})
        shown = runyard(tmp_path, "runs", "show", run_id, env={"RUNYARD_URL": url}).stdout
    nodes = ["EnsureDevice", "Warmup", "OpenApp", "Ping", "Teardown"]
    assert followed.stderr.splitlines() == [*(f"▸ {node}" for node in nodes), "done"]
    assert (followed.returncode, followed.stdout) == (0, "")
    for node in nodes:
        assert f"{node} finished" in shown
