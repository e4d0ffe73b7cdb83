"""What `make run` serves: the demo that `runyard dev` has by itself, and the ferry company of examples/office."""

from office.app import boro, ilse, mara, nadia, pip, teo

from runyard.demo import (
    assistant,
    cv_screener,
    cvs,
    default,
    device,
    guidelines,
    literature,
    papers,
    policy,
    retrieval,
    slow,
    tokens,
)

__all__ = [
    "assistant",
    "boro",
    "cv_screener",
    "cvs",
    "default",
    "device",
    "guidelines",
    "ilse",
    "literature",
    "mara",
    "nadia",
    "papers",
    "pip",
    "policy",
    "retrieval",
    "slow",
    "teo",
    "tokens",
]
