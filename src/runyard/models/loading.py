"""Import litellm once, beside the event loop.

The import takes seconds and hundreds of megabytes, and slows the whole process meanwhile. So a process that has agents
with a model, or whose settings name models for agents created over the API, imports litellm before it reports that it
is ready (`app/startup_checks.py`); otherwise the first request to a model does. The import runs in its own thread,
which cannot be stopped. A process that ends meanwhile must not wait for it (`is_loading`), because Python's exit would
wait for an import lock forever.
"""

import asyncio
import importlib
import importlib.util
import logging
import os
import socket
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from typing import Any

from runyard.errors import StartupError

_guard = threading.Lock()
_future: "Future[Any] | None" = None


@cache
def load() -> Any:
    """Import litellm with its logging off. Takes seconds the first time: use `load_beside_the_loop` on an event
    loop."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # otherwise it fetches prices from the network
    litellm: Any = importlib.import_module("litellm")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.set_verbose = False
    # litellm aborts an answer with 100 equal pieces in a row; the limit of an answer is ours to set
    litellm.REPEATED_STREAMING_CHUNK_LIMIT = sys.maxsize
    litellm.turn_off_message_logging = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return litellm


async def load_beside_the_loop() -> Any:
    """Return litellm when its thread has imported it and everything that a first request needs."""
    return await asyncio.wrap_future(_start_import())


def is_loading() -> bool:
    """Return whether the import is running."""
    return _future is not None and not _future.done()


def check_installed() -> None:
    """Raise StartupError if litellm is not installed."""
    if importlib.util.find_spec("litellm") is None:
        raise StartupError(
            "An agent of this app or RUNYARD_AGENT_MODELS names a model, which needs litellm:"
            " pip install 'litellm[mcp]>=1.84,<2'."
        )


def _start_import() -> "Future[Any]":
    global _future
    with _guard:
        if _future is None or (_future.done() and _future.exception() is not None):
            _future = Future()
            _future.set_running_or_notify_cancel()  # so that a cancelled caller does not cancel it for the others
            threading.Thread(target=_load_into, args=[_future], name="litellm", daemon=True).start()
        return _future


def _load_into(future: "Future[Any]") -> None:
    try:
        litellm = load()
        _warm_up(litellm)
    except BaseException as error:  # an import may raise anything; the waiting callers get it
        future.set_exception(error if isinstance(error, Exception) else ImportError("litellm cannot be imported."))
    else:
        future.set_result(litellm)


def _warm_up(litellm: Any) -> None:
    """Make a request that reaches no provider, to load everything that a first request with tools would load."""
    tool = {"type": "function", "function": {"name": "warm", "parameters": {"type": "object", "properties": {}}}}
    question: dict[str, Any] = {
        "model": "openai/warm",
        "messages": [{"role": "user", "content": "."}],
        "tools": [tool],
        "mock_response": ".",
        "api_key": "none",
    }
    with suppress(Exception):  # only a warm-up: a real request reports what is wrong
        litellm.completion(**question)
        for _ in litellm.completion(**question, stream=True, stream_options={"include_usage": True}):
            pass
        importlib.import_module("anyio._backends._asyncio")
    with suppress(Exception):
        litellm.token_counter(model=question["model"], messages=question["messages"])  # loads its tokenizer tables
    with suppress(Exception), socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # not listening, so the request is refused at once
        question["api_base"] = f"http://127.0.0.1:{closed.getsockname()[1]}"
        del question["mock_response"]
        litellm.completion(**question, stream=True, num_retries=0, max_retries=0, timeout=5)
