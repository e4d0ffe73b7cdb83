"""The part of a context that stores files."""

from functools import partial

from runyard.agents.durable.recorded import RecordedCalls
from runyard.agents.durable.tool_call import current_recorded_call
from runyard.agents.execution import Execution
from runyard.domain.content.parts import File


class Attaching:
    """Stores files of a run. `attached` are those of the agent itself, in order."""

    _execution: Execution
    attached: list[File]

    @property
    def _calls(self) -> RecordedCalls:
        raise NotImplementedError

    async def attach(self, name: str, data: bytes, type: str = "application/octet-stream") -> File:
        """Store a file and return it. It belongs to the run, and to its answer unless a tool attached it.

        It is recorded like a step: after a crash the same file is returned. A tool that returns the file gives it to
        the model. The file is deleted together with the run.

        Args:
            name: The name of the file.
            data: Its bytes.
            type: Its media type, such as `"image/png"`.

        Raises:
            TypeError: If `data` is not bytes.
            TooLarge: If the file is larger than `RUNYARD_MAX_FILE_BYTES`.
            WrongType: If `type` is not a media type, or the bytes are not of that type.

        Example:
            >>> @runyard.agent
            ... async def reporter(ctx: runyard.Context) -> str:
            ...     await ctx.attach("report.txt", b"All is well.", "text/plain")
            ...     return "See the report."
            >>> run_agent_sync(reporter, "Report.").files[0].data
            b'All is well.'
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"the data of a file is bytes, not {data.__class__.__name__}")
        self._go_on()
        store = partial(self._execution.attach_file, name, type, bytes(data))
        if current_recorded_call.get() is not None:
            return await store()  # inside a tool or a step, whose result is recorded
        self._pause()
        file = await self._calls.attach(name, type, len(data), store)
        self.attached.append(file)
        return file

    def _go_on(self) -> None:
        """End the function if a cancel was requested."""
        raise NotImplementedError

    def _pause(self) -> None:
        """Write the held text before a call."""
        raise NotImplementedError
