"""Memory, sessions and mailboxes of agents, separated by owner."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    run_script(op.get_bind(), "0011_owners")
