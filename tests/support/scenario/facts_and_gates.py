"""Facts that the processes of a flow test record, and gates at which the test stops them: files in a folder.

Facts are lines in append-only files, each written with a single O_APPEND write, so that they survive a `kill -9` of the
writer and never mix. A gate is open when the file `open/<gate>` (or `open/<gate>.<pid>`, for one process) exists.
"""

import os
from pathlib import Path

FOLDER = "FLOW_FOLDER"  # the environment variable that names the folder


class Notes:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, *words: object) -> None:
        line = " ".join(str(word) for word in words) + "\n"
        file = os.open(self.folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)

    def read(self, name: str) -> list[list[str]]:
        """The lines of a file, as words; none if the file does not exist."""
        try:
            return [line.split() for line in (self.folder / name).read_text().splitlines()]
        except FileNotFoundError:
            return []

    def open_gate(self, gate: str, pid: int | None = None) -> None:
        (self.folder / "open").mkdir(exist_ok=True)
        (self.folder / "open" / (gate if pid is None else f"{gate}.{pid}")).touch()

    def is_open(self, gate: str) -> bool:
        gates = self.folder / "open"
        return (gates / gate).exists() or (gates / f"{gate}.{os.getpid()}").exists()
