"""The endpoints of the contract, around `task.do`. Every answer is one envelope; the last event of a stream is too."""

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse

from agent import task
from agent.schemas import AgentError, AgentRunRequest, AgentRunResponse

log = logging.getLogger("agent")
app = FastAPI(title="An agent of the agent HTTP contract")

MESSAGES = {
    "INVALID_REQUEST": "The request does not fit the contract.",
    "TASK_FAILED": "The agent failed.",
    "TIMEOUT": "The run took longer than its budget allows.",
    "UNSUPPORTED_TASK_TYPE": "This agent does no tasks of that type.",
    "VALIDATION_ERROR": "The inputs of the task do not fit.",
}


def failed(request_id: str, task_type: str, code: str, **details: Any) -> AgentRunResponse:
    error = AgentError(code=code, message=MESSAGES[code], details=details or None)
    return AgentRunResponse(
        status="error", ok=False, request_id=request_id, task_type=task_type, warnings=[code], error=error
    )


async def run(request: AgentRunRequest) -> AgentRunResponse:
    """The task, done or not: always an envelope. The log line carries ids, a code and the time, and nothing else."""
    began = time.monotonic()
    limit = request.budgets.timeout_ms
    try:
        async with asyncio.timeout(None if limit is None else limit / 1000):
            outputs = await task.do(request)
        answer = AgentRunResponse(request_id=request.request_id, task_type=request.task_type, outputs=outputs)
    except task.WrongInputs as error:
        answer = failed(request.request_id, request.task_type, "VALIDATION_ERROR", fields=error.names)
    except TimeoutError:
        answer = failed(request.request_id, request.task_type, "TIMEOUT")
    except Exception as error:  # its text may be content, so only its class is reported
        answer = failed(request.request_id, request.task_type, "TASK_FAILED", kind=type(error).__name__)
    answer.usage["duration_ms"] = round((time.monotonic() - began) * 1000)
    code = answer.error.code if answer.error else "ok"
    log.info("answered %s %s %s %d ms", request.request_id, request.task_type, code, answer.usage["duration_ms"])
    return answer


def refused(request: AgentRunRequest) -> JSONResponse | None:
    if request.task_type == task.TASK_TYPE:
        return None
    return JSONResponse(failed(request.request_id, request.task_type, "UNSUPPORTED_TASK_TYPE").model_dump(), 400)


@app.post("/agents/run/sync", response_model=AgentRunResponse)
async def sync(request: AgentRunRequest) -> Any:
    return refused(request) or await run(request)


@app.post("/agents/run/stream")
async def stream(request: AgentRunRequest) -> Any:
    return refused(request) or StreamingResponse(frames(request), media_type="text/event-stream")


async def frames(request: AgentRunRequest) -> AsyncIterator[str]:
    ids = AgentRunResponse(request_id=request.request_id, task_type=request.task_type)
    yield f"event: started\ndata: {ids.model_dump_json(include={'request_id', 'task_type'})}\n\n"
    yield f"event: final\ndata: {(await run(request)).model_dump_json()}\n\n"


@app.exception_handler(RequestValidationError)
async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    """Return the names of the invalid fields, never their values."""
    fields = sorted({str(one["loc"][1]) for one in error.errors() if len(one["loc"]) > 1})
    known = [field for field in fields if field in AgentRunRequest.model_fields]
    return JSONResponse(failed(str(uuid.uuid4()), "unknown", "INVALID_REQUEST", fields=known).model_dump(), 422)


@app.get("/health")
async def health() -> dict[str, str]:
    return {"status": "ok", "service": task.TASK_TYPE}


@app.get("/health/ready")
async def ready() -> dict[str, str]:
    return {"status": "ready", "service": task.TASK_TYPE}
