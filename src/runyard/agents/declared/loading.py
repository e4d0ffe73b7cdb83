"""Loads an app: a Python file, or a folder with a file app.py or __init__.py, that declares agents.

The file is imported under a private name, with its folder on the path as for `python app.py`. The agents and documents
at its top level are the app. Every failure is a StartupError: one sentence with the file and the line.
"""

import sys
import traceback
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from msgspec import Struct

from runyard.agents.declared.agent import Agent
from runyard.agents.declared.documents import Documents
from runyard.errors import StartupError
from runyard.store import Document


class App(Struct, frozen=True):
    """The agents and documents that a server serves. Servers usually load it from a file; tests and embedders make it.

    Args:
        agents: The agents by name.
        collections: The documents of each collection, by its name.
        default: The name of the agent that answers when a client names none.

    Example:
        >>> hello = runyard.scripted("hello", [{"token": "Hello"}])
        >>> app = runyard.App({"hello": hello}, default="hello")
        >>> app.task_types
        {'hello': 'hello'}
    """

    agents: dict[str, Agent]
    collections: dict[str, Sequence[Document]] = {}
    default: str | None = None

    @property
    def task_types(self) -> dict[str, str]:
        """The name of the agent that does each task type. Every agent does tasks of its own name and of its declared
        type. A remote agent also does its service's type, unless another agent has that name or type.

        Example:
            >>> @runyard.agent(task_type="PRICE")
            ... async def pricer(ctx: runyard.Context) -> str:
            ...     return "9.50"
            >>> runyard.App({"pricer": pricer}).task_types
            {'pricer': 'pricer', 'PRICE': 'pricer'}
        """
        remote = {one.remote.task_type: name for name, one in reversed(self.agents.items()) if one.remote is not None}
        declared = {agent.task_type: name for name, agent in self.agents.items() if agent.task_type is not None}
        return remote | {name: name for name in self.agents} | declared

    def plans(self, default: str | None) -> list[str]:
        """Return the names of all plans. The default agent comes first, if it is a plan."""
        found = [name for name, agent in self.agents.items() if agent.kind == "plan"]
        return sorted(found, key=lambda name: name != default)


def load(path: Path) -> App:
    """Return the app that the file or folder at `path` declares; StartupError if it declares none."""
    file = _entry_file(Path(path).resolve())
    return app_of(_import(file), str(path))


def app_of(module: ModuleType, label: str | None = None) -> App:
    """Return the agents and documents at the top level of a module, in the order of their declaration."""
    label = label or module.__name__
    agents: dict[str, Agent] = {}
    collections: dict[str, Documents] = {}
    for value in list(vars(module).values()):
        if isinstance(value, Agent) and agents.setdefault(value.name, value) is not value:
            raise StartupError(f"{label}: two agents are named {value.name}.")
        if isinstance(value, Documents) and collections.setdefault(value.name, value) is not value:
            raise StartupError(f"{label}: two collections of documents are named {value.name}.")
    if not agents:
        raise StartupError(f"{label} declares no agent; decorate an `async def f(ctx)` with @runyard.agent.")
    types = [found.task_type for found in agents.values() if found.task_type is not None]
    for task_type in types:
        if types.count(task_type) > 1 or task_type in agents:
            raise StartupError(f"{label}: two agents do tasks of type {task_type}; change the type of one.")
    default = getattr(module, "default", None)
    if default is not None and not isinstance(default, Agent):
        raise StartupError(f"{label}: `default` must be one of its agents.")
    name = default.name if default is not None else next(iter(agents))
    return App(agents, {key: found.documents for key, found in collections.items()}, name)


def _entry_file(path: Path) -> Path:
    if path.is_dir():
        for name in ("__init__.py", "app.py"):
            if (path / name).is_file():
                return path / name
        raise StartupError(f"{path} has neither __init__.py nor app.py; name the file that declares the agents.")
    if not path.is_file():
        raise StartupError(f"{path} does not exist.")
    if path.suffix != ".py":
        raise StartupError(f"{path} is not a Python file; name a file that ends in .py, or a folder.")
    return path


def _import(file: Path) -> ModuleType:
    package = file.name == "__init__.py"
    folder = file.parent.parent if package else file.parent
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    # private, so that a file called json.py or runyard.py hides nothing; the same for the same file
    name = f"_runyard_app_{sha256(str(file).encode()).hexdigest()[:12]}"
    spec = spec_from_file_location(name, file, submodule_search_locations=[str(file.parent)] if package else None)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a user's file may raise anything; they get one sentence
        del sys.modules[name]
        raise StartupError(_why(file, error)) from error
    return module


def _why(file: Path, error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.filename or file}, line {error.lineno}: {error.msg}."
    place, line = str(file), None
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename).is_relative_to(file.parent) and "site-packages" not in frame.filename:
            place, line = frame.filename, frame.lineno
    where = place if line is None else f"{place}, line {line}"
    said = " ".join(str(error).split()).rstrip(".")
    return f"{where}: {type(error).__name__}: {said}." if said else f"{where}: {type(error).__name__}."
