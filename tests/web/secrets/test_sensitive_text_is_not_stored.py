"""With redaction on, no column, no stream and no agent gets sensitive text: only the name of its pattern."""

from pathlib import Path

import pytest

from runyard.encryption.cipher import make
from runyard.errors import StartupError
from runyard.settings import Settings
from tests.support.in_process.live_server import QUICK, Serve, served
from tests.web.secrets.content_app import content_app, write_everywhere
from tests.web.secrets.stored_text import columns_with, files_with

MAIL = "zqann.lee@example.com"
TICKET = "ZQ-12345"


@pytest.mark.req("S1.48")
async def test_no_column_holds_it_and_clients_see_its_name(database_url: str, tmp_path: Path) -> None:
    settings = Settings(database_url=database_url, redact="email, card", **QUICK)
    async with served(settings, content_app(MAIL)) as server:
        runs = await write_everywhere(server, MAIL, in_file="the bytes of files are not read")
        await server.process.checkpoints.round()
        logs = {run_id: await server.log(run_id) for run_id in runs}
        chat = (await server.http.get("/chats/c1")).text
        listed = (await server.http.get("/api/runs")).text
    assert await columns_with(MAIL, database_url) == set()
    assert files_with(MAIL, tmp_path) == set()
    for log in logs.values():
        assert "[email]" in str(log)
        for kind in ("model.token", "model.thinking", "tool.output"):
            assert MAIL not in "".join(event["data"]["text"] for event in log if event["type"] == kind)
    assert "do [email]" in chat
    assert "it broke over [email]" in listed


@pytest.mark.req("S1.48")
async def test_without_it_the_same_search_finds_it(database_url: str) -> None:
    async with served(Settings(database_url=database_url, **QUICK), content_app(MAIL)) as server:
        await write_everywhere(server, MAIL)
    assert {"run_events.data", "messages.text", "waits.input"} <= await columns_with(MAIL, database_url)


@pytest.mark.req("S1.48")
@pytest.mark.parametrize("backend", ["sqlite"])
async def test_the_tool_and_the_model_are_given_what_is_stored(serve: Serve) -> None:
    server = await serve(content_app(TICKET), redact_patterns={"ticket": r"\bZQ-\d+\b"}, encryption_keys=make("k1"))
    thinker = (await write_everywhere(server, TICKET))[-1]
    log = await server.log(thinker)
    started = [event["data"]["input"] for event in log if event["type"] == "tool.started"]
    assert started == [{"what": "[ticket]"}, {"what": "[ticket]"}, {"what": "edited [ticket]"}]
    finished = [event["data"]["output"] for event in log if event["type"] == "tool.finished"]
    assert finished[0] == {"found": ["[ticket]", "[ticket]"]}
    assert {"Error executing tool: cannot [ticket]", "did edited [ticket] with [ticket]"} <= set(finished[1:])
    [decided] = [event["data"] for event in log if event["type"] == "approval.decided"]
    assert decided["reason"] == "because [ticket]"
    [output] = [event["data"]["text"] for event in log if event["type"] == "run.output"]
    assert output.endswith("It is [ticket].")


@pytest.mark.req("S1.48")
def test_the_settings_refuse_what_cannot_be_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUNYARD_REDACT", "email,nmae")
    with pytest.raises(StartupError, match="RUNYARD_REDACT has the unknown name 'nmae'; choose from"):
        Settings()
    monkeypatch.setenv("RUNYARD_REDACT", "email, iban")
    (tmp_path / "runyard.toml").write_text('[redact_patterns]\nticket = "(T-\\\\d+"\n')
    with pytest.raises(StartupError, match=r"redact_patterns in runyard.toml has an invalid pattern 'ticket'"):
        Settings()
    (tmp_path / "runyard.toml").write_text('[redact_patterns]\nticket = "T-\\\\d+"\n')
    redactor = Settings().redactor
    assert redactor.is_on
    assert redactor.text("T-17 of a@b.co, card 4111111111111111") == "[ticket] of [email], card 4111111111111111"


def test_redaction_and_encryption_are_off_by_default() -> None:
    settings = Settings()
    assert not settings.redactor.is_on
    assert settings.encryption_key_ring is None


@pytest.mark.req("S1.48")
def test_no_message_and_no_repr_shows_an_encryption_key(monkeypatch: pytest.MonkeyPatch) -> None:
    key = make("k1")
    assert key[3:] not in repr(Settings(encryption_keys=key))
    monkeypatch.setenv("RUNYARD_ENCRYPTION_KEYS", key + "x")
    with pytest.raises(StartupError, match="RUNYARD_ENCRYPTION_KEYS must be keys like") as refused:
        Settings()
    assert key[3:] not in refused.value.message
