"""The agent `retrieval` as a separate service, which does tasks of type RAG_RETRIEVE:

    uvicorn --factory examples.contract.retrieval.main:app --port 8002
    runyard check http://127.0.0.1:8002=RAG_RETRIEVE

The agent itself is in `runyard.demo.research`, because the demo has it too.
"""

from typing import Any

from examples.contract.serving import service
from runyard.demo.research import guidelines, retrieval

__all__ = ["guidelines", "retrieval"]


def app() -> Any:
    return service(__name__, "retrieval")
