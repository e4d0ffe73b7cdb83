"""`search_documents("handbook")`: a tool that searches a collection which the app declares with `Documents`."""

from typing import Any

from runyard.agents.tools.tool import Tool
from runyard.agents.user_code.current_call import current_execution
from runyard.errors import ToolError

MOST = 20


def search_documents(collection: str, *, name: str = "search_documents", about: str = "") -> Tool[..., Any]:
    """Return a tool that searches one collection of documents.

    Args:
        collection: The name of a `Documents` collection of the app.
        name: The name of the tool. An agent with several such tools gives each its own.
        about: What the collection holds, for the model.

    Raises:
        ToolError: By the tool, if it is called outside a run.

    Example:
        >>> books = runyard.Documents("books", [{"id": "b1", "title": "Tea", "text": "All about tea."}])
        >>> search = runyard.search_documents("books", about="our books")
        >>> @runyard.agent
        ... async def librarian(ctx: runyard.Context) -> str:
        ...     return (await ctx.call(search, query="tea"))[0]["title"]
        >>> run_agent_sync(librarian, "tea", documents=[books]).text
        'Tea'
    """

    async def search(query: str, limit: int = 5) -> list[dict[str, Any]]:
        execution = current_execution()
        if execution is None:
            raise ToolError("Documents can be searched only inside a run.")
        hits = await execution.search(collection, query, max(1, min(limit, MOST)))
        return [{"id": hit.id, "title": hit.title, "text": hit.text} for hit in hits]

    search.__doc__ = f"""Search documents{": " + about if about else ""}. Those that fit best come first.

    Args:
        query: words to look for
        limit: how many documents to return, 20 at most
    """
    return Tool(search, name=name, effects="none")
