"""A server for the compliance suite of Open Responses (docs/strangers.md).

`python -m tests.clients.suites.open_responses_server <port>`. Its agent is a scripted model that calls the client's
tool when it is asked about the weather.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn

import runyard
from runyard.models.model import Conversation


def turn(conversation: Conversation) -> Mapping[str, Any]:
    """Call `get_weather` once for a question about the weather; answer everything else."""
    last = conversation[-1]
    if last["role"] == "user" and "weather" in str(last["content"]):
        return {"calls": [{"tool": "get_weather", "input": {"location": "San Francisco, CA"}}]}
    return {"text": ["Ahoy, ", "dear ", "guest."], "usage": {"input_tokens": 5, "output_tokens": 3}}


assistant = runyard.Agent("assistant", model="scripted", turns=turn)


def serve(port: int) -> None:
    with TemporaryDirectory() as folder:
        settings = runyard.Settings(database_url=f"sqlite:///{Path(folder) / 'runs.db'}")
        app = runyard.create_app(settings, runyard.App({"assistant": assistant}, default="assistant"), keys=False)
        uvicorn.run(app, port=port, log_level="warning")


if __name__ == "__main__":
    serve(int(sys.argv[1]))
