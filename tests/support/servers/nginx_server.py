"""A private nginx with the configuration that is shipped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.support.servers.daemon import Daemon
from tests.support.session.missing_programs import need

CONFIGURATION = Path(__file__).parents[3] / "deploy" / "nginx.conf"


class PrivateNginx(Daemon):
    """`pods` are the ports of the API pods, in the order of the configuration."""

    program = "nginx"
    greeting = b"HTTP/1.1 400"  # what is asked is no request, and that is an answer

    def __init__(self, folder: Path, pods: Sequence[int]) -> None:
        super().__init__()
        self._folder = folder
        text = CONFIGURATION.read_text(encoding="utf-8")
        wanted = {f"api-{n}:8000": f"127.0.0.1:{port}" for n, port in enumerate(pods, 1)}
        wanted |= {"listen 8080": f"listen 127.0.0.1:{self.port}", " /tmp/nginx": f" {folder}/nginx"}
        wanted |= {"/dev/stdout": f"{folder}/access.log", "/dev/stderr": f"{folder}/error.log"}
        for old, new in wanted.items():
            assert old in text, f"deploy/nginx.conf no longer has {old!r}"
            text = text.replace(old, new)
        (folder / "nginx.conf").write_text(text, encoding="utf-8")

    @classmethod
    def find(cls) -> Path:
        return need(cls.program)

    def options(self) -> list[str]:
        alone = "daemon off; master_process off;"  # one process, which one signal ends
        return ["-p", str(self._folder), "-c", str(self._folder / "nginx.conf"), "-g", alone]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"
