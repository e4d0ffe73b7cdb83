"""Programs that take too much memory, time, space or output. Each is stopped and leaves nothing behind."""

import asyncio
import fcntl
import os
import shutil
import textwrap
import time
from pathlib import Path

import pytest

from runyard.agents.sandbox.sandbox import Sandbox
from tests.agents.tools.conftest import Home, ask, ready
from tests.support.eventually import PATIENCE

pytestmark = pytest.mark.req("S1.46")
MIB = 1024 * 1024


async def test_a_fork_bomb_fizzles_out() -> None:
    sandbox = await ready(processes=12, seconds=5)
    program = """
import os, sys, time
made, errors = 0, 0
for _ in range(200):
    try:
        if os.fork() == 0:
            while True:
                try:
                    os.fork()
                except OSError:
                    time.sleep(0.01)
        made += 1
    except BlockingIOError:
        errors += 1
print(made, errors, len([p for p in os.listdir('/proc') if p.isdigit()]), flush=True)
os._exit(0)
"""
    ended = await sandbox.run(program)
    made, errors, alive = map(int, ended.output.split())
    assert made < 12
    assert errors > 180
    assert alive <= 14


async def test_one_process_gets_only_so_much_memory(sandbox: Sandbox) -> None:
    assert await ask(sandbox, f"len(bytearray({300 * MIB}))") == "MemoryError"
    assert await ask(sandbox, f"len(bytearray({100 * MIB}))") == 100 * MIB


async def test_many_processes_together_get_no_more() -> None:
    sandbox = await ready(memory_bytes=128 * MIB)
    program = f"""
import os, time
for _ in range(6):
    if os.fork() == 0:
        held = bytearray(b'x' * {40 * MIB})
        time.sleep(30)
time.sleep(30)
"""
    began = time.monotonic()
    ended = await sandbox.run(program)
    assert ended.stopped == "memory"
    assert time.monotonic() - began < 15


async def test_a_file_gets_only_so_large() -> None:
    sandbox = await ready(file_bytes=2 * MIB)
    assert await ask(sandbox, f"open('/work/x', 'wb').write(bytes({3 * MIB}))") == "OSError"
    assert await ask(sandbox, f"open('/work/x', 'wb').truncate({3 * MIB})") == "OSError"


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
async def test_scratch_space_is_small(sandbox: Sandbox, place: str) -> None:
    many = f"[open('{place}/%d' % n, 'wb').write(bytes({MIB})) for n in range(40)]"
    assert await ask(sandbox, many) == "OSError"


@pytest.mark.parametrize(
    "program",
    [
        f"import time\nfor n in range(64): open(str(n), 'wb').write(bytes({MIB}))\ntime.sleep(30)",
        "import time\nfor n in range(3000): open(str(n), 'w')\ntime.sleep(30)",
        f"for n in range(64): open(str(n), 'wb').write(bytes({MIB}))",
    ],
    ids=["bytes", "files", "and-quickly-away"],
)
async def test_the_folder_cannot_be_filled(tmp_path: Path, program: str) -> None:
    sandbox = await ready(folder_bytes=8 * MIB, folder_files=500)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "mine").write_text("as it was")
    ended = await sandbox.run(program, tmp_path / "work")
    assert ended.stopped == "disk"
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["mine"], "nothing of it is kept"


