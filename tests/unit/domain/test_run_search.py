"""A search of runs by time, cost and a part of the id reads a bounded number of runs and continues where it stopped."""

from collections.abc import Sequence
from uuid import UUID

import pytest

from runyard.domain.events.base import Usage
from runyard.domain.runs.run import Run, Status
from runyard.engine.queries.run_search import MOST_READ, RunSearch, search_runs

COUNT = 5_000


def a_run(number: int) -> Run:
    """The run that was made at this millisecond. Every thousandth costs a dollar."""
    usage = Usage(usd=1.0) if number % 1000 == 0 else None
    made = str(UUID(int=(number << 80) | (7 << 76) | (2 << 62) | number))
    return Run(
        id=made, owner="ann", face="native", lane_key="l", pos=1, agent="a", status=Status.DONE, created_at=number,
        usage=usage,
    )  # fmt: skip


NEWEST_FIRST = [a_run(number) for number in range(COUNT, 0, -1)]


async def read(before: str | None, limit: int) -> Sequence[Run]:
    return [run for run in NEWEST_FIRST if before is None or run.id < before][:limit]


async def every(wanted: RunSearch, limit: int) -> list[int]:
    found: list[int] = []
    before: str | None = None
    while True:
        page = await search_runs(read, wanted, before, limit)
        assert len(page.runs) <= limit
        found += [run.created_at for run in page.runs]
        if page.next is None:
            return found
        before = page.next


async def test_pages_have_every_run_that_fits_once() -> None:
    assert await every(RunSearch(min_usd=0.5), 2) == [5000, 4000, 3000, 2000, 1000]
    assert await every(RunSearch(min_usd=2.0), 2) == []
    assert await every(RunSearch(since=4_990, min_usd=0.5), 50) == [5000]
    assert await every(RunSearch(since=4_998), 2) == [5000, 4999, 4998]
    assert await every(RunSearch(id_part=NEWEST_FIRST[3].id[-8:]), 50) == [4997]
    assert await every(RunSearch(id_part=NEWEST_FIRST[-1].id[:13]), 50) == [1]
    assert len(await every(RunSearch(), 50)) == COUNT


async def test_one_search_reads_a_bounded_number_of_runs() -> None:
    count = 0

    async def counted(before: str | None, limit: int) -> Sequence[Run]:
        nonlocal count
        page = await read(before, limit)
        count += len(page)
        return page

    found = await search_runs(counted, RunSearch(min_usd=2.0), None, 50)
    assert (found.runs, count) == ([], MOST_READ)
    assert found.next == NEWEST_FIRST[MOST_READ - 1].id


@pytest.mark.parametrize("limit", [1, 50])
async def test_without_conditions_one_page_is_read(limit: int) -> None:
    sizes: list[int] = []

    async def counted(before: str | None, limit: int) -> Sequence[Run]:
        sizes.append(limit)
        return await read(before, limit)

    found = await search_runs(counted, RunSearch(), None, limit)
    assert (len(found.runs), sizes, found.next) == (limit, [limit], found.runs[-1].id)
