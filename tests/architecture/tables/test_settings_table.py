"""Every setting is documented, and the table says what the code does."""

from __future__ import annotations

from runyard.settings import Settings


def test_every_setting_has_one_sentence() -> None:
    for name, field in Settings.fields.items():
        said = field.description
        assert said.endswith("."), name
        assert ". " not in said, name
