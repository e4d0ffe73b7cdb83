"""deploy/helm: every value is documented, and Helm refuses a wrong one with a sentence that names it."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml  # type: ignore[import-untyped]

from runyard.settings import Settings
from scripts.tables import chart_schema
from tests.deploy.chart import CHART, SMALLEST, render

VALUES = (CHART / "values.yaml").read_text(encoding="utf-8")
# Fields of Kubernetes by their own names, which its documentation explains.
NAMES_OF_KUBERNETES = {
    *("affinity", "annotations", "labels", "nodeSelector", "pullPolicy", "tolerations", "type"),
    *("podAnnotations", "podLabels", "priorityClassName", "extraEnv", "extraEnvFrom", "extraVolumes"),
    *("extraVolumeMounts", "storageClassName", "accessModes", "size", "maxUnavailable", "activeDeadlineSeconds"),
}


def test_the_schema_is_what_values_and_settings_make_of_it() -> None:
    assert chart_schema.main(["--check"]) == 0, "run 'make docs'"
    schema = json.loads(chart_schema.SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(yaml.safe_load(VALUES), schema, jsonschema.Draft7Validator)


def test_every_rule_of_the_schema_is_about_a_value() -> None:
    paths = set(_paths(yaml.safe_load(VALUES)))
    names = {f".{path.rpartition('.')[2]}" for path in paths}
    assert set(chart_schema.RULES) - paths - names == set()


def test_every_setting_is_a_value_or_has_another_place_in_the_chart() -> None:
    hidden = chart_schema.SET_BY_THE_CHART | chart_schema.SECRET | chart_schema.NOT_FOR_PODS
    assert set(chart_schema.settings_schema()) | hidden == set(Settings.fields)
    accepted = {name: field.default for name, field in Settings.fields.items() if name not in hidden}
    given = json.loads(json.dumps({k: v for k, v in accepted.items() if v is not None}, default=str))
    assert render({**SMALLEST, "settings": given}).error == ""


def test_every_value_is_documented_on_its_line_or_on_that_of_its_group() -> None:
    on_lines = chart_schema._comments(VALUES)
    above = re.findall(r"^#.*\n(\w+):", VALUES, re.M)
    undocumented = [
        path
        for path in _paths(yaml.safe_load(VALUES))
        if not any(path == each or path.startswith(f"{each}.") for each in on_lines)
        and path not in above
        and not any(each.startswith(f"{path}.") for each in on_lines)
    ]
    assert [path for path in undocumented if path.rpartition(".")[2] not in NAMES_OF_KUBERNETES] == []


def _paths(value: Any, path: str = "") -> list[str]:
    below = value.items() if isinstance(value, dict) else ()
    return [each for name, inner in below for each in (f"{path}{name}", *_paths(inner, f"{path}{name}."))]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a misspelt value": ({"serve": {"replicsa": 3}}, "replicsa"),
    "a wrong type": ({"serve": {"replicas": "three"}}, "serve.replicas"),
    "too few": ({"serve": {"processes": 0}}, "serve.processes"),
    "an unknown word": ({"worker": {"keda": {"trigger": "redis"}}}, "worker.keda.trigger"),
    "an unknown setting": ({"settings": {"slotss": 1}}, "slotss"),
    "a setting of the wrong type": ({"settings": {"slots": "many"}}, "settings.slots"),
    "a setting below its limit": ({"settings": {"slots": 0}}, "settings.slots"),
    "a setting with an unknown word": ({"settings": {"log_level": "loud"}}, "settings.log_level"),
    "a setting that the chart sets": ({"settings": {"drain_seconds": 5}}, "drain_seconds"),
    "a secret among the settings": ({"settings": {"database_url": "postgresql://u:p@h/d"}}, "database_url"),
    "the port of the API for metrics": ({"metrics": {"port": 8000}}, "metrics.port"),
    "the port of the API for the metrics of the second process": (
        {"metrics": {"port": 7999}, "serve": {"processes": 2}},
        "metrics.port",
    ),
    "too little time to end": ({"shutdown": {"marginSeconds": 1}}, "marginSeconds"),
    "an invalid digest": ({"image": {"digest": "latest"}}, "image.digest"),
    "an empty secret": ({"secret": {"data": {"RUNYARD_DATABASE_URL": ""}}}, "RUNYARD_DATABASE_URL"),
    "no database": ({"secret": {"data": {"OPENAI_API_KEY": "one"}}}, "Set secret.existing"),
    "SQLite": ({"secret": {"data": {"RUNYARD_DATABASE_URL": "sqlite:////data/runyard.db"}}}, "several pods"),
    "two scalers": (
        {"worker": {"keda": {"enabled": True}, "autoscaling": {"enabled": True}}},
        "worker.keda and worker.autoscaling exclude each other",
    ),
    "KEDA without the address of Prometheus": (
        {"worker": {"keda": {"enabled": True, "trigger": "prometheus"}}},
        "worker.keda.prometheus.address",
    ),
    "no pod that executes runs": ({"worker": {"enabled": False}}, "worker.enabled or serve.worker"),
    "an ingress without a host": ({"ingress": {"enabled": True}}, "ingress.hosts"),
}


@pytest.mark.parametrize(("wrong", "named"), WRONG.values(), ids=WRONG)
def test_a_wrong_value_is_refused_by_its_name(wrong: dict[str, Any], named: str) -> None:
    told = render({**SMALLEST, **wrong})
    assert told.manifests == []
    assert named in told.error
