"""Push notifications: the requests that tell an address how a task goes, and the operations on configurations.

A notification is sent for each change of the task's state. Before a task ends or requires input, its new artifacts are
sent whole; pieces of text are not. Which requests a log makes depends on the log and the configuration alone.
"""

from collections.abc import Sequence
from typing import Any

from runyard.base.ids import new_id
from runyard.domain.events import Event
from runyard.domain.push import Push
from runyard.domain.runs.run import Run
from runyard.engine.log.pushes import PushRequest
from runyard.errors import Invalid, NotFound, TooMany
from runyard.faces.a2a import objects, wire
from runyard.faces.a2a.cards import VERSION
from runyard.faces.a2a.follow import Call, context_id, find
from runyard.faces.a2a.objects import Place, Shown, encode
from runyard.faces.a2a.state import CLOSING, TERMINAL
from runyard.faces.a2a.translate import Translation

KIND = "a2a"
TOKEN = "X-A2A-Notification-Token"


class Notifications:
    """Makes the notifications of a task from its log."""

    def __init__(self, run_id: str, place: Place) -> None:
        self._translation = Translation(run_id)
        self._place = place
        self._sent: dict[str, Shown] = {}  # artifacts, as they were sent last

    def take(self, event: Event) -> list[Shown]:
        state = self._translation.state
        before = state.name
        self._translation.take(event)
        if state.name == before:
            return []
        made = self._artifacts() if state.name in CLOSING else []
        made.append(objects.status_update(state.status, state.metadata))
        return [objects.completed(each, state.run_id, self._place) for each in made]

    def _artifacts(self) -> list[Shown]:
        """Return updates for the artifacts that are new or changed."""
        state, found = self._translation.state, list[Shown]()
        made = [objects.answer_artifact(state)] if state.has_answer else []
        for each in [*made, *state.artifacts]:
            if self._sent.get(each["artifactId"]) != each:
                self._sent[each["artifactId"]] = each
                found.append(objects.artifact_update(each, last=state.name in TERMINAL))
        return found


class Requests:
    """Makes the requests of one configuration."""

    def __init__(self, push: Push) -> None:
        data = push.data
        self._notifications = Notifications(push.run_id, Place(data["contextId"], data["base"]))
        self._url = data["url"]
        self._headers = {"A2A-Version": VERSION}
        if data.get("token"):
            self._headers[TOKEN] = data["token"]
        if authentication := data.get("authentication"):
            scheme, credentials = authentication["scheme"], authentication.get("credentials") or ""
            self._headers["Authorization"] = f"{scheme} {credentials}".rstrip()

    def take(self, event: Event) -> Sequence[PushRequest]:
        return [PushRequest(self._url, self._headers, encode(each)) for each in self._notifications.take(event)]


def notifications(push: Push) -> Requests:
    return Requests(push)


# --- operations


async def check(call: Call, given: wire.PushConfig | None) -> None:
    """Raise an error if the address of a configuration may not be called."""
    if given is not None:
        try:
            await call.engine.pushes.check_address(given.url)
        except Invalid as error:
            raise wire.AddressRefused(str(error)) from None


def configured(given: wire.PushConfig, place: Place, run_id: str, push_id: str | None = None) -> Push:
    """Return the push of a configuration whose address is checked. Without a `push_id` the client's id is used, or that
    of the task."""
    data = given.model_dump(include={"url", "token", "authentication"}, exclude_none=True)
    data |= {"contextId": place.context_id, "base": place.base}
    return Push(run_id=run_id, id=push_id or given.id or run_id, kind=KIND, data=data)


async def save(call: Call, run: Run, given: wire.PushConfig, *, at_end: bool, push_id: str | None = None) -> Push:
    """Store a configuration whose address is checked."""
    push = configured(given, Place(await context_id(call, run), call.base), run.id, push_id)
    try:
        return await call.engine.pushes.put(push, at_end=at_end)
    except TooMany as error:
        raise wire.TooManyConfigs(str(error)) from None


async def create(call: Call, given: wire.CreateConfig) -> Shown:
    """Store a configuration. The task's later updates are sent to its address."""
    run = await find(call, given.taskId)
    await check(call, given)
    return _shown(await save(call, run, given, at_end=True, push_id=given.id or new_id()), with_secrets=True)


async def get(call: Call, given: wire.ConfigName) -> Shown:
    return _shown(await _found(call, given))


async def list_configs(call: Call, given: wire.ConfigsOfTask) -> Shown:
    run = await find(call, given.taskId)
    found = [push for push in await call.engine.pushes.all(run.id) if push.kind == KIND]
    return {"configs": [_shown(push) for push in found], "nextPageToken": ""}


async def delete(call: Call, given: wire.ConfigName) -> Shown:
    """Delete a configuration. Deleting it again has no effect."""
    try:
        found = await _found(call, given)
    except wire.ConfigNotFound:
        return {}
    await call.engine.pushes.drop(found.run_id, found.id)
    return {}


async def _found(call: Call, given: wire.ConfigName) -> Push:
    run = await find(call, given.taskId)
    try:
        push = await call.engine.pushes.get(run.id, given.id)
    except NotFound:
        raise wire.ConfigNotFound from None
    if push.kind != KIND:
        raise wire.ConfigNotFound
    return push


def _shown(push: Push, *, with_secrets: bool = False) -> Shown:
    """Return a configuration. Its token and credentials are only in the answer to the request that sets them."""
    data: dict[str, Any] = push.data
    found: Shown = {"taskId": push.run_id, "id": push.id, "url": data["url"]}
    if authentication := data.get("authentication"):
        kept = authentication if with_secrets else {"scheme": authentication["scheme"]}
        found["authentication"] = kept
    if with_secrets and data.get("token"):
        found["token"] = data["token"]
    return found
