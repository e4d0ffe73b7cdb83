"""The part of the checker that judges files (I19)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
FILES = """
select f.id, f.content_id, f.size, f.is_used, c.size as stored, c.state, c.place,
       (select coalesce(sum(length(k.data)), 0) from file_chunks k where k.content_id = c.id) as bytes
  from files f left join file_contents c on c.id = f.content_id
"""
USES = "select file_id, message_id, run_id from file_uses"
MESSAGES = "select id, role, run_id, parts from messages where parts is not null"


def broken_files(
    logs: Mapping[str, Sequence[Row]], messages: Sequence[Row], files: Sequence[Row], uses: Sequence[Row]
) -> Iterator[str]:
    stored = {file["id"]: file for file in files}
    by_messages = {(use["message_id"], use["file_id"]) for use in uses}
    in_use = {use["file_id"] for use in uses}
    for holder, file_id in {*_named_by_messages(messages), *_named_by_answers(logs)}:
        if file_id not in stored:
            yield f"I19 {holder}: it names the file {file_id}, which is not stored"
        elif file_id not in in_use or (holder not in logs and (holder, file_id) not in by_messages):
            yield f"I19 {holder}: it names the file {file_id}, which does not count as used"
    for file_id in in_use & stored.keys():
        if not stored[file_id]["is_used"]:
            yield f"I19 {file_id}: in use, but it will be deleted as unused"
    for file in files:
        if file["state"] != "ready" or file["size"] != file["stored"]:
            yield f"I19 {file['id']}: {file['size']} bytes, but its content is {file['state']} with {file['stored']}"
        elif file["place"] == "database" and file["bytes"] < file["size"]:
            yield f"I19 {file['id']}: {file['size']} bytes, but its chunks have {file['bytes']}"


def _named_by_messages(messages: Sequence[Row]) -> Iterator[tuple[str, str]]:
    for message in messages:
        holder = (
            message["id"] if message["role"] == "user" else message["run_id"]
        )  # the run uses the files of its answer
        for part in json.loads(message["parts"]):
            if "file_id" in part:
                yield holder, part["file_id"]


def _named_by_answers(logs: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, str]]:
    for run_id, log in logs.items():
        for event in log:
            if event["type"] == "run.output":
                for file in json.loads(event["data"]).get("files") or ():
                    yield run_id, file["file_id"]
