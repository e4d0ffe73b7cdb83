"""A released migration never changes again: a database that ran it would differ from one that runs it now.

A new migration gets its row here when it is merged. Import lines are left out: modules may move.
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
    "0014_snapshots.postgres.sql": "ed7e6ea605db8f806f4888ee89af7dfd",
    "0014_snapshots.py": "b8bd0d1059594e07f2eb29e2709d2a06",
    "0014_snapshots.sqlite.sql": "94d1704dfa3b31a36a37c7f44aeea030",
    "0015_waits.postgres.sql": "de8c69f1e3ce7ed480f8949923afd3b4",
    "0015_waits.py": "055c4ba245a38ff4642be841c5144288",
    "0015_waits.sqlite.sql": "b487d1c16a361f9ce829c86ad15e3119",
    "0016_steering.postgres.sql": "04fce40e4d282ca006d9491083f3ae1b",
    "0016_steering.py": "0edee14882a91fe764416e1d8d7740fe",
    "0016_steering.sqlite.sql": "c2fe6d716fb176393270db7237873447",
    "0017_files.postgres.sql": "b8535934eb2b45f0f94c1529f1f67a66",
    "0017_files.py": "67cde76db9baf5d352c4d07e0d5bbac0",
    "0017_files.sqlite.sql": "f9e8e9d499340839b34bd30138aabf52",
    "0018_thread_metadata.postgres.sql": "d54a176fff5001f0ad3d162ed6225872",
    "0018_thread_metadata.py": "34876fd1f011b3288d0ce19f01851866",
    "0018_thread_metadata.sqlite.sql": "d54a176fff5001f0ad3d162ed6225872",
    "0019_pushes.postgres.sql": "c170b22fcf8ad19692746b25c9446e5d",
    "0019_pushes.py": "7d42e1f78332d54aadf2aa3a6c04d5c2",
    "0019_pushes.sqlite.sql": "13ad15333451c91b5d477f5e75b4b82d",
    "0020_search.postgres.sql": "898ff22d6543ed5b347686351ee8b2c6",
    "0020_search.py": "87ea940975aa5cd8e87643125c806c0f",
    "0020_search.sqlite.sql": "d9b5f3c57e781e340a59a95338505a08",
    "0021_feedback_and_shares.postgres.sql": "8e01be74ec874b38159e38e353fb43a3",
    "0021_feedback_and_shares.py": "84bdfe3b74672428dbf064e66c120956",
    "0021_feedback_and_shares.sqlite.sql": "ad7c29d5ab7c4b12077e3965878b90c9",
    "0022_first_token.postgres.sql": "b3e48f0493a7d29999b268641abb6942",
    "0022_first_token.py": "623925b0d2bc9c93cb93b9a929c0595c",
    "0022_first_token.sqlite.sql": "8ab6d64b06eb6456d41adf4e580f3b98",
    "0023_channels_for_people.postgres.sql": "6553d67200ecb6cc75e282869f6dabf2",
    "0023_channels_for_people.py": "208007e1a2b6544b2cb40a11e4cc0bef",
    "0023_channels_for_people.sqlite.sql": "19ee9a415bb6f82ba4a432a7da7cad46",
    "0024_ready_lanes.postgres.sql": "f02b9144305fcc2e846be4e8e9075968",
    "0024_ready_lanes.py": "5008f24baa1816fe1a8291e44b52e2ef",
    "0024_ready_lanes.sqlite.sql": "b0ca9182446beec9e686be598c8a5607",
    "0025_child_runs_of_agents.postgres.sql": "31f9d8130bcb896ba58b6a9656531600",
    "0025_child_runs_of_agents.py": "baec8094d2a6e4ca89981220b8228283",
    "0025_child_runs_of_agents.sqlite.sql": "ac324cb27458fae7537eae1e9f7433fe",
    "0026_waiting_runs_of_threads.postgres.sql": "b368c134e3b69b50d77790eaef033c89",
    "0026_waiting_runs_of_threads.py": "a7d97ef2721a9037c31d60c613553dd1",
    "0026_waiting_runs_of_threads.sqlite.sql": "b368c134e3b69b50d77790eaef033c89",
    "0027_drop_old_approvals.postgres.sql": "7433c256cf0cfa4090e201b70b013209",
    "0027_drop_old_approvals.py": "3a9be8b5e574f5ffac38de3c8369dbd2",
    "0027_drop_old_approvals.sqlite.sql": "23e486b8d4c656676770b270c28e48ac",
}


def digest(path: Path) -> str:
    lines = path.read_text().splitlines()
    if path.suffix == ".py":
        lines = [line for line in lines if not line.startswith(("import ", "from "))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


def test_a_released_migration_never_changes() -> None:
    """Write a new revision instead: a released one must not be edited, renamed or removed, and a new one gets a row."""
    files = {path.name for path in (FOLDER / "versions").iterdir() if path.suffix in (".py", ".sql")}
    assert sorted(files - RELEASED.keys()) == [], "without a row"
    assert {name: digest(FOLDER / "versions" / name) for name in RELEASED} == RELEASED
