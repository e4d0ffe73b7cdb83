"""Puts the page into wheels and source archives: built from `ui/` when Node is there, else as it was built before.

Without Node and without an earlier build the package has no page, and says so here; the API does not need it. An
editable install builds nothing: `make page` does, into the same place.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        ui, npm = Path(self.root, "ui"), shutil.which("npm")
        if npm is None or not ui.is_dir():
            if not Path(self.root, "src/runyard/web/built/index.html").is_file():
                self.app.display_warning("No Node to build the page with: this package has none.")
            return
        for command in (["ci", "--silent", "--ignore-scripts"], ["run", "--silent", "build"]):
            subprocess.run([npm, *command], cwd=ui, check=True)
