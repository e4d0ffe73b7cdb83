"""The routes for AG-UI: `HttpAgent` of `@ag-ui/client` posts everything to one address.

A client that disconnects changes nothing: the run continues. The same `runId` follows it again. The protocol has no
cancel, so `POST .../stop` cancels the last run of a thread.
"""

from starlette.requests import Request
from starlette.responses import Response

from runyard.faces.ag_ui import errors, wire
from runyard.faces.ag_ui.follow import Asked, Encoder
from runyard.faces.ag_ui.start import CANCEL_PATIENCE, FACE, ParsedRequest, Waiting, start
from runyard.web.auth import Owner, check_scope, owner_of
from runyard.web.body import read
from runyard.web.context import EngineDep, context_of
from runyard.web.responses import Json
from runyard.web.routing import Router
from runyard.web.streaming.sse import PartStream

AGENT = "/api/ag-ui/{agent}"

router = Router(FACE)


@router.fast("POST", AGENT, is_stream=True, body=wire.RunAgentInput, statuses=(415,))
async def run_agent(request: Request) -> Response:
    """Run an agent, or answer what it waits for. The answer is a stream of AG-UI events."""
    body, context = await read(request, wire.RunAgentInput), context_of(request)
    wanted = ParsedRequest(
        await owner_of(request), request.path_params["agent"], body, lambda scope: check_scope(request, scope)
    )
    try:
        part = await start(context.engine, wanted)
    except Waiting as refusal:
        return errors.waiting(refusal)
    encoder = Encoder(part, Asked(body.threadId, body.runId, body.messages, body.state))
    return PartStream(context, part.run_id, encoder, {"Runyard-Run-Id": part.run_id})


@router.post(f"{AGENT}/{{thread_id}}/stop", response_model=wire.Stopped)
async def stop_thread(engine: EngineDep, owner: Owner, agent: str, thread_id: str) -> Response:
    """Cancel the last run of a thread."""
    if agent not in engine.intake.agents:
        raise wire.AgentNotFound
    run = await engine.cancel_last_run(owner, thread_id, CANCEL_PATIENCE)
    if run is None:
        raise wire.ThreadNotFound
    return Json(wire.Stopped(runId=run.id, status=run.status))
