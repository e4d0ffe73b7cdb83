"""Who is asking. Everyone is the one local owner until API keys are set up."""

from typing import Annotated

from fastapi import Depends

LOCAL = "local"


async def _owner() -> str:
    """Async, though it waits for nothing: FastAPI would send a plain function to a thread."""
    return LOCAL


Owner = Annotated[str, Depends(_owner)]
