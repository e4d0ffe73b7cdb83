"""The first question to a model imports litellm in a thread, in processes that did not import it before."""

import importlib
import threading
from typing import Any

import pytest

from runyard.models import loading
from runyard.models.litellm import LitellmModel
from runyard.models.model import Finished, Request
from tests.support.fakes.scripted_openai import begin, end, scripted_openai, text


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A process that has not imported litellm: whether each import ran on the main thread, which has the loop."""
    found: list[bool] = []
    import_module = importlib.import_module

    def recorded(name: str, package: str | None = None) -> Any:
        if name == "litellm":
            found.append(threading.current_thread() is threading.main_thread())
        return import_module(name, package)

    monkeypatch.setattr(importlib, "import_module", recorded)
    monkeypatch.setattr(loading, "_future", None)
    loading.load.cache_clear()
    return found


async def test_the_first_questions_import_litellm_once_and_never_on_the_loop(imported: list[bool]) -> None:
    counts: list[int] = []
    async with scripted_openai() as server:
        for _ in range(2):
            server.answer(begin(), *text("hello"), *end())
            options = {"api_base": server.api_base, "api_key": "sk-test"}
            request = Request(model="openai/scripted", messages=[{"role": "user", "content": "hi"}], options=options)
            pieces = [piece async for piece in LitellmModel().stream(request)]
            assert isinstance(pieces[-1], Finished)
            counts.append(len(imported))
    assert imported
    assert not any(imported)
    assert counts[0] == counts[1], "the second question imports nothing"
