"""Loads litellm once, beside the event loop.

litellm takes seconds and hundreds of megabytes. While it is imported the whole process is slow, so a process that has
agents with a model loads it before it says that it is ready (`wiring.Process.start`); otherwise the first question
does. The import has a thread of its own that cannot be stopped: a process that ends meanwhile must not wait for it
(`is_loading`), because Python's own exit would wait for a lock of the import for ever.
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
    """The module, silent. Takes seconds the first time: use `loaded` on an event loop."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks the network for prices
    litellm: Any = importlib.import_module("litellm")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.set_verbose = False
    # litellm ends an answer with 100 equal pieces in a row as broken; how large an answer may be is our limit to set
    litellm.REPEATED_STREAMING_CHUNK_LIMIT = sys.maxsize
    litellm.turn_off_message_logging = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return litellm


async def loaded() -> Any:
    """The module, once its thread has imported it and all that a first question needs."""
    return await asyncio.wrap_future(_begin())


def is_loading() -> bool:
    return _future is not None and not _future.done()


def check_installed() -> None:
    if importlib.util.find_spec("litellm") is None:
        raise StartupError(
            "An agent of this app asks a model, which needs litellm: pip install 'litellm[mcp]>=1.84,<2'."
        )


def _begin() -> "Future[Any]":
    global _future
    with _guard:
        if _future is None or (_future.done() and _future.exception() is not None):
            _future = Future()
            _future.set_running_or_notify_cancel()  # a caller that is cancelled cancels nothing for the others
            threading.Thread(target=_load_into, args=[_future], name="litellm", daemon=True).start()
        return _future


def _load_into(future: "Future[Any]") -> None:
    try:
        litellm = load()
        _rehearse(litellm)
    except BaseException as error:  # whatever an import raises is told to those who wait
        future.set_exception(error if isinstance(error, Exception) else ImportError("litellm cannot be imported."))
    else:
        future.set_result(litellm)


def _rehearse(litellm: Any) -> None:
    """Ask a question that goes nowhere: it loads what a first question with tools would load."""
    tool = {"type": "function", "function": {"name": "warm", "parameters": {"type": "object", "properties": {}}}}
    question: dict[str, Any] = {
        "model": "openai/warm",
        "messages": [{"role": "user", "content": "."}],
        "tools": [tool],
        "mock_response": ".",
        "api_key": "none",
    }
    with suppress(Exception):  # a courtesy: whatever is wrong will be said when the model is asked
        litellm.completion(**question)
        for _ in litellm.completion(**question, stream=True, stream_options={"include_usage": True}):
            pass
        importlib.import_module("anyio._backends._asyncio")
    with suppress(Exception):
        litellm.token_counter(model=question["model"], messages=question["messages"])  # reads its tables of tokens
    with suppress(Exception), socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and does not listen: the question is refused at once, on this machine
        question["api_base"] = f"http://127.0.0.1:{closed.getsockname()[1]}"
        del question["mock_response"]
        litellm.completion(**question, stream=True, num_retries=0, max_retries=0, timeout=5)
