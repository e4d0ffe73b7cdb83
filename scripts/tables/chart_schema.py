"""deploy/helm/runyard/values.schema.json: what the values of the Helm chart may be.

python -m scripts.tables.chart_schema            write it
python -m scripts.tables.chart_schema --check    write nothing; exit 1 when it is stale

Names and types come from values.yaml, descriptions from its comments, limits from `RULES`. What `settings` may hold
comes from the settings of the product, so that Helm refuses a setting that does not exist.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml  # type: ignore[import-untyped]

from runyard.settings import Settings
from runyard.settings.model import Limits, Setting

CHART = Path(__file__).parents[2] / "deploy" / "helm" / "runyard"
SCHEMA = CHART / "values.schema.json"

# Settings that the chart itself sets, that belong into the Secret, or that only a command on a laptop uses.
SET_BY_THE_CHART = {"host", "port", "metrics_host", "metrics_port", "drain_seconds", "stop_seconds"} | {
    "app",
    "workspaces",
}
SECRET = {"database_url", "bus_url", "encryption_keys", "sentry_dsn", "api_key"}
NOT_FOR_PODS = {"url", "dev_origins"}

_COUNT = {"type": "integer", "minimum": 0}
_AT_LEAST_ONE = {"type": "integer", "minimum": 1}
_SECONDS = {"type": "number", "minimum": 0}
_PORT = {"type": "integer", "minimum": 1024, "maximum": 65535}
_QUANTITY = {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?([EPTGMk]i?|m)?$"}
_PERCENT = {"type": "integer", "minimum": 1, "maximum": 100}
_OBJECTS = {"type": "array", "items": {"type": "object"}}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_TEXT_MAP = {"type": "object", "additionalProperties": {"type": "string"}}

# By the whole path or, with a leading dot, by the last name.
RULES: dict[str, dict[str, Any]] = {
    "image.repository": {"minLength": 1},
    "image.digest": {"pattern": "^(sha256:[0-9a-f]{64})?$"},
    "image.pullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]},
    "image.pullSecrets": _TEXTS,
    "secret.data": {
        "type": "object",
        "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
        "additionalProperties": {"type": "string", "minLength": 1},
    },
    "app.mountPath": {"pattern": "^/"},
    "serve.processes": {**_AT_LEAST_ONE, "maximum": 256},
    "worker.keda.maxReplicas": _AT_LEAST_ONE,
    "worker.keda.runsPerWorker": _AT_LEAST_ONE,
    "worker.keda.pollingSeconds": _AT_LEAST_ONE,
    "worker.keda.trigger": {"enum": ["postgres", "prometheus"]},
    "worker.keda.prometheus.address": {"pattern": "^(https?://.+)?$"},
    "migrate.activeDeadlineSeconds": _AT_LEAST_ONE,
    "service.type": {"enum": ["ClusterIP", "NodePort", "LoadBalancer"]},
    "service.port": {"type": "integer", "minimum": 1, "maximum": 65535},
    "metrics.port": {**_PORT, "not": {"const": 8000}},
    "metrics.serviceMonitor.interval": {"pattern": "^[0-9]+(ms|s|m)$"},
    "metrics.prometheusRule.docsUrl": {"pattern": "^(https?://.+)?$"},
    "ingress.hosts": _TEXTS,
    "ingress.path": {"pattern": "^/"},
    "ingress.tls": _OBJECTS,
    "networkPolicy.from": _OBJECTS,
    "networkPolicy.metricsFrom": _OBJECTS,
    "networkPolicy.egress": _OBJECTS,
    "workspaces.accessModes": {"type": "array", "items": {"enum": ["ReadWriteMany", "ReadWriteOnce"]}, "minItems": 1},
    "workspaces.size": _QUANTITY,
    "topologySpread.topologyKeys": {**_TEXTS, "minItems": 1},
    "topologySpread.maxSkew": _AT_LEAST_ONE,
    "topologySpread.whenUnsatisfiable": {"enum": ["ScheduleAnyway", "DoNotSchedule"]},
    "podSecurityContext": {"type": "object"},
    "containerSecurityContext": {"type": "object"},
    "commonLabels": _TEXT_MAP,
    ".annotations": _TEXT_MAP,
    ".labels": _TEXT_MAP,
    ".nodeSelector": _TEXT_MAP,
    ".podAnnotations": _TEXT_MAP,
    ".podLabels": _TEXT_MAP,
    ".tolerations": _OBJECTS,
    ".extraEnv": _OBJECTS,
    ".extraEnvFrom": _OBJECTS,
    ".extraVolumes": _OBJECTS,
    ".extraVolumeMounts": _OBJECTS,
    ".resources": {"type": "object"},
    ".sizeLimit": _QUANTITY,
    ".replicas": _COUNT,
    ".minReplicas": _COUNT,
    ".maxReplicas": _AT_LEAST_ONE,
    ".maxUnavailable": {"type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+%$"},
    ".targetCPUUtilizationPercentage": _PERCENT,
    ".scaleDownSeconds": {"type": "integer", "minimum": 0, "maximum": 3600},
    ".drainSeconds": _SECONDS,
    ".stopSeconds": {"type": "number", "exclusiveMinimum": 0},
    ".marginSeconds": {"type": "number", "minimum": 45},
    ".preStopSeconds": _SECONDS,
}


def render() -> str:
    """The whole of values.schema.json."""
    text = (CHART / "values.yaml").read_text(encoding="utf-8")
    body = _of("", yaml.safe_load(text), _comments(text))
    body["properties"]["settings"] |= {"properties": settings_schema(), "additionalProperties": False}
    # Helm adds these to the values of a chart that another chart depends on.
    body["properties"] |= {"global": {"type": "object"}}
    return json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", **body}, indent=2) + "\n"


def settings_schema() -> dict[str, Any]:
    """The settings that a user of the chart may set, by name."""
    hidden = SET_BY_THE_CHART | SECRET | NOT_FOR_PODS
    if unknown := hidden - Settings.fields.keys():
        raise SystemExit(f"chart_schema: these are not settings any more: {sorted(unknown)}")
    return {name: _setting(found) for name, found in Settings.fields.items() if name not in hidden}


def _setting(found: Setting) -> dict[str, Any]:
    """The JSON Schema of a setting, without its default, which is documentation."""
    return {**_json_type(found.kind), **_limits(found.limits), "description": found.description}


def _json_type(kind: Any) -> dict[str, Any]:
    if get_origin(kind) is Literal:
        return {"type": "string", "enum": list(get_args(kind))}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": {"type": "string"}}
    return {"type": {bool: "boolean", int: "integer", float: "number"}.get(kind, "string")}


def _limits(limits: tuple[Limits, ...]) -> dict[str, Any]:
    named = {"gt": "exclusiveMinimum", "ge": "minimum", "le": "maximum"}
    bounds = [(named[name], bound) for each in limits for name, bound in each._asdict().items()]
    return {name: bound for name, bound in bounds if bound is not None}


def _of(path: str, value: Any, comments: dict[str, str]) -> dict[str, Any]:
    rule = RULES.get(path) or RULES.get(f".{path.rpartition('.')[2]}") or {}
    described = {"description": comments[path]} if path in comments else {}
    if isinstance(value, dict) and value and "type" not in rule:
        below = {name: _of(f"{path}.{name}".strip("."), each, comments) for name, each in value.items()}
        return {"type": "object", **described, "additionalProperties": False, "properties": below}
    return {"type": _kind(value), **described, **rule}


def _kind(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return kinds[type(value)]


def _comments(text: str) -> dict[str, str]:
    """The comment on the line of each value, by its path."""
    found: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        match = re.match(r"^( *)([A-Za-z]\w*):(.*)$", line)
        if match is None:
            continue
        indentation = len(match[1])
        path = [*((deep, name) for deep, name in path if deep < indentation), (indentation, match[2])]
        _, mark, comment = match[3].partition(" # ")
        if mark:
            found[".".join(name for _, name in path)] = comment.strip()
    return found


def main(arguments: list[str]) -> int:
    if "--check" not in arguments:
        SCHEMA.write_text(render(), encoding="utf-8")
    if SCHEMA.exists() and SCHEMA.read_text(encoding="utf-8") == render():
        return 0
    print(f"{SCHEMA.name} is stale: run 'make docs' and commit it.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
