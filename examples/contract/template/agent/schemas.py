"""The shapes of the agent HTTP contract: AgentRunRequest, AgentRunResponse, AgentError, GroundingPack."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Budgets(BaseModel):
    model_config = ConfigDict(extra="allow")

    max_output_tokens: int | None = Field(1200, ge=1)
    max_context_tokens: int | None = Field(6000, ge=1)
    max_escalations: int | None = Field(2, ge=0)
    timeout_ms: int | None = Field(600_000, ge=1)


class AgentRunRequest(BaseModel):
    request_id: str = Field(min_length=1)
    task_type: str = Field(min_length=1)
    workflow_id: str | None = None
    stage_id: str | None = None
    user_id: str | None = None
    mode: str = "DEMO"
    risk_tier: str | None = "NON_SENSITIVE"
    domain_id: str | None = "clinical"
    inputs: dict[str, Any] = {}
    budgets: Budgets = Budgets()


class RetrievalChunk(BaseModel):
    chunk_id: str
    doc_id: str
    text: str = ""
    score: float = 0.0
    metadata: dict[str, Any] = {}


class RetrievalTrace(BaseModel):
    stages: list[str] = []
    semantic_k: int | None = None
    bm25_k: int | None = None
    rerank_k: int | None = None


class GroundingPack(BaseModel):
    model_config = ConfigDict(extra="allow")

    chunks: list[RetrievalChunk] = []
    citations: list[str] = []
    retrieval_trace: RetrievalTrace | None = None
    sources: list[dict[str, Any]] = []
    span_refs: list[dict[str, Any]] = []


class AgentError(BaseModel):
    """A code, and a sentence that repeats nothing of what was sent or found."""

    code: str
    message: str
    details: dict[str, Any] | None = None


class AgentRunResponse(BaseModel):
    """The response of sync, and the data of a stream's terminal event."""

    status: Literal["ok", "success", "error"] = "ok"
    ok: bool = True
    request_id: str = Field(min_length=1)
    task_type: str
    outputs: dict[str, Any] = {}
    artifacts: list[str] = []
    provenance: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    warnings: list[str] = []
    grounding: GroundingPack | None = None
    error: AgentError | None = None
