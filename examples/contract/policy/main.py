"""The agent `policy` as a separate service, which does tasks of type POLICY_REVIEW:

    uvicorn --factory examples.contract.policy.main:app --port 8003
    runyard check http://127.0.0.1:8003=POLICY_REVIEW

The agent itself is in `runyard.demo.research`, because the demo has it too.
"""

from typing import Any

from examples.contract.serving import service
from runyard.demo.research import policy

__all__ = ["policy"]


def app() -> Any:
    return service(__name__, "policy")
