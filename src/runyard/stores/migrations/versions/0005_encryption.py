"""Encryption: which keys have sealed something in this database."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    run_script(op.get_bind(), "0005_encryption")
