"""A private Prometheus that scrapes given ports of this machine every second and evaluates the shipped rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from tests.deploy.chart import NAMESPACE
from tests.deploy.queries import ALERTS_FILE
from tests.support.servers.daemon import Daemon
from tests.support.session.missing_programs import need


class PrivatePrometheus(Daemon):
    """`targets`: the metrics ports of pods, by the pod's name."""

    program = "prometheus"
    greeting = b"HTTP/1.1 400"  # what is asked is no request, and that is an answer

    def __init__(self, folder: Path, targets: Mapping[str, int]) -> None:
        super().__init__()
        self._folder = folder
        folder.mkdir()
        scraped = [
            {"targets": [f"127.0.0.1:{port}"], "labels": {"namespace": NAMESPACE, "pod": pod}}
            for pod, port in targets.items()
        ]
        configuration = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(ALERTS_FILE)],
            "scrape_configs": [{"job_name": "runyard", "static_configs": scraped}],
        }
        (folder / "prometheus.yml").write_text(json.dumps(configuration), encoding="utf-8")  # JSON is YAML

    @classmethod
    def find(cls) -> Path:
        return need(cls.program)

    def options(self) -> list[str]:
        return [
            f"--config.file={self._folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={self._folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
        ]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The result of an expression now. HTTPError if Prometheus refuses it."""
        found: list[dict[str, Any]] = self._get("query", query=expression)["result"]
        return found

    def rules(self) -> list[dict[str, Any]]:
        return [rule for group in self._get("rules")["groups"] for rule in group["rules"]]

    def _get(self, path: str, **parameters: str) -> Any:
        with urlopen(f"{self.url}/api/v1/{path}?{urlencode(parameters)}", timeout=30) as response:
            return json.load(response)["data"]
