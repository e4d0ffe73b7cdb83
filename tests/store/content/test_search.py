"""Search returns the documents that contain any word of the query, best first. Any text is a valid query."""

import asyncio

import pytest

from runyard.store import Document, Store

CVS = [
    Document("cv_001", "Ada Marsh", "Python developer in Lisbon, six years of Postgres"),
    Document("cv_002", "Ben Okafor", "Gardener in Leeds who grows roses"),
    Document("cv_003", "Cleo Brandt", "Data engineer in Leeds, Python and Kafka pipelines"),
]


async def found(store: Store, query: str, limit: int = 10, collection: str = "cvs") -> list[str]:
    return [hit.id for hit in await store.search(collection, query, limit)]


@pytest.fixture(autouse=True)
async def _documents(store: Store) -> None:
    await store.put_documents("cvs", CVS)


async def test_any_word_of_the_query_is_enough(store: Store) -> None:
    assert sorted(await found(store, "python roses")) == ["cv_001", "cv_002", "cv_003"]
    assert await found(store, "gardener or astronaut") == ["cv_002"]


async def test_the_best_comes_first(store: Store) -> None:
    assert (await found(store, "python leeds"))[0] == "cv_003"
    hits = await store.search("cvs", "python leeds", 10)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_case_does_not_matter(store: Store) -> None:
    assert await found(store, "KAFKA") == await found(store, "kafka") == ["cv_003"]


async def test_the_title_counts_too(store: Store) -> None:
    assert await found(store, "okafor") == ["cv_002"]


async def test_a_hit_carries_the_whole_document(store: Store) -> None:
    [hit] = await store.search("cvs", "roses", 10)
    assert (hit.id, hit.title, hit.text) == ("cv_002", "Ben Okafor", "Gardener in Leeds who grows roses")
    assert hit.score > 0


async def test_pods_that_start_together_put_the_same_documents_there(store: Store) -> None:
    for collection in ("papers", "letters"):
        await asyncio.gather(*[store.put_documents(collection, CVS) for _ in range(8)])
        assert await found(store, "roses", collection=collection) == ["cv_002"]


async def test_no_more_than_the_limit_is_found(store: Store) -> None:
    assert len(await found(store, "python leeds roses", limit=2)) == 2


async def test_words_in_no_document_find_nothing(store: Store) -> None:
    assert await found(store, "astronaut") == []


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        '"',
        '"roses',
        "roses*",
        "(roses",
        "roses AND",
        "NOT roses",
        "NEAR(roses",
        "title:roses",
        "roses -- ; drop table",
        "a & | ! <-> :* b",
        "%_",
        "'",
        "''roses''",
        "\\",
        "\0",
        "roses\0",
        "\ud800",
        "\U0001f339",
        "?" * 100,
        "rose " * 2000,
    ],
)
async def test_any_text_is_a_valid_query(store: Store, query: str) -> None:
    hits = await found(store, query)
    if "roses" in query:
        assert "cv_002" in hits


async def test_putting_documents_replaces_the_collection(store: Store) -> None:
    await store.put_documents("cvs", [Document("cv_009", "Dan", "Roses and Python")])
    assert await found(store, "python roses leeds") == ["cv_009"]
    await store.put_documents("cvs", [])
    assert await found(store, "python") == []


async def test_collections_are_apart(store: Store) -> None:
    await store.put_documents("notes", [Document("cv_001", "Note", "Buy roses")])
    assert await found(store, "roses", collection="notes") == ["cv_001"]
    assert await found(store, "roses") == ["cv_002"]
    await store.put_documents("notes", [])
    assert await found(store, "roses") == ["cv_002"]
    assert await found(store, "roses", collection="nowhere") == []


async def test_documents_are_found_by_their_ids_in_every_collection(store: Store) -> None:
    note = Document("cv_001", "Note", "Buy roses")
    await store.put_documents("notes", [note])
    found = await store.get_documents(["cv_003", "cv_001", "cv_404", "'; \\\" {}"])
    assert found == [("cvs", CVS[0]), ("notes", note), ("cvs", CVS[2])]
    assert await store.get_documents([]) == []
    await store.put_documents("notes", [])
