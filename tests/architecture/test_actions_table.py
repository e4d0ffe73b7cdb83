"""Every log line has a stable action, and the table of them is true."""

from __future__ import annotations

import re

from scripts import actions_table


def test_the_table_of_actions_is_current() -> None:
    assert actions_table.is_current(), "run 'python -m scripts.actions_table'"


def test_an_action_is_what_and_what_became_of_it() -> None:
    odd = [line.action for line in actions_table.lines() if not re.fullmatch(r"[a-z]+\.[a-z_]+", line.action)]
    assert odd == []
