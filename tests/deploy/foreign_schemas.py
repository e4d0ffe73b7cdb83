"""Objects that are not Kubernetes' own, compared with schemas of npm packages: KEDA, the Prometheus operator, Grafana.

A schema says what is missing or wrong. It does not refuse unknown fields, which Kubernetes drops silently. So the
objects are also given to tsc as literals of the packages' types: it refuses a name that a type does not have.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.session.missing_programs import ProgramMissing, need_node

ROOT = Path(__file__).parents[2]
INSTALLED = Path(sysconfig.get_path("scripts")).parent / "crds"
TSC = ROOT / "ui" / "node_modules" / ".bin" / "tsc"
TYPES = {
    "ScaledObject": "@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject",
    "TriggerAuthentication": "@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication",
    "ServiceMonitor": "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor",
    "PrometheusRule": "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule",
}
OPTIONS = ("--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022")


def what_schemas_refuse(objects: Sequence[dict[str, Any]]) -> list[str]:
    """One line for each object that lacks a field or has a wrong value."""
    _check_installed()
    script = INSTALLED / "check.mjs"
    shutil.copyfile(Path(__file__).with_name("crds") / "check.mjs", script)
    told = subprocess.run(
        [need_node(), script], input=json.dumps(objects), capture_output=True, text=True, check=True, timeout=90
    )
    return told.stdout.splitlines()


def what_types_refuse(objects: Sequence[dict[str, Any]], folder: Path) -> list[str]:
    """The errors of tsc: unknown fields, missing ones, wrong types."""
    imports = [f'import type {{ I{kind} }} from "{module}";' for kind, module in TYPES.items()]
    literals = [f"export const o{n}: I{each['kind']} = {json.dumps(each)};" for n, each in enumerate(objects)]
    return _compile("\n".join([*imports, *literals]), folder)


def what_grafana_refuses(dashboard: dict[str, Any], folder: Path) -> list[str]:
    """The same for a dashboard and each of its panels."""
    lines = ['import type { Dashboard, Panel, RowPanel } from "@grafana/schema";']
    body = {key: value for key, value in dashboard.items() if key != "panels"}
    lines.append(f"export const dashboard: Dashboard = {json.dumps(body)};")
    for n, panel in enumerate(dashboard["panels"]):
        kind = "RowPanel" if panel["type"] == "row" else "Panel"
        lines.append(f"export const p{n}: {kind} = {json.dumps(panel)};")
    return _compile("\n".join(lines), folder)


def _compile(source: str, folder: Path) -> list[str]:
    _check_installed()
    (folder / "node_modules").symlink_to(INSTALLED / "node_modules")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "objects.ts").write_text(source, encoding="utf-8")
    need_node()
    told = subprocess.run(
        [TSC, *OPTIONS, "objects.ts"], cwd=folder, capture_output=True, text=True, check=False, timeout=90
    )
    assert (told.returncode == 0) == (told.stdout == ""), told.stderr
    return told.stdout.splitlines()


def _check_installed() -> None:
    if not (INSTALLED / "node_modules").is_dir() or not TSC.exists():
        raise ProgramMissing("The schemas of npm are not installed; `make schemas-for-tests` brings them.")
