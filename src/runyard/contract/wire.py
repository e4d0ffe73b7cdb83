"""The shapes of the agent HTTP contract: requests, responses, and their JSON Schema.

A request is read leniently: unknown fields are ignored, and an optional field may be null. Our own responses always
have every field and report success in both common styles (`status` and `ok`). `docs/AGENT_CONTRACT.md` is generated
from this file.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import models_json_schema

TerminalName = Literal["final", "complete", "done"]
SCHEMA_ID = "urn:runyard:agent-contract:1"

RUN_HEADER = "Runyard-Run-Id"  # in a response: the run; in a request: the run to reconnect to


def _object(value: Any) -> Any:
    return {} if value is None else value


def _mode(value: Any) -> Any:
    return "DEMO" if value is None else value


Limit = Annotated[int | None, Field(ge=1, le=2**53)]


class Budgets(BaseModel):
    """Limits of one run. An agent passes on the limits that it cannot measure."""

    model_config = ConfigDict(extra="allow")

    max_output_tokens: Limit = Field(None, description="Output tokens that models may use in the whole run.")
    max_context_tokens: Limit = Field(None, description="Tokens that one request to a model may have.")
    max_escalations: int | None = Field(None, ge=0, le=2**53, description="Passed on; Runyard does not escalate.")
    timeout_ms: Limit = Field(None, description="Milliseconds from the request to the answer, waiting included.")


class AgentRunRequest(BaseModel):
    """The request of both endpoints."""

    model_config = ConfigDict(extra="ignore")

    request_id: str = Field(min_length=1, max_length=256, description="A trace id; not an idempotency key.")
    task_type: str = Field(min_length=1, max_length=256, description="The type of the task.")
    workflow_id: str | None = Field(None, max_length=256, description="The workflow that the task belongs to.")
    stage_id: str | None = Field(None, max_length=256, description="The stage of that workflow.")
    user_id: str | None = Field(None, max_length=256, description="The user on whose behalf the task runs.")
    mode: Annotated[str, BeforeValidator(_mode), Field(max_length=64)] = Field(
        "DEMO", description="Such as `DEMO` or `LIVE`."
    )
    risk_tier: str | None = Field(None, max_length=64, description="Such as `NON_SENSITIVE`.")
    domain_id: str | None = Field(None, max_length=64, description="Such as `clinical`.")
    inputs: Annotated[dict[str, Any], BeforeValidator(_object)] = Field({}, description="The inputs of the task.")
    budgets: Annotated[Budgets, BeforeValidator(_object)] = Field(Budgets(), description="Limits of this run.")


class RetrievalChunk(BaseModel):
    """A retrieved piece of a document."""

    model_config = ConfigDict(extra="allow")

    chunk_id: str
    doc_id: str
    text: str = ""
    score: float = 0.0
    metadata: dict[str, Any] = {}


class RetrievalTrace(BaseModel):
    """How the documents were retrieved."""

    model_config = ConfigDict(extra="allow")

    stages: list[str] = []
    semantic_k: int | None = None
    bm25_k: int | None = None
    rerank_k: int | None = None


class GroundingPack(BaseModel):
    """The documents that an answer is based on."""

    model_config = ConfigDict(extra="allow")

    chunks: list[RetrievalChunk] = []
    citations: list[str] = []
    retrieval_trace: RetrievalTrace | None = None
    sources: list[dict[str, Any]] = []
    span_refs: list[dict[str, Any]] = []


class AgentError(BaseModel):
    """The reason for a missing result: a code, and a message that repeats no inputs and no documents."""

    code: str = Field(min_length=1, description="Such as `VALIDATION_ERROR` or `UNSUPPORTED_TASK_TYPE`.")
    message: str = Field(description="For people; holds no content.")
    details: dict[str, Any] | None = Field(None, description="Ids and names.")


class AgentRunResponse(BaseModel):
    """The response envelope: the body of the sync endpoint and the data of a stream's terminal event."""

    model_config = ConfigDict(extra="allow")

    status: Literal["ok", "success", "error"] = Field(description="`ok` or `success`, otherwise `error`.")
    request_id: str = Field(min_length=1, description="The `request_id` of the request.")
    outputs: dict[str, Any] = Field(description="The result; present even if empty.")
    ok: bool | None = Field(None, description="The same as `status`, as a boolean.")
    task_type: str | None = Field(None, description="The `task_type` of the request; required in a terminal event.")
    artifacts: list[str] = Field([], description="Links to further results.")
    provenance: dict[str, Any] = Field({}, description="The producer of the result: ids and names.")
    usage: dict[str, Any] = Field({}, description="`duration_ms`, and tokens if known.")
    warnings: list[str] = Field([], description="Notes on a successful result.")
    grounding: GroundingPack | None = Field(None, description="The documents that the answer is based on.")
    error: AgentError | None = Field(None, description="Only if `status` is `error`.")


SHAPES: tuple[type[BaseModel], ...] = (
    AgentRunRequest,
    Budgets,
    AgentRunResponse,
    AgentError,
    GroundingPack,
    RetrievalChunk,
    RetrievalTrace,
)


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the contract: an AgentRunResponse, with the other shapes in `$defs`."""
    _, found = models_json_schema([(shape, "validation") for shape in SHAPES], ref_template="#/$defs/{model}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "The agent HTTP contract",
        "$ref": "#/$defs/AgentRunResponse",
        "$defs": found["$defs"],
    }
