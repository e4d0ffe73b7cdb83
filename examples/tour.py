"""The app of `make run`: the demo agents of `runyard dev`, and the ferry company of examples/office."""

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
