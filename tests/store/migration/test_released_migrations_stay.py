"""A released migration never changes again: a database that ran it would differ from one that runs it now.

A new migration gets its row here when it is released. Import lines are left out: modules may move.
"""

import hashlib
from pathlib import Path

from runyard.stores.migrations import FOLDER

RELEASED = {
    "0001_first.postgres.sql": "2cd81968cda7046b59179ae5d429ab62",
    "0001_first.py": "a603ec1e686fe78a6e893d4be7540815",
    "0001_first.sqlite.sql": "fb3466fab4e361d7be9d58e9f9c882a9",
    "0002_outbox.postgres.sql": "d22ab85b5c005b79fc8b16b18921957b",
    "0002_outbox.py": "2bad216b5f8f2afb1a0f8cfd559bbcbb",
    "0002_outbox.sqlite.sql": "8f5e5c6bebfdb808c2e223f61b8dd448",
    "0003_chats.postgres.sql": "93053c763db4a2424e9c85a9024cdcdc",
    "0003_chats.py": "d8b78fa47be5ce0d208e3453a77f03f2",
    "0003_chats.sqlite.sql": "20367bac7fd0d68e70e006f8956f5f3a",
    "0004_api_keys.postgres.sql": "af634f5e6c77cd0d88f63b080aa1e6f9",
    "0004_api_keys.py": "cf0ad465e034f92587af4ad175ddab22",
    "0004_api_keys.sqlite.sql": "ecdb59dacbabb351ed2253873e8206f7",
    "0005_encryption.postgres.sql": "d7c10595a4c67259205c4b40b9f6015e",
    "0005_encryption.py": "2ca6cfe206e275d96d3610955d5a5db0",
    "0005_encryption.sqlite.sql": "3fe82f7c242de8d7104cd26e8e33ed72",
    "0006_office.postgres.sql": "f5e6a31f34c7863b62e0b2d094da13cd",
    "0006_office.py": "c105033782e896fb998d4192faac557c",
    "0006_office.sqlite.sql": "113995fc5c8b5608a02ccc8ada9d11cb",
    "0007_operate.postgres.sql": "74d415ae942b63aeb6daf4d4df4cf7b4",
    "0007_operate.py": "94c55ad9efd58efa2ef59c44dd1592ee",
    "0007_operate.sqlite.sql": "cbf02d76ed6be88f8f4257b05a422155",
    "0008_ledger.postgres.sql": "eb5a847854865c6ffd569bf6fbd82af0",
    "0008_ledger.py": "245357fbe9e7ff888fc0f7b5470416e8",
    "0008_ledger.sqlite.sql": "695122e6bb49eb973c9a85e3bb329598",
    "0009_removals.postgres.sql": "4cec03fa67356f07545075fc6a113ef9",
    "0009_removals.py": "7be09b4d07f98e75534311cc1839fe4e",
    "0009_removals.sqlite.sql": "b7be14163d927663977c8fd73da89d7b",
    "0010_records.postgres.sql": "d9b19094ef9000d2489b49ba95d32c1b",
    "0010_records.py": "5947250fa8bd94bc6d1e1f573e6b0428",
    "0010_records.sqlite.sql": "24226133622465641426eb309edc405a",
    "0011_partitions.postgres.sql": "56818e14247a16e4d60a37cfb6239e1d",
    "0011_partitions.py": "390af9b4f756944c35e28b858ab369c8",
    "0011_partitions.sqlite.sql": "abc1fa380434d982b32b1ee4376be0b3",
    "0012_owners.postgres.sql": "999323607ec3883737fd5cb1ffb339a9",
    "0012_owners.py": "16383b5a9c8b708d7f421a5938ee8b43",
    "0012_owners.sqlite.sql": "04a8879a9a0907eeea4cde672af9b7d2",
    "0013_checkpoint_parts.postgres.sql": "a81369be699e7438eec1563b5341cf08",
    "0013_checkpoint_parts.py": "f8b589d200ae717d40ec74d3cf9b4caa",
    "0013_checkpoint_parts.sqlite.sql": "a81369be699e7438eec1563b5341cf08",
}


def digest(path: Path) -> str:
    lines = path.read_text().splitlines()
    if path.suffix == ".py":
        lines = [line for line in lines if not line.startswith(("import ", "from "))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


def test_a_released_migration_never_changes() -> None:
    """Write a new revision instead: a released one must not be edited, renamed or removed."""
    assert {name: digest(FOLDER / "versions" / name) for name in RELEASED} == RELEASED
