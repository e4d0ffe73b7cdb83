"""The logger loads structlog with the first line, and drops lines below the level before that."""

import subprocess
import sys

PROGRAM = """
import logging, sys
from runyard.telemetry.logger import configure_at_first_line, get_logger

def configure():
    from runyard.telemetry import logs
    logs.configure("json", "error")

log = get_logger()
configure_at_first_line("error", configure)
log.debug("snapshot.ignored"); log.info("snapshot.ignored"); log.warning("snapshot.ignored")
logging.getLogger("asyncio").warning("secret")
assert "structlog" not in sys.modules
{line}
assert "structlog" in sys.modules
log.info("snapshot.ignored")
log.error("process.failed")
"""


def written(line: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(line=line)], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_the_first_line_loads_and_configures_it() -> None:
    first, second = written('log.error("snapshot.save_failed", code=1)')
    assert '"action": "snapshot.save_failed"' in first
    assert '"action": "process.failed"' in second


def test_the_first_line_of_a_library_does_so_too_and_shows_no_text() -> None:
    first, second = written('logging.getLogger("asyncio").error("secret")')
    assert '"action": "library.logged"' in first
    assert "secret" not in first
    assert '"action": "process.failed"' in second


def test_an_exception_counts_as_an_error() -> None:
    first, _ = written('log.exception("process.failed", exc_info=ValueError("secret"))')
    assert '"error": "ValueError"' in first
    assert "secret" not in first
