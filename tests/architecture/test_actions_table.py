"""Every log line has a stable action."""

from __future__ import annotations

import re

from scripts import actions_table


def test_an_action_is_what_and_what_became_of_it() -> None:
    odd = [line.action for line in actions_table.lines() if not re.fullmatch(r"[a-z]+\.[a-z_]+", line.action)]
    assert odd == []
