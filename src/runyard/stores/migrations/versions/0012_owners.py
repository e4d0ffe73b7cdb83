"""Memory, sessions and mailboxes of agents, separated by owner."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    run_script(op.get_bind(), "0012_owners")
