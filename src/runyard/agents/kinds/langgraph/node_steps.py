"""Nodes of a graph as steps of the run, and the parking of a run whose nodes wait.

A task of LangGraph is one execution of a node. Its id is the same when the node runs again from the same checkpoint.
The `hash` of the started step holds it, so a node that runs again after a crash or an answer has one step in the log.
"""

from contextvars import ContextVar
from copy import copy
from typing import NoReturn

from runyard.agents.durable.parking import Parking
from runyard.agents.execution import Execution
from runyard.domain.events import StepFinished, StepStarted, Usage, clean
from runyard.domain.state.run_state import StepState

BETWEEN = "|"  # the parts of a namespace, from the outer graph to the inner one
OF_TASK = ":"  # between the name of a node and the id of its task

# The namespace of the node whose code is calling a tool of Runyard.
current_namespace: ContextVar[str | None] = ContextVar("runyard_graph_namespace", default=None)


def task_of(namespace: str) -> str:
    """Return the id of the task that works in a namespace such as `research:1f0|agent:2e1`."""
    return namespace.rpartition(BETWEEN)[2].rpartition(OF_TASK)[2]


def path_of(namespace: str) -> str:
    """Return the names of the nodes in a namespace: `research/agent`. Parts without a task are counters."""
    return "/".join(part.partition(OF_TASK)[0] for part in namespace.split(BETWEEN) if OF_TASK in part)


def outer_namespaces(namespace: str) -> list[str]:
    """Return the namespace and those around it."""
    parts = namespace.split(BETWEEN)
    return [BETWEEN.join(parts[:count]) for count in range(1, len(parts) + 1)]


class GraphParking(Parking):
    """Parks a run when every node that works waits in a tool. A node that does something else is not cut off."""

    def __init__(self) -> None:
        super().__init__()
        self._at_work: set[str] = set()
        self._waiting: set[str] = set()

    def begin(self, namespace: str) -> None:
        self._at_work.add(namespace)
        self._quiet.clear()

    def end(self, namespace: str) -> None:
        self._at_work.discard(namespace)
        self._waiting.discard(namespace)
        self._check_quiet()

    def end_all(self) -> None:
        """Note that the graph does not run."""
        self._at_work.clear()
        self._waiting.clear()
        self._check_quiet()

    async def wait_for(self, wait_id: str) -> NoReturn:
        if (namespace := current_namespace.get()) is not None:
            self._waiting.update(outer_namespaces(namespace))
        await super().wait_for(wait_id)

    def _check_quiet(self) -> None:
        if self._at_work <= self._waiting:
            super()._check_quiet()


class NodeSteps:
    """The steps of one execution."""

    def __init__(self, execution: Execution, parking: GraphParking) -> None:
        self._execution = execution
        self._parking = parking
        known = [step for step in execution.state.steps if step.hash is not None]
        self._keys: dict[str, StepState] = {step.hash: copy(step) for step in known if step.hash is not None}
        self._open: dict[str, str] = {}  # namespaces of started steps by task
        self._wrote: set[str] = set()
        self._usage: dict[str, Usage] = {}

    @property
    def has_unfinished(self) -> bool:
        """Whether the log has a node that started and did not finish."""
        return any(not step.finished for step in self._keys.values())

    def start(self, namespace: str) -> None:
        """Note that a node works. Its step is emitted once."""
        task_id = task_of(namespace)
        if self._open.get(task_id) == namespace:
            return
        self._open[task_id] = namespace
        self._parking.begin(namespace)
        if task_id not in self._keys:
            name = clean(path_of(namespace))
            number = 1 + sum(step.name == name for step in self._keys.values())
            self._keys[task_id] = StepState(key=f"{name}#{number}", name=name, hash=task_id)
            self._execution.emit(StepStarted(self._keys[task_id].key, name, hash=task_id))

    def wrote(self, namespace: str) -> None:
        """Note that a node has written text."""
        self._wrote.update(outer_namespaces(namespace))

    def spend(self, namespace: str, usage: Usage) -> None:
        """Count a model call of a node."""
        task_id = task_of(namespace)
        self._usage[task_id] = self._usage.get(task_id, Usage()) + usage

    def namespace(self, task_id: str) -> str:
        """Return the namespace of a task that works."""
        return self._open.get(task_id, "")

    def pause(self, task_id: str) -> None:
        """Note that a node was interrupted. Its step stays open: it runs again after the answer."""
        if (namespace := self._open.pop(task_id, None)) is not None:
            self._parking.end(namespace)

    def finish(self, task_id: str, error: str | None = None) -> None:
        """End the step of a node, and the steps of a graph inside it that did not end by themselves."""
        namespace = self._open.get(task_id)
        inner = (
            [] if namespace is None else [i for i, other in self._open.items() if other.startswith(namespace + BETWEEN)]
        )
        for each in (*reversed(inner), task_id):
            self._finish(each, error)

    def finish_late(self, task_id: str, usage: Usage | None) -> None:
        """End the step of a node whose result the log has, if the worker died before it wrote the end of the step."""
        if usage is not None:
            self._usage[task_id] = usage
        self._finish(task_id, None)
        self._usage.pop(task_id, None)

    def _finish(self, task_id: str, error: str | None) -> None:
        namespace = self._open.pop(task_id, None)
        step = self._keys.get(task_id)
        if step is not None and not step.finished:
            step.finished = True
            wrote = namespace in self._wrote
            self._execution.emit(
                StepFinished(step.key, step.name, self._usage.pop(task_id, None), error=error, wrote=wrote)
            )
        if namespace is not None:
            self._parking.end(namespace)
