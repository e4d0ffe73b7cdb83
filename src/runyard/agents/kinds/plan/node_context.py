"""The context of a node: the results of the nodes before it, an idempotency key, and a way to leave marks.

Results are as the log has them (JSON after a round trip), so a node sees the same values whether the nodes before it
ran just now or before a crash. A node leaves nothing in the log except its marks and its result.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from runyard.agents.context.current_run import CurrentRun
from runyard.agents.declared.agent import Agent
from runyard.agents.declared.remote import failure, flat
from runyard.agents.durable.parking import Parking
from runyard.agents.execution import Execution
from runyard.domain.conversations.thread import Message
from runyard.domain.events import Trace
from runyard.errors import Invalid

_MARK = re.compile(r"[A-Za-z0-9_.:-]{1,128}", re.ASCII)


class NodeContext(CurrentRun):
    """The context that the function of a node gets. Runners make one for each node.

    `node` is the node's name, and `results` holds what the earlier nodes returned, by name.

    Raises:
        WrongThread: By every method, if it is called in another thread than the node's.

    Example:
        >>> async def reserve(ctx: runyard.NodeContext) -> dict[str, str]:
        ...     return {"device": "d-1"}
        >>> async def ping(ctx: runyard.NodeContext) -> str:
        ...     return f"pinged {ctx.results['Reserve']['device']}"
        >>> device = runyard.plan("device", [runyard.Node("Reserve", reserve), runyard.Node("Ping", ping)])
        >>> [node.result for node in run_agent_sync(device).steps]
        [{'device': 'd-1'}, 'pinged d-1']
    """

    node: str
    results: Mapping[str, Any]

    def __init__(self, node: str, execution: Execution, parking: Parking, results: Mapping[str, Any]) -> None:
        super().__init__(execution, parking)
        self.node = node
        self.results = MappingProxyType(dict(results))
        self._calls_made = 0

    @property
    def message(self) -> Message | None:
        """The message that caused the run, or None.

        Example:
            >>> async def greet(ctx: runyard.NodeContext) -> str:
            ...     return "no message" if ctx.message is None else f"Hello {ctx.message.text}"
            >>> run_agent_sync(runyard.plan("greeting", [runyard.Node("Greet", greet)]), "Ada").steps[0].result
            'Hello Ada'
        """
        return self._execution.message

    def idempotency_key(self, label: str | None = None) -> str:
        """Return a key that is the same in every attempt and differs between nodes and runs.

        Args:
            label: A name for the action, if the node needs several keys.

        Example:
            >>> async def charge(ctx: runyard.NodeContext) -> bool:
            ...     return ctx.idempotency_key("card").endswith(":Charge:card")
            >>> run_agent_sync(runyard.plan("payment", [runyard.Node("Charge", charge)])).steps[0].result
            True
        """
        return ":".join([self.run_id, self.node] if label is None else [self.run_id, self.node, label])

    async def call_agent(self, agent: Agent, /, **inputs: Any) -> dict[str, Any]:
        """Give a task to a remote agent. Each call of a node has its own idempotency key.

        Args:
            agent: An agent made with `runyard.remote`.
            inputs: The inputs of the task, by name. Values are JSON.

        Returns:
            The outputs of the task, with `grounding`, `warnings` and `artifacts` among them.

        Raises:
            RemoteFailed: If the remote agent gave no outputs. Subclasses say why.
            Invalid: If the agent is not a remote agent.

        Example:
            >>> archive = runyard.remote("archive", url="https://archive.example.org", task_type="SEARCH")
            >>> async def look_up(ctx: runyard.NodeContext) -> str:
            ...     return (await ctx.call_agent(archive, query="tea"))["title"]
            >>> run_agent_sync(runyard.plan("study", [runyard.Node("LookUp", look_up)])).steps[0].result
            'About tea'
        """
        self._go_on()
        if agent.remote is None:
            raise Invalid("Only a remote agent can be called; make one with runyard.remote.")
        self._calls_made += 1
        answer = await agent.remote.ask(inputs, self.idempotency_key(f"{agent.name}#{self._calls_made}"))
        if answer.error is not None:
            raise failure(answer.error)
        return flat(answer)

    async def trace(self, fn: str) -> None:
        """Leave a mark in the log for debugging.

        Args:
            fn: A stable name, such as `device.check`: 1 to 128 letters, digits, `-`, `_`, `.` or `:`.

        Raises:
            Invalid: If the name is wrong.

        Example:
            >>> async def check(ctx: runyard.NodeContext) -> str:
            ...     await ctx.trace("device.check")
            ...     return "fine"
            >>> result = run_agent_sync(runyard.plan("device", [runyard.Node("Check", check)]))
            >>> [event.payload.fn for event in result.events if event.type == "trace"]
            ['device.check']
        """
        self._go_on()
        if not _MARK.fullmatch(fn):
            raise Invalid("A mark has 1 to 128 letters, digits or any of - _ . : and nothing else.")
        self._execution.emit(Trace(fn))
        if self._execution.congested:
            await self._execution.drain()
