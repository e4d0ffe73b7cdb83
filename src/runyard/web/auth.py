"""Who is asking. Everyone is the one local owner until API keys are set up."""

from typing import Annotated

from fastapi import Depends

LOCAL = "local"


def _owner() -> str:
    return LOCAL


Owner = Annotated[str, Depends(_owner)]
