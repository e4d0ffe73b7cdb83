"""The folder of an app for the verbs."""

from pathlib import Path

import pytest


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with `app.py`: the `APP` of the test's module."""
    (tmp_path / "app.py").write_text(request.module.APP)
    return tmp_path
