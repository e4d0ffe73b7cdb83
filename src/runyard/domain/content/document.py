"""Documents with full-text search."""

from msgspec import Struct


class Document(Struct, frozen=True):
    """A text in a searchable collection."""

    id: str
    title: str
    text: str


class Hit(Struct, frozen=True):
    """A document that a search found: its id, its title, its text, and how well it fits (a higher `score` is better).

    Example:
        >>> books = runyard.Documents("books", [{"id": "b1", "title": "Tea", "text": "All about tea."}])
        >>> @runyard.agent
        ... async def librarian(ctx: runyard.Context) -> runyard.Output:
        ...     hits: list[runyard.Hit] = list(await ctx.search("books", ctx.message.text))
        ...     return runyard.Output(hits[0].text, sources=[hit.id for hit in hits])
        >>> result = run_agent_sync(librarian, "tea", documents=[books])
        >>> result.text, result.sources
        ('All about tea.', ['b1'])
    """

    id: str
    title: str
    text: str
    score: float
