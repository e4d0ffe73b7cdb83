"""Reads random logs with the types of `a2a-sdk`: `python a2a_laws.py laws`. It prints one JSON object."""

import json
import sys

from a2a.types import StreamResponse, Task
from a2a_client import Reader, say
from google.protobuf.json_format import MessageToDict, ParseDict


def laws():
    """Read streams of random logs, one a line, and the tasks that they lead to, with the types of the library."""
    found = []
    for line in sys.stdin:
        given, read = json.loads(line), Reader()
        for each in given["stream"]:
            read.take(ParseDict(each, StreamResponse()))
        kept = MessageToDict(ParseDict(given["task"], Task()))
        artifacts = {key: [MessageToDict(part) for part in parts] for key, parts in read.artifacts.items()}
        metadata = MessageToDict(read.task.metadata)
        found.append(
            {"text": read.text, "state": read.state, "data": read.data, "task": kept}
            | {"artifacts": artifacts, "metadata": metadata}
        )
    say(found=found)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
