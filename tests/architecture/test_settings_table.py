"""Every setting is documented, and the table says what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.settings import Settings
from scripts import settings_table


def test_the_table_of_settings_is_current() -> None:
    assert settings_table.is_current(), "run 'python -m scripts.settings_table'"


def test_every_setting_has_one_sentence() -> None:
    for name, field in Settings.model_fields.items():
        said = field.description or ""
        assert said.endswith("."), name
        assert ". " not in said, name


def test_a_stale_table_is_noticed_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(settings_table, "TABLE", tmp_path / "settings.md")
    assert settings_table.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().err
    assert settings_table.main([]) == 0
    assert settings_table.main(["--check"]) == 0
