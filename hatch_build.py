"""Puts the page into wheels and source archives: built from `ui/` when Node is there, else as it was built before.

Where it cannot be built, for want of Node or of a package registry, the package is made without a new one and says so:
the API does not need it. An editable install builds nothing: `make page` does, into the same place.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or self._build(Path(self.root, "ui")):
            return
        is_there = Path(self.root, "src/runyard/web/built/index.html").is_file()
        what = "has the page of an earlier build" if is_there else "has no page"
        self.app.display_warning(f"The page could not be built with Node: this package {what}.")

    def _build(self, ui: Path) -> bool:
        npm = shutil.which("npm")
        if npm is None or not ui.is_dir():
            return False
        commands = (["ci", "--silent", "--ignore-scripts"], ["run", "--silent", "build"])
        return all(subprocess.run([npm, *command], cwd=ui, check=False).returncode == 0 for command in commands)
