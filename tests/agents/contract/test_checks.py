"""The checker finds exactly the broken clause: an agent that breaks one clause fails one check."""

import pytest

from runyard.contract import checks, findings
from runyard.contract.probe import Patience, gather
from tests.agents.contract.agent_server import GOOD, TASK, as_json, as_stream, envelope, event, frames, refusal, served
from tests.agents.contract.broken_agents import BROKEN

QUICK = Patience(health=5, sync=5, stream=5, silence=0.5)
KINDS = {
    "the good one": GOOD,
    "the other style of success": GOOD.but(
        sync=lambda a: as_json({"request_id": a["request_id"], "outputs": {}, "ok": True}),
        stream=lambda a: as_stream(event("done", envelope(a, status="completed", success=True, outputs=None, data={}))),
    ),
    "comments, ids, CRLF and several data lines": GOOD.but(
        stream=lambda a: as_stream(
            b": hello\n\nid: 7\nretry: 100\n\n",
            b"".join(frames(a)[:-1]).replace(b"\n", b"\r\n"),
            b"id: 8\nevent: complete\ndata: {\ndata:" + event("x", envelope(a))[len(b"event: x\ndata: {") :],
        )
    ),
    "one that does every task": GOOD.but(unknown=GOOD.sync, unknown_stream=GOOD.stream),
    "one that refuses in the canonical style": GOOD.but(
        unknown=lambda a: as_json(refusal(a, ok=None, status="error"), 404)
    ),
}


def outcomes(name: str, behaviour: object, task_type: str = TASK) -> dict[str, str]:
    with served(behaviour) as agent:  # type: ignore[arg-type]
        findings = checks.run(gather(agent.url, task_type, "contract-check-1", QUICK))
    return {finding.name: finding.outcome for finding in findings}


@pytest.mark.req("S2.11", "S2.14", "S2.26", "S2.28")
@pytest.mark.parametrize("name", KINDS)
def test_an_agent_that_keeps_the_contract_passes_every_check(name: str) -> None:
    assert set(outcomes(name, KINDS[name]).values()) == {"pass"}


@pytest.mark.req("S2.26", "S2.28")
@pytest.mark.parametrize("name", BROKEN)
def test_an_agent_that_breaks_one_clause_fails_exactly_that_check(name: str) -> None:
    expected, behaviour = BROKEN[name]
    found = outcomes(name, behaviour)
    assert [check for check, outcome in found.items() if outcome == "fail"] == [expected]


def test_there_is_a_broken_agent_for_every_check() -> None:
    assert {expected for expected, _ in BROKEN.values()} == {check.__name__ for check in checks.CHECKS}
    assert len(BROKEN) >= 15


def test_every_check_has_its_clause_as_docstring() -> None:
    for check in checks.CHECKS:
        assert findings.clause(check).endswith(".")
