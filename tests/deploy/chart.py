"""The Helm chart as Helm renders it: manifests, their pods, and what a pod would be started with."""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml  # type: ignore[import-untyped]

from tests.support.session.missing_programs import ProgramMissing

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "runyard"
NAMESPACE = "agents"
DATABASE_URL = "postgresql://runyard:secret-of-the-database@db.example.org:5432/runyard"

Manifest = dict[str, Any]

# The smallest values that Helm accepts, and values that turn on every object and option at once.
SMALLEST: dict[str, Any] = {"secret": {"data": {"RUNYARD_DATABASE_URL": DATABASE_URL}}}
EVERYTHING: dict[str, Any] = {
    "nameOverride": "office",
    "image": {"repository": "registry.example.org/runyard", "digest": f"sha256:{'0' * 64}", "pullSecrets": ["pull"]},
    "secret": {"data": {"RUNYARD_DATABASE_URL": DATABASE_URL, "OPENAI_API_KEY": "secret-of-the-model"}},
    "settings": {
        "tail_bytes": 134_217_728,
        "slots": 200,
        "poll_seconds": 0.25,
        "access_log": False,
        "log_level": "debug",
        "redact_patterns": {"ticket": "T-[0-9]+"},
    },
    "app": {"path": "/app/agents.py", "configMap": "agents"},
    "shutdown": {"preStopSeconds": 2.5, "drainSeconds": 90.5},
    "serve": {
        "worker": True,
        "processes": 3,
        "autoscaling": {"enabled": True},
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "agents", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
        "priorityClassName": "high",
        "podAnnotations": {"team": "agents"},
        "podLabels": {"tier": "front"},
        "extraEnv": [{"name": "TZ", "value": "UTC"}],
        "extraEnvFrom": [{"configMapRef": {"name": "more"}}],
        "extraVolumes": [{"name": "models", "emptyDir": {}}],
        "extraVolumeMounts": [{"name": "models", "mountPath": "/models"}],
    },
    "worker": {
        "keda": {"enabled": True},
        "podSecurityContext": {"seccompProfile": {"type": "Unconfined"}},
        "podDisruptionBudget": {"maxUnavailable": "25%"},
    },
    "migrate": {"podAnnotations": {"sidecar.istio.io/inject": "false"}},
    "service": {"type": "LoadBalancer", "annotations": {"balancer": "internal"}},
    "ingress": {
        "enabled": True,
        "hosts": ["agents.example.org"],
        "annotations": {"cert-manager.io/cluster-issuer": "ours"},
        "tls": [{"hosts": ["agents.example.org"], "secretName": "tls"}],
    },
    "metrics": {
        "port": 9100,
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "prometheusRule": {"enabled": True, "docsUrl": "https://example.org/docs/"},
        "dashboard": {"enabled": True},
    },
    "networkPolicy": {
        "enabled": True,
        "from": [{"namespaceSelector": {"matchLabels": {"name": "ingress"}}}],
        "metricsFrom": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}],
    },
    "workspaces": {"create": True, "storageClassName": "shared"},
    "serviceAccount": {"annotations": {"role": "agents"}},
    "commonLabels": {"owner": "platform"},
}
# Other branches of the templates: objects that exist already, no worker, autoscaling in the other ways.
OTHERWISE: dict[str, Any] = {
    "fullnameOverride": "agents",
    "image": {"tag": "main"},
    "secret": {"existing": "ours"},
    "shutdown": {"preStopSeconds": 0},
    "worker": {"keda": {"enabled": True, "trigger": "prometheus", "prometheus": {"address": "http://prometheus:9090"}}},
    "ingress": {"enabled": True, "hosts": ["a.example.org"], "streamAnnotations": False, "className": ""},
    "networkPolicy": {"enabled": True},
    "workspaces": {"existingClaim": "files"},
    "serviceAccount": {"create": False},
    "topologySpread": {"enabled": False},
    "migrate": {"enabled": False},
}
WORKERS_BY_CPU: dict[str, Any] = {**SMALLEST, "worker": {"autoscaling": {"enabled": True}}}
ONE_KIND_OF_POD: dict[str, Any] = {**SMALLEST, "serve": {"worker": True}, "worker": {"enabled": False}}
VALUES = {
    "smallest": SMALLEST,
    "everything": EVERYTHING,
    "otherwise": OTHERWISE,
    "workers by CPU": WORKERS_BY_CPU,
    "one kind of pod": ONE_KIND_OF_POD,
}


class Rendered(NamedTuple):
    """The result of Helm. `error` is empty if it rendered."""

    manifests: list[Manifest]
    error: str

    def of(self, kind: str, name: str = "") -> list[Manifest]:
        """The manifests of a kind whose names end like this."""
        return [m for m in self.manifests if m["kind"] == kind and m["metadata"]["name"].endswith(name)]

    def pods(self) -> dict[str, Manifest]:
        """The pod templates by component: serve, worker, migrate."""
        owners = [*self.of("Deployment"), *self.of("Job")]
        return {m["metadata"]["labels"]["app.kubernetes.io/component"]: m["spec"]["template"] for m in owners}


class Container(NamedTuple):
    """The only container of a pod: its command, its variables, and the folders that it may write to."""

    command: list[str]
    env: dict[str, str]
    writable: list[str]
    spec: Manifest


def helm() -> str:
    """The Helm that the set-up brought, or the machine's own."""
    found = shutil.which("helm", path=sysconfig.get_path("scripts")) or shutil.which("helm")
    if found is None:
        raise ProgramMissing("No helm was found; install Helm 3 (on Linux x86_64 `make setup` brings it).", "helm")
    return found


def render(values: dict[str, Any], release: str = "runyard") -> Rendered:
    """Render the chart. The result is the same object for the same values: do not change it."""
    return _render(json.dumps(values), release)


@cache
def _render(values: str, release: str) -> Rendered:
    command = [helm(), "template", release, str(CHART), "--namespace", NAMESPACE, "--values", "-"]
    told = subprocess.run(command, input=values, capture_output=True, text=True, check=False, timeout=60)
    if told.returncode != 0:
        return Rendered([], told.stderr)
    return Rendered([each for each in yaml.safe_load_all(told.stdout) if each], "")


def container_of(rendered: Rendered, component: str) -> Container:
    """The container of a component, with the variables of its Secret as Kubernetes would add them."""
    pod = rendered.pods()[component]["spec"]
    [spec] = pod["containers"]
    env: dict[str, str] = {}
    for source in spec["envFrom"]:
        if "secretRef" in source:
            [secret] = [m for m in rendered.of("Secret") if m["metadata"]["name"] == source["secretRef"]["name"]]
            env |= secret["stringData"]
    env |= {entry["name"]: entry["value"] for entry in spec["env"]}
    writable = [mount["mountPath"] for mount in spec["volumeMounts"] if not mount.get("readOnly")]
    return Container(spec["command"], env, writable, spec)
