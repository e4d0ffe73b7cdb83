"""Run sync functions beside the event loop, each call in its own daemon thread.

asyncio's thread pool does not fit: a thread cannot be stopped, so a function that hangs would occupy one of the few
pool threads for good and keep the process from ending. Here a cancelled caller abandons the thread, and neither the
next call nor the end of the process waits for it.
"""

import asyncio
import contextvars
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any


async def run_in_thread(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call `fn` in a thread and return its result, or raise its exception. It sees the caller's context variables."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def set_outcome(result: Any, error: Exception | None) -> None:
        if ended.done():
            return  # the caller was cancelled
        if error is None:
            ended.set_result(result)
        else:
            ended.set_exception(error)

    def work() -> None:
        result: Any = None
        error: Exception | None = None
        try:
            result = context.run(fn, *args, **kwargs)
        except StopIteration:
            error = RuntimeError("it raised StopIteration")  # a future rejects StopIteration
        except Exception as raised:
            error = raised
        except BaseException as raised:
            error = RuntimeError(f"it raised {type(raised).__name__}")  # ends the thread, not the process
        with suppress(RuntimeError):  # the loop is closed, and the caller with it
            loop.call_soon_threadsafe(set_outcome, result, error)

    Thread(target=work, name=getattr(fn, "__name__", "call"), daemon=True).start()
    return await ended
