"""The order of tests under xdist: long tests begin first, so that no process works alone at the end.

xdist gives each worker an equal share of the tests, one after the other, and idle workers take from the end of the
longest share. So the longest tests go to the beginning of the shares. Those that load all cores, or measure time, share
one worker: they do not run beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import pytest

# Above about ten seconds; the summary of `make test` shows the slowest. Each is a file, or the beginning of an id.
ALONE = (
    "tests/flow/waits/test_ten_thousand_sleepers.py",
    "tests/flow/waits/test_waiting_survives_restarts.py",
    "tests/flow/chaos/test_chaos.py",
    "tests/bench/test_bench_runs.py",
)
BESIDE = (
    "tests/web/requests/test_any_request.py",
    "tests/unit/api/test_types_at_the_front_door.py",
    "tests/flow/pods/test_a_deployment_comes_up.py",
    "tests/store/agreement/test_stores_agree.py",
    "tests/cli/start/test_dev_reload.py",
    "tests/flow/outages/test_a_silent_network.py",
    "tests/web/requests/test_odd_ids.py",
    "tests/web/access/test_two_owners.py",
    "tests/web/access/test_access.py",
    "tests/flow/executors/test_celery_executes_runs.py",
    "tests/flow/agents/test_agents_of_other_frameworks.py",
    "tests/clients/every/test_tools_and_questions_over_cuts.py",
    "tests/clients/every/test_keys.py",
    "tests/clients/every/test_heartbeats.py",
)


def in_shares(ids: Sequence[str], workers: int) -> list[int]:
    """Return the places of these tests in the order in which they should stand."""
    places = range(len(ids))
    if workers < 2:
        return list(places)
    alone = [place for place in places if ids[place].startswith(ALONE)]
    beside = sorted((place for place in places if ids[place].startswith(BESIDE)), key=lambda place: _rank(ids[place]))
    others = iter(sorted({*places} - {*alone} - {*beside}))
    first = [alone, *(beside[number :: workers - 1] for number in range(workers - 1))]
    ordered: list[int] = []
    for number, long in enumerate(first):
        size = (len(ids) - len(ordered)) // (workers - number)  # as xdist divides them
        ordered += long
        ordered += islice(others, max(0, size - len(long)))
    return [*ordered, *others]


def _rank(test_id: str) -> int:
    return next(number for number, beginning in enumerate(BESIDE) if test_id.startswith(beginning))


def put_long_tests_first(config: pytest.Config, items: list[pytest.Item]) -> None:
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    items[:] = [items[place] for place in in_shares([item.nodeid for item in items], workers)]
