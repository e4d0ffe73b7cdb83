"""`runyard keys`, and servers that need one: every server except `dev` on a loopback address."""

import json
import os
import re
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from runyard.client import Client
from runyard.errors import KeyRequired, ScopeMissing
from tests.cli.cli_process import environment, runyard
from tests.cli.forked_commands import start
from tests.support.eventually import PATIENCE

pytestmark = pytest.mark.flow


@contextmanager
def started(folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> "Iterator[tuple[str, list[str]]]":
    """A server on a free port: its address, and what it has said so far."""
    reader, writer = os.pipe()
    variables = environment(RUNYARD_DRAIN_SECONDS="0.1", **(env or {}))
    with open(os.devnull, "rb") as stdin:
        process = start([*arguments, "--port", "0"], folder, variables, stdin.fileno(), writer, writer)
    os.close(writer)
    stdout = os.fdopen(reader)
    said: list[str] = []
    try:
        for line in stdout:
            said.append(line)
            if ready := re.search(r"is ready at (http://\S+)|\"url\": \"(http://[^\"]+)\".*server\.started", line):
                yield ready[1] or ready[2], said
                break
        else:
            raise AssertionError("".join(said))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
        process.close()
        said += stdout
        stdout.close()


def made(folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    done = runyard(folder, "keys", "create", *arguments, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


async def test_serve_needs_a_key_from_the_first_to_the_last(tmp_path: Path) -> None:
    with started(tmp_path, "serve") as (url, said):
        assert httpx2.get(f"{url}/api/runs").status_code == 401
        without_key = runyard(tmp_path, "keys", "create", "--owner", "ann", env={"RUNYARD_URL": url})
        assert (without_key.returncode, without_key.stdout) == (1, "")
        assert "set RUNYARD_API_KEY" in without_key.stderr
    assert len([line for line in said if "api_keys.missing" in line and "runyard keys create --owner" in line]) == 1

    root = made(tmp_path, "--owner", "root", "--scope", "all")
    with started(tmp_path, "serve") as (url, said):
        assert not any("api_keys.missing" in line for line in said)
        env = {"RUNYARD_URL": url, "RUNYARD_API_KEY": root}
        ann = made(tmp_path, "--owner", "ann", "--label", "laptop", "--expires", "90d", env=env)
        async with Client(url, api_key=ann) as client:
            run = await client.post(await client.create_thread(), "hi")
            assert [event.type async for event in client.follow(run)][-1] == "run.finished"
            with pytest.raises(ScopeMissing, match="`operate`"):
                await client.create_key("ann")
        async with Client(url) as client:
            with pytest.raises(KeyRequired):
                await client.run(run)

        assert run in runyard(tmp_path, "runs", "list", env={**env, "RUNYARD_API_KEY": ann}).stdout
        assert "No runs" in runyard(tmp_path, "runs", "list", env=env).stdout
        refused = runyard(tmp_path, "runs", "list", env={"RUNYARD_URL": url})
        assert refused.returncode == 1
        assert "runyard keys create" in refused.stderr

        rows = json.loads(runyard(tmp_path, "keys", "list", "--json", env=env).stdout)
        assert [(row["owner"], row["label"]) for row in rows] == [("ann", "laptop"), ("root", "")]
        listed = runyard(tmp_path, "keys", "list", "--owner", "ann", env=env).stdout
        assert "valid for 8" in listed
        assert "root" not in listed
        for secret in (root, ann):
            assert secret.rpartition("_")[2] not in json.dumps(rows) + listed

        gone = runyard(tmp_path, "keys", "revoke", rows[0]["key_id"], env=env)
        assert gone.stdout == f"{rows[0]['key_id']} is revoked.\n"
        assert httpx2.get(f"{url}/api/runs", headers={"X-API-Key": ann}).status_code == 401
        assert "revoked" in runyard(tmp_path, "keys", "list", env=env).stdout
    for secret in (root, ann):
        assert secret.rpartition("_")[2] not in "".join(said)

    own = runyard(tmp_path, "runs", "list", env={"RUNYARD_API_KEY": root, "RUNYARD_URL": "http://127.0.0.1:9"})
    assert "No runs" in own.stdout
    used = json.loads(runyard(tmp_path, "keys", "list", "--json").stdout)
    assert all(row["last_used_at"] for row in used)


def test_dev_needs_no_key_on_a_loopback_address_alone(tmp_path: Path) -> None:
    with started(tmp_path, "dev") as (url, said):
        assert httpx2.get(f"{url}/api/runs").status_code == 200
        assert not any("key" in line for line in said)
        for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            assert httpx2.post(f"{url}/api/threads", headers=headers).status_code == 403
    with started(tmp_path, "dev", "--host", "localhost") as (url, _):
        assert httpx2.get(f"{url}/metrics").status_code == 200
    for arguments, env in (
        (["dev", "--host", "0.0.0.0"], {}),
        (["dev"], {"RUNYARD_HOST": "0.0.0.0"}),
        (["serve", "--host", "127.0.0.1"], {}),
    ):
        with started(tmp_path, *arguments, env=env) as (url, said):
            assert httpx2.get(f"{url}/api/runs").status_code == 401
        assert any("runyard keys create" in line for line in said)


def test_on_postgres_keys_are_made_while_servers_run(tmp_path: Path, pg_database: str) -> None:
    env = {"RUNYARD_DATABASE_URL": pg_database}
    with started(tmp_path, "serve", env=env) as (url, _):
        key = made(tmp_path, "--owner", "local", env=env)
        assert httpx2.get(f"{url}/api/runs", headers={"X-API-Key": key}).status_code == 200
        assert "revoked" in runyard(tmp_path, "keys", "revoke", key.split("_")[1], env=env).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["create", "--owner", "a b"], "--owner must have 1 to 128 letters"),
        (["create", "--owner", "ann", "--scope", "everything"], "--scope must be read, write, approve, operate or all"),
        (["create", "--owner", "ann", "--expires", "soon"], "--expires must be a time like 30m, 12h or 90d"),
        (["revoke", "without_keys"], "There is no API key with that id"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, arguments: list[str], says: str) -> None:
    done = runyard(tmp_path, "keys", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_key_in_the_settings_is_never_shown(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as without_key:
        url = f"http://127.0.0.1:{without_key.getsockname()[1]}"
    for key in ("xMARKERx", "ry_xMARKERx", f"ry_aaaaaaaaaaaa_{'xMARKERx' * 6}"[:59]):
        env = {"RUNYARD_API_KEY": key, "RUNYARD_URL": url, "RUNYARD_DEBUG": "1", "COLUMNS": "500"}
        for verb in (["runs", "list"], ["keys", "list"], ["doctor"]):
            done = runyard(tmp_path, *verb, env=env)
            assert "xMARKERx" not in done.stdout + done.stderr
    wrong = runyard(tmp_path, "runs", "list", env={"RUNYARD_API_KEY": "xMARKERx"})
    assert wrong.stderr == "runyard: RUNYARD_API_KEY must be a key as `runyard keys create` prints it.\n"