@pytest.mark.parametrize(
    "program",
    [
        # blocks that no file size shows
        "for n in range(300):\n    f = os.open(str(n), 0o102)\n    libc.fallocate(f, 1, 0, 2**15)\n    os.close(f)",
        # files that no folder lists
        "for n in range(64):\n    held.append(open('x', 'wb'))\n    os.unlink('x')\n    held[-1].write(bytes(2**20))",
    ],
    ids=["fallocate", "deleted-and-open"],
)
async def test_blocks_count_however_they_were_taken(tmp_path: Path, program: str) -> None:
    sandbox = await ready(folder_bytes=8 * MIB)
    (tmp_path / "work").mkdir()
    ended = await sandbox.run(f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
held = []
try:
{textwrap.indent(program, "    ")}
except OSError as error:
    print(error.errno)
__import__('time').sleep(30)
""", tmp_path / "work")  # fmt: skip
    assert ended.stopped == "disk"
    assert files_of(tmp_path / "work") == []


async def test_the_kernel_gives_no_block_beyond_the_quota() -> None:
    sandbox = await ready(folder_bytes=8 * MIB)
    ask_for = "(lambda f: ctypes.CDLL(None).fallocate64(f, 1, ctypes.c_long(0), ctypes.c_long(2**33)))"
    assert await ask(sandbox, f"{ask_for}(os.open('/work/x', os.O_RDWR | os.O_CREAT))") == -1


async def test_the_buffers_of_sockets_count_as_memory() -> None:
    sandbox = await ready(memory_bytes=128 * MIB, open_files=1000)
    ended = await sandbox.run("""
import os, socket, time
held = []
for _ in range(3):
    if os.fork() == 0:
        break
for _ in range(400):
    held.append(socket.socketpair())
    for end in held[-1]:
        end.setblocking(False)
        try:
            while True:
                end.send(bytes(65536))
        except OSError:
            pass
time.sleep(30)
""")
    assert ended.stopped == "memory"


async def test_nested_folders_leave_nothing_behind(tmp_path: Path, home: Home) -> None:
    """Folders nested deeper than any path can name, and without permissions."""
    sandbox = await ready(folder_files=1000)
    (tmp_path / "work").mkdir()
    ended = await sandbox.run("""
import os
for _ in range(990):
    os.mkdir('d' * 200)
    os.chdir('d' * 200)
os.chmod('.', 0)
""", tmp_path / "work")  # fmt: skip
    assert ended.stopped == "disk"
    assert files_of(home.folder) == files_of(tmp_path / "work") == []


async def test_a_program_that_kills_or_stops_its_supervisor_is_ended_and_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runyard.agents.sandbox.sandbox._SILENT_SECONDS", 1.0)
    sandbox = await ready()
    (tmp_path / "work").mkdir()
    for number in ("KILL", "STOP"):
        program = f"import os, signal, time; open('x', 'w'); os.kill(2, signal.SIG{number}); time.sleep(30)"
        ended = await sandbox.run(program, tmp_path / "work")
        assert (ended.stopped, ended.code) == ("watch", None)
    assert files_of(tmp_path / "work") == []


async def test_the_channel_of_the_supervisor_is_closed_to_the_program(sandbox: Sandbox) -> None:
    assert await ask(sandbox, "os.listdir('/proc/2/fd')") == "PermissionError"
    assert await ask(sandbox, "os.pidfd_open(2) and ctypes.CDLL(None).syscall(438, os.pidfd_open(2), 5, 0)") == -1


async def test_a_stage_that_a_killed_server_left_is_removed_and_one_in_use_is_not(home: Home) -> None:
    await ready()
    left, used, young = (home.folder / f"runyard-sandbox-{name}" for name in ("left", "used", "young"))
    for stage in (left, used, young):
        (stage / "deep" / "er").mkdir(parents=True)
    for stage in (left, used):
        os.utime(stage, (1, 1))
    lock = os.open(used, os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    await ready()
    assert {path.name for path in files_of(home.folder)} == {used.name, young.name, "deep", "er"}
    os.close(lock)
    for stage in (used, young):
        shutil.rmtree(stage)


def files_of(folder: Path) -> list[Path]:
    return list(folder.rglob("*"))


async def test_a_program_has_only_so_much_time() -> None:
    sandbox = await ready(seconds=1)
    began = time.monotonic()
    ended = await sandbox.run(
        "import signal, time\nfor s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\ntime.sleep(60)"
    )
    assert ended.stopped == "time"
    assert time.monotonic() - began < 10


async def test_a_program_has_only_so_much_processor_time() -> None:
    sandbox = await ready(cpu_seconds=1)
    ended = await sandbox.run("while True: pass")
    assert ended.stopped is None
    assert ended.code is not None
    assert ended.code > 128  # by a signal


async def test_the_output_of_a_program_is_bounded_and_comes_as_it_is_printed() -> None:
    sandbox = await ready(output_bytes=10_000)
    heard: list[str] = []

    async def on_output(text: str) -> None:
        heard.append(text)

    ended = await sandbox.run("while True: print('x' * 99)", on_output=on_output)
    assert ended.stopped == "output"
    assert len(ended.output) == 10_000
    assert "".join(heard) == ended.output


async def test_output_is_streamed_before_the_end(home: Home) -> None:
    sandbox = await ready()
    heard: asyncio.Queue[str] = asyncio.Queue()
    running = asyncio.create_task(
        sandbox.run("import time\nprint('né', end='', flush=True)\ntime.sleep(60)", on_output=heard.put)
    )
    assert await asyncio.wait_for(heard.get(), PATIENCE) == "né"
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert home.inhabitants() == [], "a cancel ends it too"


async def test_output_that_is_not_utf_8_does_no_harm(sandbox: Sandbox) -> None:
    ended = await sandbox.run("import os; os.write(1, b'a\\xff\\xc3'); os.write(1, b'\\xa9\\n')")
    assert ended.output == "a\ufffdé\n"
