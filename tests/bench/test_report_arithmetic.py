"""The table of targets is computed, never typed: these are the rules it is computed by."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.large.__main__ import with_others
from bench.report import __main__ as report
from bench.report.results import Results, Row, difference, load, percentile, ratio, save
from bench.report.sheet import sheets
from bench.report.targets import TARGETS, Measured, Target


def flat(server: str, clients: int, *rates: float, first: float = 1.0) -> list[Row]:
    return [
        Row(case="flat", server=server, clients=clients, events_s=rate, first_ms_p50=first + n)
        for n, rate in enumerate(rates)
    ]


def target(what: str) -> Target:
    [found] = [each for each in TARGETS if each.what == what]
    return found


AGAINST_BARE = "events/s against bare FastAPI, Postgres, 10 clients"


@pytest.mark.parametrize(
    ("rate", "verdict"), [(2000, "excellent"), (1999, "good"), (1300, "good"), (1299, "not met"), (0, "not met")]
)
def test_more_is_better_where_excellent_is_more(rate: float, verdict: str) -> None:
    measured = Measured(latest=Results({}, [*flat("bare", 10, 1000), *flat("postgres", 10, rate)]))
    assert target(AGAINST_BARE).verdict(measured) == verdict


@pytest.mark.parametrize(("ms", "verdict"), [(2.5, "excellent"), (2.6, "good"), (4, "good"), (4.1, "not met")])
def test_less_is_better_where_excellent_is_less(ms: float, verdict: str) -> None:
    row = Row(case="paced", server="postgres", clients=50, delay_ms_p50=ms)
    measured = Measured(latest=Results({}, [row]))
    assert target("added latency at 10 ms a token, 50 clients, Postgres, p50").verdict(measured) == verdict


def test_a_target_without_a_measurement_is_not_met() -> None:
    assert {each.verdict(Measured()) for each in TARGETS} == {"not measured"}
    at_other_sizes = [Row(case="claim", server="postgres", size=size, took_ms_p50=1.0) for size in (100, 400)]
    assert target("claim p50, 1,000,000 queued runs against 1,000").verdict(
        Measured(large=Results({}, at_other_sizes))
    ) == ("not measured")


def test_a_ratio_is_taken_round_by_round_because_the_machine_drifts() -> None:
    """The machine became slower from round to round: of the medians the ratio would be 3, of the rounds it is 2."""
    ours, bare = flat("postgres", 10, 60, 60, 20), flat("bare", 10, 30, 20, 10)
    results = Results({}, ours + bare)
    assert ratio("events_s", ours, bare) == 2
    assert results.ratio("events_s", "flat", "postgres", "bare", 10) == 2
    assert results.median("events_s", "flat", "postgres") == 60
    assert results.ratio("events_s", "flat", "postgres", "bare", 50) is None


def test_time_over_bare_is_a_difference() -> None:
    ours, bare = flat("postgres", 1, 1, 1, first=5.0), flat("bare", 1, 1, 1, first=1.5)
    assert difference("first_ms_p50", ours, bare) == 3.5
    measured = Measured(latest=Results({}, ours + bare))
    assert target("time to the first event over bare, 1 client, Postgres").value(measured) == 3.5


def test_growth_is_large_against_small() -> None:
    sizes = {1_000: 2.0, 1_000_000: 3.0}
    rows = [Row(case="claim", server="postgres", size=size, took_ms_p50=ms) for size, ms in sizes.items()]
    measured = Measured(large=Results({}, rows))
    assert target("claim p50, 1,000,000 queued runs against 1,000").value(measured) == 1.5


def test_percentiles_are_values_that_occurred() -> None:
    values = [float(n) for n in range(100, 0, -1)]
    assert (percentile(values, 0.5), percentile(values, 0.99), percentile([7.0], 0.99)) == (51.0, 100.0, 7.0)
    assert percentile([], 0.5) is None


def test_results_survive_being_kept(tmp_path: Path) -> None:
    results = Results({"cores": "2"}, flat("bare", 10, 1234.5678901), {"someone": "could not be installed"})
    save(results, "latest", tmp_path)
    kept = load("latest", tmp_path)
    assert kept is not None
    assert (kept.machine, kept.missing, kept.rows[0].events_s) == (results.machine, results.missing, 1234.6)
    assert load("large", tmp_path) is None


def test_parts_that_are_measured_alone_keep_the_results_of_the_others() -> None:
    old = Results({"date": "2026-01-01", "cores": "4"}, [Row(case="claim", server="a"), Row(case="append", server="a")])
    new = Results({"date": "2026-02-02", "cores": "2"}, [Row(case="append", server="b")])
    both = with_others(new, old)
    found = [(row.case, row.server, row.date) for row in both.rows]
    assert found == [("claim", "a", "2026-01-01"), ("append", "b", None)]
    assert both.machine == new.machine
    again = with_others(Results({"date": "2026-03-03"}, []), both)
    assert [row.date for row in again.rows] == ["2026-01-01", "2026-02-02"]
    assert "Measured earlier: claim on 2026-01-01." in report.blocks(Measured(large=both))["large"]
    assert with_others(new, None) == new


def test_every_row_of_the_report_shows_its_number() -> None:
    measured = Measured(latest=Results({}, [*flat("bare", 10, 1000), *flat("postgres", 10, 1500)]))
    [row] = [row for row in report.rows(measured) if row[0] == AGAINST_BARE]
    assert row[1:] == ["1.50", "1.30", "2.00", "good"]
    document = "".join(f"<!-- bench:{name} -->stale<!-- /bench:{name} -->" for name in report.blocks(measured))
    text = report.written(document, report.blocks(measured))
    assert f"| {AGAINST_BARE} | 1.50 | 1.30 | 2.00 | good |" in text
    assert "stale" not in text
    with pytest.raises(ValueError, match="has no block"):
        report.written("no markers", report.blocks(measured))


def test_the_readme_says_how_many_conversations_were_held() -> None:
    held = {"bare": 600, "postgres": 405, "sqlite": 270, "postgres, two processes": 300}
    rows = [Row(case="capacity", server=server, size=size) for server, size in held.items()]
    text = report.capacity(Results({"cores": "2"}, rows))
    assert [str(size) for size in held.values() if str(size) not in text] == []
    assert report.capacity(Results({}, rows[1:])) == "Not measured yet."


def test_a_server_that_was_left_out_is_named_with_the_reason() -> None:
    rivals = Results({}, flat("bare", 1, 1000), {"some rival": "it did not start"})
    assert "Left out: some rival (it did not start)." in report.blocks(Measured(rivals=rivals))["rivals"]


def test_a_sheet_shows_medians_and_leaves_out_missing_values() -> None:
    [sheet] = sheets(Results({}, [*flat("bare", 10, 10, 20, 30), *flat("postgres", 10, 20, 40, 60)]))
    assert sheet.header == ["at once", "server", "to bare", "events/s", "first event p50 / p99 ms"]
    assert [row[1:4] for row in sheet.rows] == [["bare", "1.00", "20.0"], ["postgres", "2.00", "40.0"]]
