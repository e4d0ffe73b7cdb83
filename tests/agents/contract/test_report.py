"""The checker as people run it: targets, exit codes, a table and JSON."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from runyard.cli import run
from runyard.contract import checks, report
from runyard.errors import StartupError
from tests.agents.contract.agent_server import GOOD, TASK, as_json, served
from tests.support.eventually import PATIENCE

SCRIPT = Path(__file__).parents[3] / "scripts" / "check-agent-contract.py"
LEAKS = "what the patient said"


def script(*arguments: str, targets: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the script on a Python without any packages."""
    environment = {} if targets is None else {report.VARIABLE: targets}
    command = [sys.executable, "-I", "-S", str(SCRIPT), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.req("S2.26", "S2.27")
def test_the_script_exits_with_0_if_all_agents_pass_and_with_1_if_one_does_not() -> None:
    with served() as good, served(GOOD.but(sync=lambda a: as_json({"said": LEAKS}))) as bad:
        passed = script(targets=f"{good.url}={TASK}, {good.url}/={TASK}")
        failed = script(targets=f"{good.url}={TASK},{bad.url}={TASK}")
    assert passed.returncode == 0, passed.stderr
    assert passed.stdout.count("PASS") == 2 * len(checks.CHECKS)
    assert failed.returncode == 1
    assert "FAIL  sync_has_outputs" in failed.stdout
    assert LEAKS not in failed.stdout + failed.stderr


@pytest.mark.req("S2.27")
@pytest.mark.parametrize("targets", [None, "", " , ", "http://host", "host=X", "http://host=", "=X", "http://h:x=X"])
def test_the_script_exits_with_2_if_no_valid_target_is_named(targets: str | None) -> None:
    found = script(targets=targets)
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert not found.stdout


@pytest.mark.req("S2.27")
def test_an_address_may_have_an_equals_sign_before_its_task() -> None:
    assert report.targets(["http://h/a=b=TASK"]) == [report.Target("http://h/a=b", "TASK")]
    with pytest.raises(StartupError):
        report.targets(["http://h/?a=TASK"])


def test_the_command_says_the_same_as_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    with served() as good:
        target = f"{good.url}={TASK}"
        assert run(["check", target]) == 0
        assert capsys.readouterr().out == script(target).stdout
        assert run(["check", "--json", target]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["passed"], found["task_type"]) == (True, TASK)
    assert {check["outcome"] for check in found["checks"]} == {"pass"}


def test_an_unreachable_agent_is_a_failure_and_no_crash() -> None:
    with served() as agent:
        gone = agent.url
    assert script(f"{gone}={TASK}").returncode == 1


def test_a_key_is_sent_as_a_bearer_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(report.KEY_VARIABLE, "k")
    with served() as agent:
        report.check(report.targets([f"{agent.url}={TASK}"]))
    assert agent.headers["authorization"] == "Bearer k"
