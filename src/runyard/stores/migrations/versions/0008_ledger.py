"""The run ledger: steps and messages of what agents did in their mailboxes."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    run_script(op.get_bind(), "0008_ledger")
