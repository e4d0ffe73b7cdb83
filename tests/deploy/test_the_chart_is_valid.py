"""deploy/helm: Helm renders the chart with every option, and every object is one that Kubernetes accepts.

Helm itself renders. Objects of Kubernetes are validated strictly against its own schemas, for the oldest and the newest
version; those of KEDA and the Prometheus operator against schemas and types of npm packages. No cluster is involved.
"""

from __future__ import annotations

import copy
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml  # type: ignore[import-untyped]

from tests.deploy.chart import CHART, DATABASE_URL, EVERYTHING, OTHERWISE, SMALLEST, VALUES, Manifest, helm, render
from tests.deploy.foreign_schemas import TYPES, what_schemas_refuse, what_types_refuse

OLDEST = re.search(r">=([0-9.]+)-0", (CHART / "Chart.yaml").read_text(encoding="utf-8"))
VERSIONS = [OLDEST[1] if OLDEST else "", kubernetes_validate.latest_version()]
CASES = pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)


@CASES
@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_is_valid_for_kubernetes(values: dict[str, Any], version: str) -> None:
    rendered = render(values)
    assert rendered.error == ""
    for manifest in rendered.manifests:
        if manifest["kind"] not in TYPES:
            kubernetes_validate.validate(manifest, version, strict=True)


@pytest.mark.parametrize("break_it", ["field", "type", "missing"])
def test_the_schemas_of_kubernetes_refuse_a_wrong_object(break_it: str) -> None:
    broken = copy.deepcopy(render(SMALLEST).of("Deployment", "-serve")[0])
    pod = broken["spec"]["template"]["spec"]
    match break_it:
        case "field":
            pod["enableServiceLink"] = False
        case "type":
            pod["terminationGracePeriodSeconds"] = "75"
        case _:
            del broken["spec"]["selector"]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[1], strict=True)


def test_objects_of_keda_and_of_the_prometheus_operator_are_valid(tmp_path: Path) -> None:
    objects = [m for values in (EVERYTHING, OTHERWISE) for m in render(values).manifests if m["kind"] in TYPES]
    assert {m["kind"] for m in objects} == set(TYPES)
    assert what_schemas_refuse(objects) == []
    assert what_types_refuse(objects, tmp_path) == []


def test_their_schemas_and_types_refuse_a_wrong_object(tmp_path: Path) -> None:
    [scaled] = render(EVERYTHING).of("ScaledObject")
    misspelt: Manifest = {**scaled, "spec": {**scaled["spec"], "polingInterval": 1}}
    incomplete: Manifest = {**scaled, "spec": {"triggers": []}}
    assert "scaleTargetRef" in "".join(what_schemas_refuse([incomplete]))
    assert "polingInterval" in "".join(what_types_refuse([misspelt], tmp_path))


@CASES
def test_names_are_unique_and_selectors_find_pods(values: dict[str, Any]) -> None:
    rendered = render(values)
    names = [(m["kind"], m["metadata"]["name"]) for m in rendered.manifests]
    assert len(names) == len(set(names))
    pods = [template["metadata"]["labels"] for template in rendered.pods().values()]
    for manifest in rendered.manifests:
        for selector in _selectors(manifest):
            assert any(selector.items() <= labels.items() for labels in pods), (manifest["kind"], selector)


def _selectors(manifest: Manifest) -> list[dict[str, str]]:
    spec = manifest.get("spec", {})
    match manifest["kind"]:
        case "Service":
            return [spec["selector"]]
        case "Deployment":
            spread = spec["template"]["spec"].get("topologySpreadConstraints", [])
            return [spec["selector"]["matchLabels"], *(each["labelSelector"]["matchLabels"] for each in spread)]
        case "PodDisruptionBudget":
            return [spec["selector"]["matchLabels"]]
        case "NetworkPolicy":
            return [spec["podSelector"]["matchLabels"]]
        case _:
            return []


@CASES
def test_everything_that_an_object_names_exists(values: dict[str, Any]) -> None:
    """Autoscalers name a Deployment, an Ingress a port of a Service, probes and Services a port of a container."""
    rendered = render(values)
    deployments = {m["metadata"]["name"] for m in rendered.of("Deployment")}
    for manifest in [*rendered.of("HorizontalPodAutoscaler"), *rendered.of("ScaledObject")]:
        assert manifest["spec"]["scaleTargetRef"]["name"] in deployments
    services = {m["metadata"]["name"]: {p["name"] for p in m["spec"]["ports"]} for m in rendered.of("Service")}
    for ingress in rendered.of("Ingress"):
        for rule in ingress["spec"]["rules"]:
            target = rule["http"]["paths"][0]["backend"]["service"]
            assert target["port"]["name"] in services[target["name"]]
    [monitored] = rendered.of("Service", "-metrics")
    for monitor in rendered.of("ServiceMonitor"):
        labels, wanted = monitored["metadata"]["labels"], monitor["spec"]["selector"]["matchLabels"]
        assert wanted.items() <= labels.items()
        assert {each["port"] for each in monitor["spec"]["endpoints"]} == services[monitored["metadata"]["name"]]
    for authentication in rendered.of("TriggerAuthentication"):
        assert authentication["metadata"]["name"] in json.dumps(rendered.of("ScaledObject"))
    for template in rendered.pods().values():
        volumes = {volume["name"] for volume in template["spec"]["volumes"]}
        for container in template["spec"]["containers"]:
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes


@CASES
def test_a_secret_is_in_no_object_but_the_secret(values: dict[str, Any]) -> None:
    rendered = render(values)
    for manifest in rendered.manifests:
        text = json.dumps(manifest)
        if manifest["kind"] != "Secret":
            assert "secret-of-the" not in text, manifest["kind"]
    existing = bool(values["secret"].get("existing"))
    assert len(rendered.of("Secret")) == (0 if existing else 2), "one for the pods, and one for the migration's hook"
    assert all(m["stringData"]["RUNYARD_DATABASE_URL"] == DATABASE_URL for m in rendered.of("Secret"))


def test_helm_finds_nothing_to_complain_about() -> None:
    command = [helm(), "lint", "--strict", str(CHART), "--values", "-"]
    told = subprocess.run(command, input=json.dumps(EVERYTHING), capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout
    assert "[WARNING]" not in told.stdout


def test_the_packaged_chart_has_the_alerts_and_the_dashboard(tmp_path: Path) -> None:
    """They are links to files outside the chart; a package must contain the files."""
    subprocess.run([helm(), "package", str(CHART), "-d", str(tmp_path)], check=True, capture_output=True)
    [package] = tmp_path.glob("runyard-*.tgz")
    command = [helm(), "template", "runyard", str(package), "--values", "-"]
    told = subprocess.run(command, input=json.dumps(EVERYTHING), capture_output=True, text=True, check=True)
    packaged = [each for each in yaml.safe_load_all(told.stdout) if each]
    [rule] = [each for each in packaged if each["kind"] == "PrometheusRule"]
    assert rule["spec"]["groups"][0]["rules"]
    assert all(each["annotations"]["runbook_url"].startswith("https://example.org/docs/runbook.md#")
               for each in rule["spec"]["groups"][0]["rules"])  # fmt: skip
    [dashboard] = [each for each in packaged if each["metadata"]["name"].endswith("-dashboard")]
    assert json.loads(dashboard["data"]["runyard.json"])["panels"]
