"""Send an agent every request that the checks need, once, and keep its answers. Standard library only.

Nothing is judged here: a missing answer is evidence too.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

MARKER = "a-marker-that-no-error-may-repeat"
UNKNOWN_TASK = "CONTRACT_CHECK_UNKNOWN"
MOST_BYTES = 16 * 1024 * 1024

# The inputs of known task types; all others get none.
INPUTS: dict[str, dict[str, Any]] = {
    "LIT_RETRIEVAL": {"query": "aspirin"},
    "RAG_RETRIEVE": {
        "query": "aspirin",
        "knowledgeBase": "default",
        "topK": 5,
        "domainId": "clinical",
        "projectId": "p",
    },
    "RAG_INGEST": {"documents": [], "knowledgeBase": "default", "domainId": "clinical", "projectId": "p"},
    "CLAIM_VERIFY": {
        "claims": ["Aspirin thins the blood."],
        "groundingPack": {"chunks": [], "citations": []},
        "governanceMode": "DEMO",
        "strictness": "normal",
    },
    "POLICY_REVIEW": {"text": "A summary of published trials."},
}


@dataclass(frozen=True)
class Patience:
    """Timeouts in seconds: for a health check, a sync answer, a whole stream, and silence in a stream."""

    health: float = 5.0
    sync: float = 15.0
    stream: float = 30.0
    silence: float = 10.0


@dataclass
class Answer:
    """One answer. `trouble`: why it is missing or incomplete. `late`: whether it timed out."""

    status: int = 0
    kind: str = ""
    body: bytes = b""
    trouble: str = ""
    late: bool = False

    @property
    def json(self) -> Any:
        """The decoded body; None if it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


@dataclass
class Evidence:
    """The answers of one agent to all requests, by name."""

    request_id: str
    task_type: str
    answers: dict[str, Answer] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Answer:
        return self.answers[name]


def gather(
    url: str, task_type: str, request_id: str, patience: Patience | None = None, key: str | None = None
) -> Evidence:
    """Send all requests and return the answers. A `key` is sent as a bearer token."""
    wait = patience or Patience()
    evidence = Evidence(request_id, task_type)
    asked = {"request_id": request_id, "task_type": task_type, "mode": "DEMO", "inputs": INPUTS.get(task_type, {})}
    unknown = {"request_id": request_id, "task_type": UNKNOWN_TASK, "inputs": {"query": MARKER}}
    broken = {"task_type": task_type, "inputs": {"query": MARKER}}
    for name in ("health", "health/ready"):
        evidence.answers[name] = ask(f"{url}/{name}", None, wait.health, wait.health, key)
    for what, body in (("", asked), ("unknown ", unknown), ("broken ", broken)):
        evidence.answers[f"{what}sync"] = ask(f"{url}/agents/run/sync", body, wait.sync, wait.sync, key)
        evidence.answers[f"{what}stream"] = ask(f"{url}/agents/run/stream", body, wait.stream, wait.silence, key)
    return evidence


def ask(url: str, body: Mapping[str, Any] | None, total: float, silence: float, key: str | None = None) -> Answer:
    """Send one request and return its answer. Redirects are not followed."""
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=silence)
    answer = Answer()
    until = time.monotonic() + total
    try:
        content = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "*/*", "Connection": "close"}
        headers |= {} if content is None else {"Content-Type": "application/json"}
        headers |= {} if key is None else {"Authorization": f"Bearer {key}"}
        connection.request("GET" if body is None else "POST", parts.path, content, headers)
        _read(answer, connection.getresponse(), until)
    except TimeoutError:
        answer.late = True
    except (OSError, HTTPException, ValueError) as error:
        answer.trouble = type(error).__name__
    finally:
        connection.close()
    return answer


def _read(answer: Answer, response: HTTPResponse, until: float) -> None:
    answer.status = response.status
    answer.kind = (response.getheader("content-type") or "").partition(";")[0].strip().lower()
    while chunk := response.read1(65536):
        answer.body += chunk
        if time.monotonic() > until:
            raise TimeoutError
        if len(answer.body) > MOST_BYTES:
            answer.trouble = "TooLong"
            return
    declared = response.getheader("content-length")
    if declared is not None and len(answer.body) < int(declared):
        answer.trouble = "IncompleteRead"
