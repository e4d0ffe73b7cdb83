"""The outermost middleware: a request that ends without a response gets a problem, not the server's plain text.

A shutdown cancels requests that take too long, for example because the database does not answer. Such a request gets a
503, so that the client tries another process. A request that fails unexpectedly during a shutdown gets a 503 too.
"""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runyard.web.errors import problems
from runyard.web.run_to_end import ShuttingDown
from runyard.web.streaming.sse import StreamCut


class FallbackResponse:
    """Sends a problem if no response has started. `is_stopping` tells whether this process shuts down."""

    def __init__(self, app: ASGIApp, is_stopping: Callable[[], bool]) -> None:
        self._app = app
        self._is_stopping = is_stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        def noted(message: Message) -> Awaitable[None]:  # not a coroutine: every write of a stream passes here
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
            shown = ShuttingDown() if self._is_stopping() else error
            await problems.answer(shown, scope)(scope, receive, send)
