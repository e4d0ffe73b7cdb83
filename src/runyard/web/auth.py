"""Who is asking. Everyone is the one local owner until API keys are set up."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

LOCAL = "local"


async def owner_of(request: Request) -> str:
    """Async, though it waits for nothing: FastAPI would send a plain function to a thread."""
    return LOCAL


Owner = Annotated[str, Depends(owner_of)]
