"""The data that an OpenTelemetry collector gets, decoded by a sink on loopback."""

import time
from collections.abc import Iterator

import pytest

from runyard.app.factories import open_exporter
from runyard.base.ids import new_id
from runyard.errors import StartupError
from runyard.settings import Settings
from runyard.telemetry.spans import Recorder, Several, Span, Tracer, is_traceparent
from tests.support.fakes.otlp_sink import OtlpSink, otlp_sink

OTHERS = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
def sink() -> Iterator[OtlpSink]:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs the extra otlp")
    with otlp_sink() as sink:
        yield sink


@pytest.mark.req("S3.35", "S3.36", "S3.38", "S3.39")
def test_a_run_arrives_as_one_trace_with_steps_and_tools(sink: OtlpSink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=ours")
    tracer, run_id = Tracer(open_exporter(Settings(otlp_endpoint=sink.url + "/"))), new_id()
    run = tracer.root("agent.run", run_id, agent="kevin", attempt=1)
    step = tracer.child(run, "agent.step", step="turn#1")
    tool = tracer.child(step, "agent.tool", tool="send_message")
    tracer.end(tool, "tool_error")
    for _ in range(2):
        tracer.count("agent.tools", agent="kevin", tool="send_message")
    tracer.log("agent.decided", step, agent="kevin", tool="send_message")
    tracer.end(run)
    tracer.exporter.close()

    [made] = sink.named("agent.run")
    assert (made.trace, made.id, made.parent) == (run_id.replace("-", ""), run.id, "")
    assert (made.attributes, made.service) == ({"agent": "kevin", "attempt": 1, "outcome": "ok"}, "runyard")
    [step_made], [tool_made] = sink.named("agent.step"), sink.named("agent.tool")
    assert (step_made.parent, tool_made.parent) == (made.id, step_made.id)
    assert (tool_made.attributes["outcome"], tool_made.is_error, made.is_error) == ("tool_error", True, False)
    assert all(span.took_ns >= 0 for span in sink.spans)
    assert sink.counts == {("agent.tools", "kevin", "send_message"): 2}
    assert sink.logs == [("agent.decided", {"agent": "kevin", "tool": "send_message"})]
    assert sink.log_places == [(made.trace, step_made.id)], "a line is in the trace of its run"
    assert all(headers["x-team"] == "ours" for headers in sink.headers)


@pytest.mark.req("S3.35")
def test_ended_spans_are_sent_while_their_run_continues(sink: OtlpSink) -> None:
    tracer = Tracer(open_exporter(Settings(otlp_endpoint=sink.url)))
    run = tracer.root("agent.run", new_id())
    tracer.end(tracer.child(run, "agent.step"))
    until = time.monotonic() + 20
    while not sink.spans and time.monotonic() < until:
        time.sleep(0.01)  # waits on purpose: the SDK sends in a separate thread
    assert [(span.name, span.parent) for span in sink.spans] == [("agent.step", run.id)]
    tracer.exporter.close()


def test_an_unreachable_collector_delays_no_run(sink: OtlpSink) -> None:
    exporter = open_exporter(Settings(otlp_endpoint="http://127.0.0.1:9"))
    tracer = Tracer(exporter)
    for _ in range(3000):
        tracer.end(tracer.root("agent.run", new_id()))
    began = time.monotonic()
    exporter.close()
    assert time.monotonic() - began < 4


def test_sentry_and_otlp_are_chosen_in_wiring(sink: OtlpSink, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentry_sdk", reason="needs the extra sentry")
    assert isinstance(open_exporter(Settings()), Recorder)
    both = open_exporter(Settings(otlp_endpoint=sink.url, sentry_dsn="http://key@127.0.0.1:9/1"))
    assert isinstance(both, Several)
    both.close()
    monkeypatch.setitem(__import__("sys").modules, "runyard.telemetry.otlp", None)
    with pytest.raises(StartupError, match=r"pip install 'runyard\[otlp\]'"):
        open_exporter(Settings(otlp_endpoint=sink.url))


def test_several_exporters_are_all_told() -> None:
    one, two = Recorder(), Recorder()
    tracer = Tracer(Several([one, two]))
    tracer.end(tracer.root("agent.run", new_id()))
    tracer.count("agent.errors", code="timeout")
    tracer.log("agent.decided", tool="do_nothing")
    assert list(one.spans) == list(two.spans) != []
    assert (one.counts, list(one.logs)) == (two.counts, list(two.logs))
    assert one.counts[("agent.errors", "timeout")] == len(one.logs) == 1


def test_a_run_continues_the_trace_of_its_caller() -> None:
    root = Span("agent.run", new_id(), None, 1.0, {})
    own = root.trace_id
    root.join("00-words-01")
    assert (root.trace_id, root.parent_id) == (own, None)
    root.join(OTHERS)
    assert (root.trace_id, root.parent_id) == (OTHERS[3:35], OTHERS[36:52])
    child = Span("agent.step", "", root, 1.0, {})
    assert child.traceparent == f"00-{OTHERS[3:35]}-{child.id}-01"


@pytest.mark.parametrize(
    ("header", "right"),
    [
        (OTHERS, True),
        (OTHERS + "\n", False),
        (OTHERS + "-more words", False),
        (OTHERS.upper(), False),
        ("ff" + OTHERS[2:], False),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01", False),
        (f"00-4bf92f3577b34da6a3ce929d0e0e4736-{'0' * 16}-01", False),
        ("", False),
    ],
)
def test_only_a_header_of_trace_context_is_taken_for_one(header: str, right: bool) -> None:
    assert is_traceparent(header) is right
