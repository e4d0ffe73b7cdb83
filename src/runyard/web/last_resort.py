"""The outermost answer: a request that ends without one still gets a problem, never the server's own plain text.

A request is cut off when a shutdown has waited long enough for it, for example because the database does not answer:
then it gets a 503, and the client may try another process. So does a request that fails in an unforeseen way while the
process shuts down.
"""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runyard.web import problems
from runyard.web.sse import StreamCut
from runyard.web.waiting import ShuttingDown


class LastResort:
    """`is_stopping` says whether this process shuts down."""

    def __init__(self, app: ASGIApp, is_stopping: Callable[[], bool]) -> None:
        self._app = app
        self._is_stopping = is_stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        def noted(message: Message) -> Awaitable[None]:  # no coroutine: a stream sends through it all the time
            nonlocal has_begun
            has_begun = True
            return send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if not has_begun:
                await problems.answer(ShuttingDown(), scope)(scope, receive, send)
            raise
        except StreamCut:
            raise
        except Exception as error:
            if has_begun:
                raise
            told = ShuttingDown() if self._is_stopping() else error
            await problems.answer(told, scope)(scope, receive, send)
