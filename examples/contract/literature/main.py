"""The agent `literature` as a separate service, which does tasks of type LIT_RETRIEVAL:

    uvicorn --factory examples.contract.literature.main:app --port 8001
    runyard check http://127.0.0.1:8001=LIT_RETRIEVAL

The agent itself is in `runyard.demo.research`, because the demo has it too.
"""

from typing import Any

from examples.contract.serving import service
from runyard.demo.research import literature, papers

__all__ = ["literature", "papers"]


def app() -> Any:
    return service(__name__, "literature")
