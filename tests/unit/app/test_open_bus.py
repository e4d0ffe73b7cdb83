"""The bus that the settings name, and the error if its driver is missing."""

import subprocess
import sys
from pathlib import Path

import pytest

from runyard.app.factories import open_bus
from runyard.buses.memory import MemoryBus
from runyard.buses.nats import NatsBus
from runyard.buses.postgres import PostgresBus
from runyard.buses.redis import RedisBus
from runyard.errors import StartupError
from runyard.settings import Settings
from tests.cli.cli_process import environment

POSTGRES = "postgresql://me:hunter2@127.0.0.1:1/x"


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        (Settings(), MemoryBus),
        (Settings(database_url=POSTGRES), PostgresBus),
        (Settings(database_url=POSTGRES, bus_url="memory"), MemoryBus),
        (Settings(database_url=POSTGRES, bus_url="redis://127.0.0.1"), RedisBus),
        (Settings(database_url=POSTGRES, bus_url="rediss://127.0.0.1"), RedisBus),
        (Settings(database_url=POSTGRES, bus_url="nats://127.0.0.1"), NatsBus),
        (Settings(bus_url=POSTGRES), PostgresBus),
    ],
)
def test_the_bus_is_the_one_named_else_the_database_itself_or_none(settings: Settings, kind: type) -> None:
    assert isinstance(open_bus(settings), kind)


@pytest.mark.parametrize(
    ("url", "driver", "extra"),
    [
        (POSTGRES, "asyncpg", "postgres"),
        ("redis://me:hunter2@127.0.0.1", "redis", "redis"),
        ("rediss://me:hunter2@127.0.0.1", "redis", "redis"),
        ("nats://me:hunter2@127.0.0.1", "nats", "nats"),
    ],
)
def test_a_missing_driver_is_one_sentence_that_says_what_to_install(
    url: str, driver: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == driver]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, f"runyard.buses.{extra}")
    monkeypatch.setitem(sys.modules, driver, None)
    with pytest.raises(StartupError) as caught:
        open_bus(Settings(bus_url=url))
    assert caught.value.message == f"A {extra} bus needs its driver: pip install 'runyard[{extra}]'."


def test_no_driver_is_imported_for_a_bus_that_is_not_used(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from runyard.settings import Settings\n"
        "from runyard.app.factories import open_bus\n"
        "open_bus(Settings())\n"
        "assert not {'asyncpg', 'redis', 'nats'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment(), check=True)
