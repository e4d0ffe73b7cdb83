"""Programs that try to get out. Each must fail inside and leave no process behind.

Every attempt is made against something that is really there: a file that can be read outside, a server that answers
outside, a process that could be killed outside.
"""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from runyard.agents.sandbox import seccomp
from runyard.agents.sandbox.sandbox import ProgramEnd, Sandbox
from tests.agents.tools.conftest import Home, ask, ready
from tests.support.eventually import PATIENCE

pytestmark = pytest.mark.req("S1.46")
MIB = 1024 * 1024


# --- what is outside -------------------------------------------------------------------------------------------------


async def test_a_program_runs_and_returns_its_exit_code(sandbox: Sandbox) -> None:
    assert await sandbox.run("print(6 * 7)") == ProgramEnd(0, None, "42\n")
    assert (await sandbox.run("raise SystemExit(3)")).code == 3
    assert "ZeroDivisionError" in (await sandbox.run("1 / 0")).output


async def test_there_is_no_network(sandbox: Sandbox) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()
    async with server:
        refused = "PermissionError" if seccomp.program() else "ConnectionRefusedError"
        assert await ask(sandbox, f"socket.create_connection(('127.0.0.1', {port}), 2)") == refused
    for address in ("192.0.2.1", "169.254.169.254"):
        refused = "PermissionError" if seccomp.program() else "OSError"
        assert await ask(sandbox, f"socket.create_connection(('{address}', 80), 2)") == refused
    assert await ask(sandbox, "socket.getaddrinfo('example.com', 80)") == "gaierror"
    assert await ask(sandbox, "[line.split(':')[0].strip() for line in open('/proc/net/dev')][2:]") == ["lo"]


async def test_only_pairs_of_unix_sockets_can_be_made(sandbox: Sandbox) -> None:
    """The sockets are only created: a family whose socket cannot be created reaches nothing."""
    if not seccomp.program():
        pytest.skip("no filter for this processor")
    every = "[f for f in range(46) for kind in (1, 2, 3, 5) if works(lambda: socket.socket(f, kind))]"
    pairs = "sorted({f for f in range(46) for kind in (1, 2, 5) if works(lambda: socket.socketpair(f, kind))})"
    helper = "works = lambda attempt: not isinstance(tried(attempt), OSError)"
    ended = await sandbox.run(f"""
import asyncio, socket
def tried(attempt):
    try:
        return attempt()
    except OSError as error:
        return error
{helper}
print({every}, {pairs}, works(lambda: asyncio.run(asyncio.sleep(0))))
""")
    assert ended.output == "[] [1] True\n", "not even AF_VSOCK (40) or AF_INET (2)"
    large = "(lambda pair: pair[0].setsockopt(socket.SOL_SOCKET, {option}, 2**24))(socket.socketpair())"
    for option in ("socket.SO_SNDBUF", "socket.SO_RCVBUF", "32", "33"):
        assert await ask(sandbox, large.format(option=option)) == "PermissionError"


async def test_files_of_the_host_are_not_there(sandbox: Sandbox, tmp_path: Path) -> None:
    database = tmp_path / "runyard.db"
    database.write_text("secret")
    database.chmod(0o644)
    project = str(Path(__file__).parents[3])
    others = ["/etc/passwd", "/etc/shadow", "/root", "/home", "/var", "/sys", "/run", "/usr/local", "/usr/src"]
    paths = [str(database), project, sys.prefix, *others, "/proc/1/root/etc"]
    assert await ask(sandbox, f"[path for path in {paths!r} if os.path.lexists(path)]") == []
    assert await ask(sandbox, "sorted(os.listdir('/tmp'))") == []
    assert await ask(sandbox, "open('/proc/kcore', 'rb').read(1)") in ("PermissionError", "FileNotFoundError")


async def test_nothing_can_be_written_but_its_own_folder(sandbox: Sandbox) -> None:
    places = ["/x", "/usr/x", "/usr/bin/x", "/usr/lib/x", "/dev/x", "/program/main.py", "/proc/x", "/work/mine"]
    ended = await sandbox.run(f"""
for path in {places}:
    try:
        open(path, 'w')
    except OSError:
        continue
    print(path)
""")
    assert ended.output == "/work/mine\n"


