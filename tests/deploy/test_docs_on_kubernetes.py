"""docs/kubernetes.md: its values render, and the values that it names exist."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from runyard.settings import Settings
from tests.deploy.chart import CHART, ROOT, render

PAGE = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))


def test_the_page_has_values() -> None:
    assert len(BLOCKS) == 3


@pytest.mark.parametrize("block", BLOCKS)
def test_the_values_of_the_page_render(block: str) -> None:
    values = yaml.safe_load(block)
    rendered = render(values)
    assert rendered.error == ""
    assert set(rendered.pods()) == {"serve", "worker", "migrate"}


def test_every_value_that_the_page_names_exists() -> None:
    named = {name for name in re.findall(r"`(\w+(?:\.\w+)*)(?:: [^`]*)?`", PAGE) if name.partition(".")[0] in VALUES}
    assert len(named) >= 15
    assert sorted(name for name in named if not _exists(name)) == []


def _exists(name: str) -> bool:
    found: Any = VALUES
    for part in name.split("."):
        if not isinstance(found, dict) or part not in found:
            return name.startswith("settings.") and part in Settings.fields
        found = found[part]
    return True
