"""Types of settings that several subjects share."""

from typing import Annotated

from pydantic import BeforeValidator, Field


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0)]
Word = BeforeValidator(_lower)  # a choice, in upper or lower case