async def test_a_program_has_no_capabilities_and_is_not_root(sandbox: Sandbox) -> None:
    status = await ask(sandbox, "open('/proc/self/status').read()")
    assert isinstance(status, str)
    lines = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {int(lines[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert lines["NoNewPrivs"] == "1"
    assert lines["Uid"].split()[0] != "0"
    assert lines["Groups"].strip() in ("", lines["Gid"].split()[0], "65534")
    assert lines["Seccomp"] == ("2" if seccomp.program() else "0")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give it another user")
async def test_programs_at_the_same_time_are_different_users() -> None:
    sandbox = await ready()
    sandbox = Sandbox(sandbox.limits, places=3)
    met = "import os, time; print(os.getuid(), flush=True); time.sleep(0.5)"
    ended = await asyncio.gather(*(sandbox.run(met) for _ in range(3)))
    uids = {int(one.output) for one in ended}
    assert len(uids) == 3
    assert 0 not in uids


async def test_the_environment_is_empty_of_secrets(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVIDER_API_KEY", "sk-secret")
    files = "[p for p in glob.glob('/proc/[0-9]*/environ') if os.access(p, os.R_OK)]"  # the supervisor's is closed
    everywhere = f"''.join(open(p).read() for p in {files}) + repr(dict(os.environ))"
    seen = await ask(sandbox, everywhere)
    assert isinstance(seen, str)
    assert "PATH" in seen
    assert "sk-secret" not in seen
    assert "API_KEY" not in seen


async def test_no_descriptor_of_the_server_is_open(sandbox: Sandbox) -> None:
    assert await ask(sandbox, "[f for f in range(3, 256) if os.path.exists(f'/proc/self/fd/{f}')]") == []


# --- other processes -------------------------------------------------------------------------------------------------


async def test_processes_of_the_host_are_neither_seen_nor_signalled(sandbox: Sandbox) -> None:
    bystander = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    pids = await ask(sandbox, "sorted(int(p) for p in os.listdir('/proc') if p.isdigit())")
    assert pids == [1, 2, 3], "bubblewrap, the supervisor and the program"
    assert await ask(sandbox, f"os.kill({bystander.pid}, 9)") == "ProcessLookupError"
    # all processes except itself; inside there is only bubblewrap
    await sandbox.run("import os, signal; signal.signal(15, signal.SIG_IGN); os.kill(-1, 15)")
    assert bystander.returncode is None
    bystander.kill()
    await bystander.wait()


async def test_no_namespace_can_be_made_inside(sandbox: Sandbox) -> None:
    flags = (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x10020000)
    assert await ask(sandbox, f"[ctypes.CDLL(None).unshare(flag) for flag in {flags}]") == [-1] * 5
    # by clone as well, which the filter lets pass because threads need it
    call = "ctypes.CDLL(None, use_errno=True).syscall(56, 0x10000000 | 17, 0, 0, 0, 0)"
    assert await ask(sandbox, f"({call}, ctypes.get_errno())[0]") == -1
    assert await ask(sandbox, "subprocess.run(['unshare', '-Ur', 'true'], capture_output=True).returncode") != 0


async def test_calls_that_no_program_needs_are_refused(sandbox: Sandbox) -> None:
    if not seccomp.program():
        pytest.skip("no filter for this processor")
    assert await ask(sandbox, "os.memfd_create('x')") == "PermissionError"
    assert await ask(sandbox, "(ctypes.CDLL(None).ptrace(0, 0, 0, 0))") == -1
    assert await ask(sandbox, "ctypes.CDLL(None).shmget(0, 4096, 0o1600)") == -1
    assert await ask(sandbox, "ctypes.CDLL(None).mount(b'x', b'/work', b'tmpfs', 0, 0)") == -1


def test_a_processor_that_is_not_known_has_no_filter() -> None:
    assert seccomp.program("z80") == b""
    assert len(seccomp.program("aarch64")) == len(seccomp.program("x86_64"))


async def test_background_processes_are_killed() -> None:
    sandbox = await ready()
    # into the background twice, in a separate session, with everything closed
    program = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 100)
        os.execv('/usr/bin/sleep', ['sleep', '60'])
    os._exit(0)
time.sleep(0.2)
print(os.path.exists('/proc/4'), flush=True)
"""
    ended = await sandbox.run(program)
    assert (ended.code, ended.output) == (0, "True\n")


# --- when the server dies --------------------------------------------------------------------------------------------


async def test_a_program_dies_with_the_server(tmp_path: Path, home: Home) -> None:
    await ready()
    script = tmp_path / "server.py"
    script.write_text(
        "import asyncio\n"
        "from runyard.agents.sandbox.sandbox import Sandbox\n"
        "async def on_output(text): print(text, flush=True)\n"
        'program = \'import os, time; print(1, flush=True); os.execv("/usr/bin/sleep", ["sleep", "60"])\'\n'
        "asyncio.run(Sandbox().run(program, on_output=on_output))\n"
    )
    server = await asyncio.create_subprocess_exec(
        sys.executable, str(script), stdout=asyncio.subprocess.PIPE, env=dict(os.environ) | {"TMPDIR": str(home.folder)}
    )
    assert server.stdout is not None
    while await asyncio.wait_for(server.stdout.readline(), PATIENCE) != b"1\n":
        assert server.returncode is None
    assert home.inhabitants() != []
    server.kill()
    await server.wait()
    for _ in range(500):
        if not home.inhabitants():
            break
        await asyncio.sleep(0.02)  # waits on purpose: the kernel sends no signal
    assert home.inhabitants() == []
    shutil.rmtree(next(home.folder.iterdir()))  # a killed server leaves it behind
