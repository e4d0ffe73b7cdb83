"""Types of settings that several subjects share."""

from typing import Annotated

from runyard.settings.model import Limits

Seconds = Annotated[float, Limits(gt=0)]
Count = Annotated[int, Limits(gt=0)]
