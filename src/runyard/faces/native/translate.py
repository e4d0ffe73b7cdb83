"""Encodes core events in full, with the stored data embedded."""

import msgspec

from runyard.domain.events import Event

_encode = msgspec.json.Encoder().encode


def envelope(event: Event) -> bytes:
    """Encode an event as one JSON object; `data` is embedded as stored."""
    head = {
        "run_id": event.run_id,
        "seq": event.seq,
        "id": event.id,
        "ts": event.ts,
        "type": event.type,
        "v": event.v,
        "source": event.source,
    }
    if event.name is not None:
        head["name"] = event.name
    if event.fn is not None:
        head["fn"] = event.fn
    return b'%b,"data":%b}' % (_encode(head)[:-1], event.data)


def frame(event: Event) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (event.seq, event.type.encode(), envelope(event))


def tree_frame(item: tuple[Event, str]) -> bytes:
    """Encode an event of a tree of runs. Its id is the cursor after it."""
    event, cursor = item
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (cursor.encode(), event.type.encode(), envelope(event))


def waits_frame(count: int) -> bytes:
    """Encode the number of open waits. It has no id: a client that reconnects gets the number as it is then."""
    return b'event: waits\ndata: {"open":%d}\n\n' % count
