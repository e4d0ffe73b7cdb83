"""Every log line has one row in the registry of log actions, and every row is written somewhere."""

from __future__ import annotations

import re
from pathlib import Path

from runyard.telemetry.log_actions import LOG_ACTIONS
from scripts.tables.log_actions_table import Call, calls

CHANGELOG = Path(__file__).parents[3] / "CHANGELOG.md"
REGISTERED = {(action.name, action.level) for action in LOG_ACTIONS}


def test_every_call_uses_a_registered_action_at_its_registered_level() -> None:
    assert [call for call in calls() if (call.action, call.level) not in REGISTERED] == []


def test_every_registered_action_is_written_somewhere() -> None:
    assert sorted(REGISTERED - {(call.action, call.level) for call in calls()}) == []


def test_every_action_has_one_row() -> None:
    names = [action.name for action in LOG_ACTIONS]
    assert len(names) == len(set(names))


def test_an_action_is_named_after_a_thing_and_what_happened_to_it() -> None:
    assert [action.name for action in LOG_ACTIONS if not re.fullmatch(r"[a-z_]+\.[a-z_]+", action.name)] == []


def test_an_action_says_what_it_means_and_what_to_do() -> None:
    for action in LOG_ACTIONS:
        assert re.fullmatch(r"[A-Z][^|\n]+\.", action.meaning), action.name
        assert re.fullmatch(r"[A-Z][^|\n]+\.", action.remedy), action.name


def test_the_changelog_renames_old_actions_into_registered_ones() -> None:
    table = CHANGELOG.read_text("utf-8").partition("| old log action | new log action |")[2].partition("\n\n")[0]
    renamed = re.findall(r"^\| `([a-z_.]+)` \| `([a-z_.]+)` \|$", table, re.MULTILINE)
    names = {action.name for action in LOG_ACTIONS}
    assert len(renamed) > 50
    assert [new for _, new in renamed if new not in names] == []
    assert [old for old, _ in renamed if old in names] == []


def test_the_scan_sees_a_call_of_every_level(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text('log.critical("a.b", x=1)\nstructlog.get_logger().exception("c.d")\n')
    found = calls(tmp_path)
    assert {Call("a.b", "critical", ("x",), "one.py"), Call("c.d", "exception", (), "one.py")} <= set(found)
