"""deploy/helm: the settings, commands, routes, times and folders that the chart gives to a pod exist in the product."""

from __future__ import annotations

import re
from typing import Any

import pytest

from runyard.agents.declared.kinds import scripted
from runyard.agents.declared.loading import App
from runyard.app.asgi import create_app
from runyard.app.listening import metrics_ports
from runyard.app.process import LAST_SECONDS
from runyard.cli import program
from runyard.engine.running.worker import RELEASE_SECONDS
from runyard.settings import OTHER_VARIABLES, Settings, variable
from runyard.web.auth import OPEN
from tests.deploy.chart import EVERYTHING, ONE_KIND_OF_POD, OTHERWISE, ROOT, SMALLEST, VALUES, container_of, render

CASES = pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
IMAGE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
METRICS_PORT_ROUTES = {"/metrics", "/health"}


@CASES
def test_every_variable_is_a_setting_and_its_value_is_accepted(
    values: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {variable(name) for name in Settings.fields} | set(OTHER_VARIABLES)
    rendered = render({**values, "secret": SMALLEST["secret"]})
    for component in rendered.pods():
        env = {k: v for k, v in container_of(rendered, component).env.items() if k.startswith("RUNYARD_")}
        assert env.keys() - known == set()
        with monkeypatch.context() as patch:
            for name, value in env.items():
                patch.setenv(name, value)
            settings = Settings()
        assert settings.database_url.startswith("postgresql://")
        assert settings.drain_seconds == values.get("shutdown", {}).get("drainSeconds", 20)


def test_a_setting_reaches_the_process_as_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Helm reads every number as a float, and prints large ones with an exponent."""
    for name, value in container_of(render(EVERYTHING), "worker").env.items():
        if name.startswith("RUNYARD_"):
            monkeypatch.setenv(name, value)
    settings = Settings()
    assert {name: getattr(settings, name) for name in EVERYTHING["settings"]} == EVERYTHING["settings"]


@CASES
def test_every_command_exists_with_its_options(values: dict[str, Any]) -> None:
    rendered = render({**values, "secret": SMALLEST["secret"]})
    commands = dict(program.commands("runyard"))
    for component, template in rendered.pods().items():
        name, verb, *arguments = template["spec"]["containers"][0]["command"]
        assert (name, verb) == ("runyard", component)
        commands[f"runyard {verb}"]._parser(name).parse_args(arguments)  # raises if it does not know an option


def test_several_processes_are_an_argument_only_if_there_are_several() -> None:
    one, three = (render(values).pods()["serve"]["spec"]["containers"][0] for values in (SMALLEST, EVERYTHING))
    assert one["command"] == ["runyard", "serve", "--no-worker"]
    assert three["command"] == ["runyard", "serve", "--processes", "3"]


@CASES
def test_the_metrics_of_every_process_are_scraped(values: dict[str, Any]) -> None:
    rendered = render(values)
    opened = {}
    for component, template in rendered.pods().items():
        container = template["spec"]["containers"][0]
        ports = {port["name"]: port["containerPort"] for port in container.get("ports", ())}
        env = {entry["name"]: entry["value"] for entry in container["env"]}
        opened[component] = {name: number for name, number in ports.items() if name.startswith("metrics")}
        processes = values.get("serve", {}).get("processes", 1) if component == "serve" else 1
        if component != "migrate":
            assert [*opened[component].values()] == metrics_ports(int(env["RUNYARD_METRICS_PORT"]), processes)
    [service] = rendered.of("Service", "-metrics")
    named = {port["targetPort"]: port["port"] for port in service["spec"]["ports"]}
    assert named == opened["serve"]
    assert opened.get("worker", {}).items() <= named.items()
    names = [port["name"] for port in service["spec"]["ports"]]
    for monitor in rendered.of("ServiceMonitor"):
        assert [endpoint["port"] for endpoint in monitor["spec"]["endpoints"]] == names
        assert {endpoint["path"] for endpoint in monitor["spec"]["endpoints"]} <= METRICS_PORT_ROUTES
    for policy in rendered.of("NetworkPolicy"):
        assert [port["port"] for port in policy["spec"]["ingress"][1]["ports"]] == names


@CASES
def test_probes_ask_for_routes_that_exist_and_need_no_key(values: dict[str, Any]) -> None:
    app = create_app(Settings(), App({"echo": scripted("echo", [{"token": "hello"}])}))
    served = {"http": {route.path for route in app.routes}, "metrics": METRICS_PORT_ROUTES}  # type: ignore[attr-defined]
    for component, template in render(values).pods().items():
        container = template["spec"]["containers"][0]
        ports = {port["name"]: port["containerPort"] for port in container.get("ports", ())}
        env = {entry["name"]: entry["value"] for entry in container["env"]}
        if component == "migrate":
            continue
        assert ports.get("http", 8000) == int(env["RUNYARD_PORT"])
        assert ports["metrics"] == int(env["RUNYARD_METRICS_PORT"])
        assert env["RUNYARD_HOST"] == env["RUNYARD_METRICS_HOST"] == "0.0.0.0"
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            asked = container[probe]["httpGet"]
            assert asked["port"] in ports
            assert asked["path"] in served[asked["port"]]
            assert asked["port"] == "metrics" or asked["path"] in OPEN
        assert container["livenessProbe"]["httpGet"]["path"] == "/metrics", "the only route that needs no database"


@CASES
def test_a_pod_is_not_killed_while_it_drains(values: dict[str, Any]) -> None:
    """SIGKILL comes after everything that a stopping process may wait for, one after another."""
    given = {"preStopSeconds": 5, "drainSeconds": 20, "stopSeconds": 5, **values.get("shutdown", {})}
    last_writes = 2 * RELEASE_SECONDS + 8 * LAST_SECONDS  # Worker.drain and Process.drain, Process.stop
    longest = given["drainSeconds"] + given["stopSeconds"] + last_writes + 5 + 1  # uvicorn, and tasks of agents
    for component, template in render(values).pods().items():
        if component != "migrate":
            container = template["spec"]["containers"][0]
            before = given["preStopSeconds"] if component == "serve" else 0
            assert template["spec"]["terminationGracePeriodSeconds"] >= before + longest
            assert ("lifecycle" in container) == (before > 0)
    [serve] = render(values).of("Deployment", "-serve")
    assert serve["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0


@CASES
def test_pods_run_as_the_user_of_the_image_without_rights(values: dict[str, Any]) -> None:
    user = re.search(r"useradd --uid (\d+)", IMAGE)
    assert user is not None
    for template in render(values).pods().values():
        pod = template["spec"]
        context = pod["securityContext"]
        assert (context["runAsUser"], context["runAsNonRoot"]) == (int(user[1]), True)
        assert pod["enableServiceLinks"] is False
        assert pod["automountServiceAccountToken"] is False
        own = pod["containers"][0]["securityContext"]
        assert own["readOnlyRootFilesystem"] is True
        assert own["allowPrivilegeEscalation"] is False
        assert own["capabilities"] == {"drop": ["ALL"]}
        assert pod["containers"][0]["resources"]["requests"]


def test_the_working_folder_of_the_image_and_temporary_folders_can_be_written() -> None:
    folder = re.search(r"^WORKDIR (/data)$", IMAGE, re.M)
    assert folder is not None
    for component in ("serve", "worker", "migrate"):
        container = container_of(render(SMALLEST), component)
        assert {folder[1], "/tmp", "/var/tmp", container.env["RUNYARD_WORKSPACES"]} <= set(container.writable)


def test_the_migration_ends_before_pods_change_and_needs_nothing_of_the_release() -> None:
    rendered = render(SMALLEST)
    [job] = rendered.of("Job")
    hooks = [m for m in rendered.manifests if "helm.sh/hook" in m["metadata"].get("annotations", {})]
    assert sorted(m["kind"] for m in hooks) == ["Job", "Secret"]
    for hook in hooks:
        assert hook["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    weights = {m["kind"]: int(m["metadata"]["annotations"]["helm.sh/hook-weight"]) for m in hooks}
    assert weights["Secret"] < weights["Job"]
    pod = job["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == "default"
    assert {"persistentVolumeClaim" in volume for volume in pod["volumes"]} == {False}
    assert pod["containers"][0]["envFrom"][0]["secretRef"]["name"] == "runyard-migrate"
    assert pod["containers"][0]["command"] == ["runyard", "migrate"]


def test_an_ingress_holds_no_stream_back() -> None:
    """The annotations say what deploy/nginx.conf says."""
    [ingress] = render(EVERYTHING).of("Ingress")
    said = ingress["metadata"]["annotations"]
    shipped = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    for directive, value in re.findall(r"^\s+(proxy_(?!pass|set|connect|temp)\w+) ([^;]+);", shipped, re.M):
        name = f"nginx.ingress.kubernetes.io/{directive.replace('_', '-')}"
        assert said[name] == {"1h": "3600"}.get(value, value), directive
    assert said["cert-manager.io/cluster-issuer"] == "ours"
    [bare] = render(OTHERWISE).of("Ingress")
    assert "annotations" not in bare["metadata"]


def test_workers_can_scale_to_zero_and_nothing_else_scales_them() -> None:
    rendered = render(EVERYTHING)
    [scaled] = rendered.of("ScaledObject")
    assert scaled["spec"]["minReplicaCount"] == 0
    [worker] = rendered.of("Deployment", "-worker")
    assert "replicas" not in worker["spec"]
    assert [m["metadata"]["name"] for m in rendered.of("HorizontalPodAutoscaler")] == ["runyard-office-serve"]
    [serve] = rendered.of("Deployment", "-serve")
    assert "replicas" not in serve["spec"]


def test_pods_that_do_everything_need_no_workers() -> None:
    rendered = render(ONE_KIND_OF_POD)
    assert set(rendered.pods()) == {"serve", "migrate"}
    assert rendered.pods()["serve"]["spec"]["containers"][0]["command"] == ["runyard", "serve"]


def test_a_policy_lets_in_and_out_only_what_it_names() -> None:
    [policy] = render(OTHERWISE).of("NetworkPolicy")
    spec = policy["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert [rule["ports"][0]["port"] for rule in spec["ingress"]] == ["http", "metrics"]
    assert spec["ingress"][1]["from"] == [{"podSelector": {}}], "metrics only from this namespace"
    assert [rule["ports"][0]["port"] for rule in spec["egress"]] == [53, 5432, 443]
    assert spec["egress"][2]["to"][0]["ipBlock"]["except"] == ["169.254.0.0/16"], "no metadata service of a cloud"
