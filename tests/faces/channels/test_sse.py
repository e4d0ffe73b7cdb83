"""The stream of all conversations: durable, ordered, resumable, with only the entries that the caller may see."""

import pytest

from tests.faces.channels.agents_on_demand import ChannelServer, done


@pytest.mark.req("S3.22")
async def test_the_frames_are_exactly_these(channel_server: ChannelServer) -> None:
    watch = await channel_server.watch()
    channel = await channel_server.channel("kevin")
    message = await channel_server.say(channel, "hi")
    await done(watch, 1)
    await channel_server.http.post(f"/api/messages/{message['id']}/reactions", json={"emoji": "🎉"})
    await watch.frames_to("reaction_added")
    run_id = watch.frames[1].json["runId"]
    place = {"channelId": channel, "dmConversationId": None}
    assert watch.wire == [
        ("message_created", {k: v for k, v in message.items() if k != "reactions"}),
        ("agent_typing", {"agentId": "kevin", "runId": run_id, **place}),
        ("agent_done", {"agentId": "kevin", "runId": run_id, **place}),
        ("reaction_added", {"messageId": message["id"], "emoji": "🎉", "userId": "local", "isAgent": False, **place}),
    ]
    assert watch.ids == sorted(watch.ids)
    assert watch.header("content-type") == ["text/event-stream; charset=utf-8"]
    await watch.close()


async def test_a_client_that_reconnects_gets_the_missed_events_once(channel_server: ChannelServer) -> None:
    watch = await channel_server.watch()
    dm = await channel_server.dm("kevin")
    await channel_server.tell(dm, "one")
    await done(watch, 1)
    await watch.close()
    await channel_server.tell(dm, "two")
    again = await channel_server.watch(watch.ids[-1])
    await done(again, 1)
    assert again.events == ["message_created", "agent_typing", "agent_done"]
    whole = await channel_server.watch(0)
    await done(whole, 2)
    assert whole.ids == watch.ids + again.ids == list(range(1, 7))
    for stream in (again, whole):
        await stream.close()


async def test_without_a_start_only_what_is_new_is_sent(channel_server: ChannelServer) -> None:
    dm = await channel_server.dm("kevin")
    first = await channel_server.watch(0)
    await channel_server.tell(dm, "old")
    await done(first, 1)
    watch = await channel_server.watch()
    await channel_server.tell(dm, "new")
    await done(watch, 1)
    assert [data["text"] for name, data in watch.wire if name == "message_created"] == ["new"]
    for stream in (first, watch):
        await stream.close()


async def test_a_client_that_was_disconnected_for_too_long_is_told_where_to_go_on(
    channel_server: ChannelServer,
) -> None:
    assert channel_server.server is not None
    watch = await channel_server.watch()
    dm = await channel_server.dm("kevin")
    await channel_server.tell(dm, "old")
    await done(watch, 1)
    last = watch.ids[-1]
    await channel_server.server.store.drop_feed(2**52, 100)
    answer = await channel_server.http.get("/api/sse", headers={"Last-Event-ID": str(last - 1)})
    assert (answer.status_code, answer.json()["code"]) == (410, "gone")
    again = await channel_server.watch(int(answer.json()["snapshot"]["last_event_id"]))
    await channel_server.tell(dm, "new")
    await done(again, 1)
    assert again.ids == [last + 1, last + 2, last + 3]
    for stream in (watch, again):
        await stream.close()


async def test_a_bad_start_is_a_400(channel_server: ChannelServer) -> None:
    for bad in ("-1", "x", "1.5", "9" * 20):
        answer = await channel_server.http.get("/api/sse", headers={"last-event-id": bad})
        assert answer.status_code == 400
        assert answer.headers["content-type"] == "application/problem+json"


async def test_a_silent_stream_has_heartbeats_and_a_shutdown_cuts_it(
    channel_server: ChannelServer, serve: object
) -> None:
    silent = ChannelServer()
    silent.server = await serve(silent.app(), worker=False, heartbeat_seconds=0.05) if _shares(channel_server) else None  # type: ignore[operator]
    watch = await (silent if silent.server else channel_server).watch()
    if silent.server:
        await watch.pings(2)
    (silent.server or channel_server.server).process.feed.cut()  # type: ignore[union-attr]
    await watch.to_end()
    assert watch.was_cut


def _shares(channel_server: ChannelServer) -> bool:
    """Whether a second pod can be started on the same database."""
    assert channel_server.server is not None
    return type(channel_server.server.store).__name__ != "SqliteStore"


@pytest.mark.req("S3.24")
async def test_a_private_channel_is_told_to_its_people_alone(channel_server: ChannelServer) -> None:
    streams = {who: await channel_server.watch(0, **{"x-caller": who}) for who in ("local", "carol", "mallory")}
    secret = await channel_server.channel("kevin", users=["carol"], kind="private")
    public = await channel_server.channel("oscar")
    await channel_server.say(secret, "psst")
    await done(streams["local"], 1)
    await channel_server.say(public, "hear ye")
    await done(streams["mallory"], 1)
    for who, seen in (("local", True), ("carol", True), ("mallory", False)):
        await done(streams[who], 2 if seen else 1)
        texts = [data["text"] for name, data in streams[who].wire if name == "message_created"]
        assert texts == (["psst", "hear ye"] if seen else ["hear ye"])
        agents = {data["agentId"] for name, data in streams[who].wire if name == "agent_typing"}
        assert agents == ({"kevin", "oscar"} if seen else {"oscar"})
        assert (b"psst" in streams[who].body) is seen
        await streams[who].close()
