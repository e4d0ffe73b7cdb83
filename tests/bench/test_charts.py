"""The charts are well-formed, hold the numbers they show, and have other colours on a dark background."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from bench.report.chart import Bar, Chart, svg
from bench.report.pictures import NAMES, pictures
from bench.report.results import Results, Row
from bench.report.targets import Measured

NAMESPACE = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(picture).iter(f"{NAMESPACE}text")]


def chart(**changed: object) -> Chart:
    fields: dict[str, object] = {
        "title": "Bars & <numbers>",
        "note": "for a test",
        "groups": ["one", "two"],
        "series": {"first": [Bar(1.23), Bar(0.5)], "second": [None, Bar(2.0, mark=3.75)]},
        "colors": {"first": 2, "second": 3},
    }
    return Chart(**(fields | changed))  # type: ignore[arg-type]


def test_a_chart_is_xml_with_every_number_and_name_in_it() -> None:
    shown = texts(svg(chart(rule="one of them")))
    for text in ("Bars & <numbers>", "one", "two", "first", "second", "1.23", "0.50", "2.00 / 3.75", "one of them"):
        assert text in shown


def test_bars_are_as_high_as_their_values() -> None:
    picture = svg(chart(series={"first": [Bar(1.0), Bar(2.0)]}))
    bars = [e for e in ET.fromstring(picture).iter(f"{NAMESPACE}rect") if float(e.attrib["width"]) > 11]
    low, high = (float(bar.attrib["height"]) for bar in bars)
    assert high == pytest.approx(2 * low, rel=0.01)


def test_nothing_is_drawn_outside_of_the_picture() -> None:
    names = {f"a rather long name of a server, number {n}": [Bar(float(n)), Bar(1.0)] for n in range(1, 6)}
    root = ET.fromstring(svg(chart(series=names, colors=dict.fromkeys(names, 1))))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for element in root.iter():
        for key, most in (("x", width), ("x1", width), ("x2", width), ("y", height), ("y1", height), ("y2", height)):
            assert 0 <= float(element.attrib.get(key, 0)) <= most


def test_a_chart_is_readable_on_light_and_on_dark_ground() -> None:
    style = next(ET.fromstring(svg(chart())).iter(f"{NAMESPACE}style")).text or ""
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    for ground in (light, dark):
        for kind in ("text {", ".quiet {", ".grid {", *(f".c{n} {{" for n in range(7))):
            assert kind in ground


def test_pictures_show_what_was_measured() -> None:
    rates = {"bare": 1000.0, "fake": 2500.0, "sqlite": 1310.0, "postgres": 1770.0, "some rival": 90.0}
    rows = [
        Row(
            case=case,
            server=server,
            clients=clients,
            events_s=rate,
            runs_s=rate / 2,
            delay_ms_p50=rate / 1000,
            delay_ms_p99=rate / 100,
        )
        for server, rate in rates.items()
        for case, clients in (("flat", 1), ("flat", 50), ("paced", 50), ("noop", 64))
        if server != "some rival"
    ]
    rows += [Row(case="capacity", server=server, size=int(rate)) for server, rate in rates.items() if server in NAMES]
    rivals = [row for row in rows if row.case == "flat"]
    rivals.append(Row(case="flat", server="some rival", clients=50, events_s=rates["some rival"]))
    rivals.append(Row(case="capacity", server="some rival", size=60))
    drawn = pictures(Measured(latest=Results({}, rows), rivals=Results({}, rivals)))
    assert [text for name, wanted in WANTED.items() for text in wanted if text not in texts(drawn[name])] == []


WANTED = {
    "ratio": ["2.50", "1.31", "1.77", "1 client", "50 clients", "bare FastAPI", "Runyard, Postgres"],
    "latency": ["1.8 / 17.7", "1.3 / 13.1", "Runyard, SQLite FULL"],
    "jobs": ["1,250", "655", "885", "64 in flight"],
    "capacity": ["1,000", "1,310", "1,770", "conversations"],
    "rivals": ["1.8", "0.09", "some rival"],
    "rivals-capacity": ["60", "some rival", "conversations"],
}


def test_without_results_there_is_no_picture() -> None:
    assert pictures(Measured()) == {}
