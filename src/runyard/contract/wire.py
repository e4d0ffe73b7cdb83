"""The shapes of the agent HTTP contract, for both sides of it: what is asked, what is answered, and its JSON Schema.

A request is read leniently: fields that nobody knows are left alone, and an optional one may be null. An answer of ours
always has every field, and says twice whether it is a success (`status` and `ok`), because both styles are in use.
`docs/AGENT_CONTRACT.md` is made from this file.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import models_json_schema

TerminalName = Literal["final", "complete", "done"]
SCHEMA_ID = "urn:runyard:agent-contract:1"

RUN_HEADER = "Runyard-Run-Id"  # names the run of an answer, and in a request the run to come back to


def _object(value: Any) -> Any:
    return {} if value is None else value


def _mode(value: Any) -> Any:
    return "DEMO" if value is None else value


Limit = Annotated[int | None, Field(ge=1, le=2**53)]


class Budgets(BaseModel):
    """Limits of one run. What an agent cannot measure it passes on."""

    model_config = ConfigDict(extra="allow")

    max_output_tokens: Limit = Field(None, description="Tokens that models may write in the whole run.")
    max_context_tokens: Limit = Field(None, description="Tokens that one question to a model may have.")
    max_escalations: int | None = Field(None, ge=0, le=2**53, description="Passed on; Runyard does not escalate.")
    timeout_ms: Limit = Field(None, description="Milliseconds from the request to the answer, waiting included.")


class AgentRunRequest(BaseModel):
    """What both endpoints take."""

    model_config = ConfigDict(extra="ignore")

    request_id: str = Field(min_length=1, max_length=256, description="A trace id, and never a key.")
    task_type: str = Field(min_length=1, max_length=256, description="What is to be done.")
    workflow_id: str | None = Field(None, max_length=256, description="The workflow that this belongs to.")
    stage_id: str | None = Field(None, max_length=256, description="The stage of that workflow.")
    user_id: str | None = Field(None, max_length=256, description="For whom.")
    mode: Annotated[str, BeforeValidator(_mode), Field(max_length=64)] = Field(
        "DEMO", description="Such as `DEMO` or `LIVE`."
    )
    risk_tier: str | None = Field(None, max_length=64, description="Such as `NON_SENSITIVE`.")
    domain_id: str | None = Field(None, max_length=64, description="Such as `clinical`.")
    inputs: Annotated[dict[str, Any], BeforeValidator(_object)] = Field({}, description="What the task needs.")
    budgets: Annotated[Budgets, BeforeValidator(_object)] = Field(Budgets(), description="Limits of this run.")


class RetrievalChunk(BaseModel):
    """A piece of a document that was found."""

    model_config = ConfigDict(extra="allow")

    chunk_id: str
    doc_id: str
    text: str = ""
    score: float = 0.0
    metadata: dict[str, Any] = {}


class RetrievalTrace(BaseModel):
    """How it was looked for."""

    model_config = ConfigDict(extra="allow")

    stages: list[str] = []
    semantic_k: int | None = None
    bm25_k: int | None = None
    rerank_k: int | None = None


class GroundingPack(BaseModel):
    """What an answer rests on."""

    model_config = ConfigDict(extra="allow")

    chunks: list[RetrievalChunk] = []
    citations: list[str] = []
    retrieval_trace: RetrievalTrace | None = None
    sources: list[dict[str, Any]] = []
    span_refs: list[dict[str, Any]] = []


class AgentError(BaseModel):
    """Why there is no result: a code, and a sentence that repeats nothing of what was sent or found."""

    code: str = Field(min_length=1, description="Such as `VALIDATION_ERROR` or `UNSUPPORTED_TASK_TYPE`.")
    message: str = Field(description="For people; never content.")
    details: dict[str, Any] | None = Field(None, description="Ids and names.")


class AgentRunResponse(BaseModel):
    """The one envelope: the answer of the sync endpoint, and the data of a stream's terminal event."""

    model_config = ConfigDict(extra="allow")

    status: Literal["ok", "success", "error"] = Field(description="`ok` or `success`, else `error`.")
    request_id: str = Field(min_length=1, description="That of the request.")
    outputs: dict[str, Any] = Field(description="The result; present even if empty.")
    ok: bool | None = Field(None, description="The same as `status`, in the other style.")
    task_type: str | None = Field(None, description="That of the request; a terminal event must have it.")
    artifacts: list[str] = Field([], description="Where else results are.")
    provenance: dict[str, Any] = Field({}, description="Who made it: ids and names.")
    usage: dict[str, Any] = Field({}, description="`duration_ms`, and tokens where they are known.")
    warnings: list[str] = Field([], description="What to know about a result that is one.")
    grounding: GroundingPack | None = Field(None, description="What the answer rests on.")
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
    """The JSON Schema (2020-12) of the contract. It describes an AgentRunResponse; the other shapes are in `$defs`."""
    _, found = models_json_schema([(shape, "validation") for shape in SHAPES], ref_template="#/$defs/{model}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "The agent HTTP contract",
        "$ref": "#/$defs/AgentRunResponse",
        "$defs": found["$defs"],
    }
