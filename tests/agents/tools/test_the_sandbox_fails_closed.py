"""If the sandbox does not hold, no code is run. Each barrier is removed once, and the self-test must notice."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from runyard.agents.sandbox import bubblewrap, seccomp, supervise
from runyard.agents.sandbox.sandbox import Sandbox
from runyard.errors import NoSandbox
from tests.agents.tools.conftest import Home, ready

pytestmark = pytest.mark.req("S1.46")


async def test_without_bubblewrap_code_is_refused_in_one_sentence() -> None:
    sandbox = Sandbox(bwrap="no-such-bwrap")
    with pytest.raises(NoSandbox) as caught:
        await sandbox.run("print(1)")
    assert caught.value.message == (
        "This machine has no working sandbox, so no code is run: "
        "bubblewrap is not installed (Debian, Ubuntu: apt install bubblewrap)."
    )
    assert caught.value.code == "no_sandbox"


async def test_a_machine_without_user_namespaces_is_refused(tmp_path: Path) -> None:
    """A fake bwrap that fails like the real one on such a machine."""
    await ready()
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    for path in (broken, tmp_path, *tmp_path.parents):
        if path.owner() == "root" and os.geteuid() == 0 and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o111)
    broken.chmod(0o755)
    with pytest.raises(NoSandbox, match="user namespaces are allowed"):
        await Sandbox(bwrap=str(broken)).run("print(1)")


async def test_the_system_calls_of_user_namespaces_may_be_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real bwrap, inside a bwrap that allows no further user namespaces."""
    await ready()
    inside = ["bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--", "bwrap"]
    real = bubblewrap.command

    def nested(bwrap: str, *rest: object) -> list[str]:
        words = real(bwrap, *rest)  # type: ignore[arg-type]
        at = words.index(bwrap)
        return [*words[:at], *inside, *words[at + 1 :]]

    monkeypatch.setattr("runyard.agents.sandbox.sandbox.command", nested)
    assert await Sandbox().unavailable_reason() is not None


@pytest.mark.parametrize(
    ("without", "can"),
    [
        (["--unshare-net"], "see a network"),
        (["--unshare-pid"], "not be run"),
        (["--remount-ro", "/"], None),
    ],
    ids=["network", "processes", "root"],
)
async def test_a_missing_barrier_is_noticed(
    monkeypatch: pytest.MonkeyPatch, without: list[str], can: str | None
) -> None:
    await ready()
    real = bubblewrap.command

    def weaker(*rest: object) -> list[str]:
        words = real(*rest)  # type: ignore[arg-type]
        at = next(n for n in range(len(words)) if words[n : n + len(without)] == without)
        return words[:at] + words[at + len(without) :]

    monkeypatch.setattr("runyard.agents.sandbox.sandbox.command", weaker)
    reason = await Sandbox().unavailable_reason()
    if can is None:
        assert reason is None, "the other walls stand"
    else:
        assert reason is not None
        assert can in reason


async def test_host_files_inside_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    await ready()
    monkeypatch.setattr(bubblewrap, "_SYSTEM", (*bubblewrap._SYSTEM, "/etc"))
    assert await Sandbox().unavailable_reason() == "a program in it could read the host's /etc/passwd"


async def test_a_secret_file_inside_is_noticed(monkeypatch: pytest.MonkeyPatch, home: Home) -> None:
    await ready()
    real = bubblewrap.command

    def open_door(*rest: object) -> list[str]:
        words = real(*rest)  # type: ignore[arg-type]
        at = words.index("--remount-ro")
        return [*words[:at], "--ro-bind", str(home.folder), str(home.folder), *words[at:]]

    monkeypatch.setattr("runyard.agents.sandbox.sandbox.command", open_door)
    assert await Sandbox().unavailable_reason() == "a program in it could read a file of the host"


async def test_nested_namespaces_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    await ready()
    real = bubblewrap.command

    def nested(*rest: object) -> list[str]:
        return [word for word in real(*rest) if word != "--disable-userns"]  # type: ignore[arg-type]

    monkeypatch.setattr("runyard.agents.sandbox.sandbox.command", nested)
    assert await Sandbox().unavailable_reason() is None, "the filter alone forbids it"
    allow = seccomp.program()[-24:-16]  # only the instruction that allows every call
    monkeypatch.setattr(seccomp, "program", lambda: allow)
    assert await Sandbox().unavailable_reason() == "a program in it could make a namespace"


async def test_the_self_test_runs_once() -> None:
    sandbox = await ready()
    sandbox._bwrap = "gone"
    assert await sandbox.unavailable_reason() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its user")
async def test_the_sandbox_also_works_without_root(tmp_path: Path, home: Home) -> None:
    await ready()
    home.folder.chmod(0o777)
    script = home.folder / "try.py"
    script.write_text(
        "import asyncio, os, sys\n"
        f"sys.path[:0] = {[path for path in sys.path if path]!r}\n"
        "from runyard.agents.sandbox.sandbox import Sandbox\n"
        "from runyard.agents.sandbox.bubblewrap import Limits\n"
        "import structlog\n"
        "bomb = '''\n"
        "import os, time\n"
        "made = 0\n"
        "try:\n"
        "    for _ in range(99):\n"
        "        if os.fork() == 0: time.sleep(9)\n"
        "        made += 1\n"
        "except BlockingIOError: pass\n"
        "print(made, os.getuid(), flush=True)\n"
        "'''\n"
        "os.setgroups([]); os.setgid(65533); os.setuid(65533)\n"  # after the imports, which may be closed to that user
        "async def main():\n"
        "    sandbox = Sandbox(Limits(processes=12))\n"
        "    print(await sandbox.unavailable_reason(), await sandbox.run(bomb))\n"
        "asyncio.run(main())\n"
    )
    script.chmod(0o755)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(script)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd="/",
        env={"PATH": os.environ["PATH"], "TMPDIR": str(home.folder), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    told, complaint = await process.communicate()
    script.unlink()
    verdict, _, ended = told.decode().splitlines()[-1].partition(" ")
    assert verdict == "None", complaint.decode()
    made, uid = ended.split("output='")[1].split("\\n")[0].split()
    assert int(made) < 12
    assert uid == "65533"


def test_a_supervisor_outside_its_namespace_ends_no_foreign_process() -> None:
    """The supervisor finally kills all processes that it can see, so it must refuse to start elsewhere."""
    ended = subprocess.run(
        [sys.executable, supervise.__file__, "1", "1000", "10", "keep", "/bin/true"], capture_output=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (supervise.NOT_ALONE, b"")
